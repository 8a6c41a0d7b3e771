"""Evaluates queued signals: decides which action sets run.

One transaction evaluates a batch, oldest first: it inserts the runs and the results with their
reasons, and deletes the signals from the queue. So a kill loses nothing, and each matching signal
has exactly one run. A signal that resolves an alert never starts a run; it starts an auto-revert
when no other alert of the set fires.

An internal error affects one set and one signal only: the run is stored as failed. A signal that
blocks the queue becomes a dead letter, with a result that says so.
"""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import msgspec

from sigservice.clock import format_iso
from sigservice.db import Connection, Row
from sigservice.db.errors import DatabaseError, DatabaseUnavailable
from sigservice.errors import UnavailableError, describe_fault
from sigservice.log import Logger, log_error
from sigservice.repository.actions import action_runs, action_sets
from sigservice.repository.actions import alerts as alert_rows
from sigservice.repository.signals import signal_queue
from sigservice.services.actions import action_sets as sets_service
from sigservice.services.actions.action_alerts import (
    OTHER_ALERT_FIRES,
    Alerts,
    EvaluatedSignal,
    FindTimes,
    find_key,
    is_resolved,
)
from sigservice.services.actions.action_filters import Filter, Matcher
from sigservice.services.actions.action_reverts import add_states
from sigservice.services.actions.action_runs import insert_runs
from sigservice.services.actions.action_set_options import ActionSetOptions
from sigservice.services.system import emergency
from sigservice.wording import plural

# One transaction evaluates a batch of signals.
BATCH = 100
BATCH_BYTES = 1_000_000
MAX_COMPILED_SETS = 1000
IS_IGNORED = "Ignored until the alert resolves."
NOTHING_TO_REVERT = "The signal resolves an alert, but there is nothing to revert."
IS_LATE = "The signal is late: the alert has resolved since."
IS_PAUSED = "Automation is paused."
IS_DISABLED = "The alert resolved while the action set was disabled."


@dataclass
class CompiledSet:
    """A set prepared for evaluation. `matcher` is None and `fault` the reason if its definition is
    not readable. `last_at`, `in_last_hour` and `has_run_once` include what the batch decided."""

    row: Row
    matcher: Matcher | None
    options: ActionSetOptions
    action_set_json: dict[str, Any]
    has_run_once: bool
    last_at: datetime | None = None
    in_last_hour: int = 0
    fault: str = ""

    @property
    def alert_source(self) -> tuple[int, str]:
        """The endpoint and the path of the key."""
        condition = self.options.restoreWhenResolved
        return self.row["endpoint_id"], condition.key if condition else ""

    def find_key(self, payload: Any) -> str | None:
        """The key of the alert, None also if the set doesn't revert with alerts."""
        condition = self.options.restoreWhenResolved
        return find_key(payload, condition) if condition else None


@dataclass
class _Decisions:
    """The decisions of a batch. `run_once_ids` are sets that don't run again until re-enabled.
    `is_paused`: automation is."""

    alerts: Alerts
    logger: Logger
    is_paused: bool
    runs: list[dict[str, Any]] = field(default_factory=list)
    run_once_ids: list[int] = field(default_factory=list)


class EvaluationError(Exception):
    """A signal can't be evaluated because of `cause`. It is in `signals` if it can be read."""

    def __init__(self, signal_id: int, cause: Exception, signals: list[EvaluatedSignal]) -> None:
        super().__init__(f"{type(cause).__name__}: {cause}")
        self.signal_id, self.cause, self.signals = signal_id, cause, signals


class Evaluator:
    """Evaluates batches of signals, and keeps compiled sets from one batch to the next."""

    def __init__(self, find_times: FindTimes) -> None:
        self._find_times = find_times
        self._compiled: dict[int, tuple[int, Matcher, ActionSetOptions, dict[str, Any]]] = {}

    def evaluate_batch(
        self,
        conn: Connection,
        logger: Logger,
        limit: int = BATCH,
        *,
        evaluated: list[EvaluatedSignal] | None = None,
    ) -> tuple[int, int]:
        """(evaluated signals, inserted runs). Adds the signals to `evaluated`, for the guards of
        releases. Call under action_runs.lock. Raises EvaluationError if a signal fails alone
        (`limit` 1)."""
        signals = signal_queue.list_oldest(conn, limit=limit, max_bytes=BATCH_BYTES)
        if not signals:
            return 0, 0
        evaluated = [] if evaluated is None else evaluated
        try:
            return self._evaluate(conn, signals, logger, evaluated)
        except Exception as error:
            if limit > 1 or not is_persistent_error(error):
                raise
            raise EvaluationError(signals[0]["signal_id"], error, evaluated) from error

    def _evaluate(
        self,
        conn: Connection,
        signals: list[Row],
        logger: Logger,
        evaluated: list[EvaluatedSignal],
    ) -> tuple[int, int]:
        endpoint_ids = sorted({row["endpoint_id"] for row in signals})
        rows = action_sets.list_of_endpoints(conn, endpoint_ids)
        sets: dict[int, list[CompiledSet]] = {}
        for compiled_set in self.compile_sets(conn, rows, logger):
            sets.setdefault(compiled_set.row["endpoint_id"], []).append(compiled_set)
        payloads = {
            row["signal_id"]: msgspec.json.decode(row["payload"])
            for row in signals
            if row["payload"]
        }

        def list_keys() -> set[tuple[int, str]]:
            return {
                (compiled_set.row["id"], key)
                for signal in signals
                for compiled_set in sets.get(signal["endpoint_id"], [])
                if (key := compiled_set.find_key(payloads.get(signal["signal_id"]))) is not None
            }

        state = emergency.decode(signals[0]["emergency"], signals[0]["now"])
        decisions = _Decisions(Alerts(conn, list_keys), logger, state.paused is not None)
        results: dict[int, list[dict[str, Any]] | None] = {}
        copied_bytes = 0
        for signal in signals:
            results[signal["signal_id"]] = None
            if signal["signal_id"] not in payloads:
                continue
            payload, count = payloads[signal["signal_id"]], len(decisions.runs)
            times = self._find_times(signal["template"])
            evaluated.append(
                EvaluatedSignal(
                    signal["signal_id"], signal["endpoint_id"], payload, times, signal["is_guarded"]
                )
            )
            results[signal["signal_id"]] = [
                _evaluate_set(compiled_set, signal, evaluated[-1], decisions)
                for compiled_set in sets.get(signal["endpoint_id"], [])
                if compiled_set.row["enabled"]
                or is_resolved(
                    compiled_set.options.restoreWhenResolved, compiled_set.matcher, payload
                )
            ]
            copied_bytes += (len(decisions.runs) - count) * len(signal["payload"])
            if copied_bytes >= BATCH_BYTES:
                break
        runs = insert_runs(conn, decisions.runs)
        if decisions.run_once_ids:
            action_sets.set_has_run_once(conn, decisions.run_once_ids, True)
        reported, reverting = decisions.alerts.list_reported(runs), decisions.alerts.reverting
        alert_rows.end_signals(conn, results, reported, reverting=reverting)
        return len(results), len(decisions.runs)

    def store_dead_letter(self, conn: Connection, signal_id: int, error_id: str) -> bool:
        """Deletes the signal from the queue without evaluating it. False if another process has
        evaluated it. Call under action_runs.lock."""
        reason = describe_fault(error_id)
        result = {"actionSetId": None, "name": "", "state": "failed", "reason": reason}
        return alert_rows.end_signals(conn, {signal_id: [result]}) > 0

    def compile_sets(self, conn: Connection, rows: list[Row], logger: Logger) -> list[CompiledSet]:
        """The sets with their newest runs."""
        by_id: dict[int, CompiledSet] = {}
        for row in rows:
            try:
                compiled_set = CompiledSet(row, *self._compile(row), row["has_run_once"])
            except Exception as error:  # noqa: BLE001  affects this set only
                fault = _report(logger, row["id"], error)
                fields: dict[str, Any] = {"id": row["id"], "name": row["name"], "actions": []}
                options = ActionSetOptions()
                compiled_set = CompiledSet(
                    row, None, options, fields, row["has_run_once"], fault=fault
                )
            by_id[row["id"]] = compiled_set
        max_runs_per_set = {
            id: compiled_set.options.maxRunsPerHour or 0
            for id, compiled_set in by_id.items()
            if compiled_set.options.cooldownSeconds or compiled_set.options.maxRunsPerHour
        }
        if max_runs_per_set:
            for row in action_runs.list_statistics(conn, max_runs_per_set):
                compiled_set = by_id[row["action_set_id"]]
                compiled_set.last_at = row["last_at"]
                compiled_set.in_last_hour = row["in_last_hour"]
        return list(by_id.values())

    def _compile(self, row: Row) -> tuple[Matcher, ActionSetOptions, dict[str, Any]]:
        cached = self._compiled.get(row["id"])
        if cached is None or cached[0] != row["version"]:
            if len(self._compiled) >= MAX_COMPILED_SETS:
                self._compiled.clear()
            cached = (
                row["version"],
                Matcher(msgspec.json.decode(row["filters"], type=list[Filter])),
                msgspec.json.decode(row["settings"], type=ActionSetOptions),
                sets_service.to_json(row),
            )
            self._compiled[row["id"]] = cached
        return cached[1:]


def is_persistent_error(error: Exception) -> bool:
    """Whether a retry may fail too although the database is available."""
    if isinstance(error, DatabaseUnavailable):
        return error.is_timeout
    return not isinstance(error, UnavailableError)


def _evaluate_set(
    compiled_set: CompiledSet, signal: Row, evaluated: EvaluatedSignal, decisions: _Decisions
) -> dict[str, Any]:
    """The result to store. Adds a run to the batch, but none if the filters don't match."""
    result = {"actionSetId": compiled_set.row["id"], "name": compiled_set.row["name"]}
    fault = compiled_set.fault
    if compiled_set.matcher is not None:
        try:
            return result | _decide(
                compiled_set, compiled_set.matcher, signal, evaluated, decisions
            )
        except (DatabaseError, DatabaseUnavailable):
            raise  # the transaction has failed
        except Exception as error:  # noqa: BLE001  a bug in a filter must not stop the queue
            fault = _report(decisions.logger, compiled_set.row["id"], error)
    run = make_run(compiled_set, signal, cause="signal") | {"state": "failed", "reason": fault}
    decisions.runs.append(run)
    return result | {"state": "failed", "reason": fault}


def _report(logger: Logger, set_id: int, error: Exception) -> str:
    """Logs the error; returns the reason for the stored run and result."""
    return describe_fault(log_error(logger, f"action set {set_id} can't be evaluated", error))


def _decide(
    compiled_set: CompiledSet,
    matcher: Matcher,
    signal: Row,
    evaluated: EvaluatedSignal,
    decisions: _Decisions,
) -> dict[str, Any]:
    options, payload = compiled_set.options, evaluated.payload
    if is_resolved(options.restoreWhenResolved, matcher, payload):
        return _resolve_alert(compiled_set, signal, evaluated, decisions)
    if not matcher.matches(payload):
        failed = next((result for result in matcher.explain(payload) if not result.matched), None)
        reason = {"path": failed.path, "operator": failed.operator} if failed else {}
        return {"state": "not matched", "reason": reason}
    run = make_run(compiled_set, signal, cause="signal")
    suppression = ""
    key = compiled_set.find_key(payload)
    if key is not None:
        alert = decisions.alerts.find(compiled_set.row["id"], key)
        if alert.is_ignored:
            suppression = IS_IGNORED
        elif alert.is_late(evaluated.find_time(is_resolved=False)):
            suppression = IS_LATE
        else:  # otherwise the run gets no key: it must not count as a report that the alert fires
            run["alert_key"] = key
            if not options.dryRun:  # also when suppressed: it prevents an auto-revert
                alert.fire(compiled_set.alert_source, evaluated.id)
    suppression = suppression or find_suppression(compiled_set, signal["now"])
    if not suppression and decisions.is_paused:
        suppression = IS_PAUSED
    if suppression:
        decisions.runs.append(run | {"state": "suppressed", "reason": suppression})
        return {"state": "suppressed", "reason": suppression}
    compiled_set.last_at, compiled_set.in_last_hour = signal["now"], compiled_set.in_last_hour + 1
    if options.latch and not options.dryRun:
        compiled_set.has_run_once = True
        decisions.run_once_ids.append(compiled_set.row["id"])
    decisions.runs.append(run)
    return {"state": "runs"}


def _resolve_alert(
    compiled_set: CompiledSet, signal: Row, evaluated: EvaluatedSignal, decisions: _Decisions
) -> dict[str, Any]:
    """The result of a signal that resolves an alert."""
    id, key = compiled_set.row["id"], compiled_set.find_key(evaluated.payload)
    alert = decisions.alerts.find(id, key) if key is not None else None
    if key is None or alert is None:
        return {"state": "nothing to revert", "reason": NOTHING_TO_REVERT}
    was_firing, was_ignored = alert.is_firing, alert.is_ignored
    resolved_at = evaluated.find_time(is_resolved=True)
    alert.resolve(compiled_set.alert_source, resolved_at, signal["now"])
    if not was_firing:
        reason = "The alert was ignored until it resolved." if was_ignored else NOTHING_TO_REVERT
        return {"state": "nothing to revert", "reason": reason}
    run = make_run(compiled_set, signal, cause="resolved") | {"alert_key": key}
    other = decisions.alerts.find_other(id, key)
    if decisions.is_paused:
        decisions.runs.append(run | {"state": "suppressed", "reason": IS_PAUSED})
        return {"state": "suppressed", "reason": IS_PAUSED}
    if other is not None or not compiled_set.row["enabled"]:
        reason = f"{OTHER_ALERT_FIRES}: {other[:200]}" if other is not None else IS_DISABLED
        decisions.runs.append(run | {"state": "suppressed", "reason": reason})
        return {"state": "suppressed", "reason": reason}
    if not compiled_set.options.dryRun:
        decisions.alerts.revert(id)
    decisions.runs.append(run)
    return {"state": "reverts"}


def find_suppression(compiled_set: CompiledSet, now: datetime) -> str:
    """The reason why a matching set doesn't run, "" if it does."""
    if compiled_set.has_run_once:
        return "It runs once and has run. Re-enable it to let it run again."
    cooldown, last_at = compiled_set.options.cooldownSeconds, compiled_set.last_at
    if cooldown and last_at and now - last_at < timedelta(seconds=cooldown):
        return f"Cooldown: it ran less than {cooldown} s ago."
    max_runs = compiled_set.options.maxRunsPerHour
    if max_runs is not None and compiled_set.in_last_hour >= max_runs:
        return f"It ran {plural(compiled_set.in_last_hour, 'time')} within an hour."
    return ""


def make_run(compiled_set: CompiledSet, signal: Row | None, *, cause: str) -> dict[str, Any]:
    """The columns of a run whose actions have not started. A scheduled run has no signal, but its
    cause is `signal` too."""
    return {
        "action_set_id": compiled_set.row["id"],
        "project": compiled_set.row["project"],
        "cause": cause,
        "signal_id": signal and signal["signal_id"],
        "reverts_run_id": None,
        "alert_key": None,
        "actor_id": compiled_set.row["actor_id"],
        "state": "started",
        "reason": None,
        "dry_run": compiled_set.options.dryRun,
        "signal": signal
        and {
            "id": signal["signal_id"],
            "source": "signal-endpoint",
            "sourceId": signal["endpoint_id"],
            "createdBySourceTokenId": signal["token_id"] or None,
            "createdAt": format_iso(signal["created_at"]),
            "payload": msgspec.Raw(signal["payload"].encode()),
        },
        # The cached copy of the set doesn't contain the current value of `has_run_once`.
        "action_set": add_states(
            compiled_set.action_set_json | {"armed": not compiled_set.has_run_once}, cause
        ),
    }
