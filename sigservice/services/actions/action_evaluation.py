"""Takes signals from the queue and decides what each set makes of them.

One transaction judges a batch, oldest first: it writes the runs that are to be, the verdicts that
explain, and takes the signals from the queue. Killed before its commit nothing has happened; after
it every matching signal has exactly one run. A signal that says that an alert is over never lets a
set run; it restores once no other alert of the set fires.

What can't be evaluated for a reason of ours costs that set and signal only: the run is written as
failed, and a signal that stops everything becomes a dead letter, with a verdict that says so.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import msgspec

from sigservice.clock import format_iso
from sigservice.db.errors import DatabaseError, DatabaseUnavailable
from sigservice.db.pool import Connection
from sigservice.db.statements import Row
from sigservice.errors import UnavailableError, describe_fault
from sigservice.log import Logger, report
from sigservice.repository.actions import action_runs, action_sets
from sigservice.repository.signals import signal_queue
from sigservice.services.actions import action_sets as sets_service
from sigservice.services.actions import notifications, payload_paths
from sigservice.services.actions.action_alerts import Alerts
from sigservice.services.actions.action_filters import Filter, Matcher, canonical
from sigservice.services.actions.action_sets import Resolved, Settings

BATCH = 100
BATCH_BYTES = 1_000_000
PORTION_BYTES = 4_000_000
MOST_COMPILED = 1000


@dataclass
class Set:
    """A set with all that judging needs; no matcher but a `fault` when it can't be read. `last_at`,
    `in_last_hour` and `armed` follow what the batch itself decides."""

    row: Row
    matcher: Matcher | None
    settings: Settings
    shown: dict[str, Any]
    armed: bool
    last_at: datetime | None = None
    in_last_hour: int = 0
    fault: str = ""

    @property
    def counts_runs(self) -> bool:
        return bool(self.settings.cooldownSeconds) or self.settings.maxRunsPerHour is not None


class EvaluationError(Exception):
    """A signal that can't be evaluated; `cause` tells why."""

    def __init__(self, signal_id: int, cause: Exception) -> None:
        super().__init__(f"{type(cause).__name__}: {cause}")
        self.signal_id, self.cause = signal_id, cause


class Evaluator:
    """Keeps compiled filters from batch to batch."""

    def __init__(self) -> None:
        self._compiled: dict[int, tuple[int, Matcher, Settings, dict[str, Any]]] = {}

    def evaluate_batch(
        self, conn: Connection, logger: Logger, limit: int = BATCH
    ) -> tuple[int, int]:
        """How many signals were judged, and how many runs were written of them. Call under
        action_runs.lock. Raises EvaluationError for a signal that fails alone (`limit` 1)."""
        signals = signal_queue.list_oldest(conn, limit=limit, most_bytes=BATCH_BYTES)
        if not signals:
            return 0, 0
        try:
            return self._evaluate(conn, signals, logger)
        except Exception as error:
            if limit > 1 or not is_persistent_error(error):
                raise
            raise EvaluationError(signals[0]["signal_id"], error) from error

    def _evaluate(self, conn: Connection, signals: list[Row], logger: Logger) -> tuple[int, int]:
        sets = self._sets(conn, sorted({row["endpoint_id"] for row in signals}), logger)
        alerts = Alerts(conn, [one.row["id"] for found in sets.values() for one in found])
        runs: list[dict[str, Any]] = []
        verdicts: dict[int, list[dict[str, Any]]] = {}
        disarmed: list[int] = []
        judged: list[int] = []
        copied = 0
        for signal in signals:
            judged.append(signal["signal_id"])
            if signal["payload"] is None:
                continue
            payload, before = msgspec.json.decode(signal["payload"]), len(runs)
            verdicts[signal["signal_id"]] = [
                _judge_safely(one, signal, payload, alerts, runs, disarmed, logger)
                for one in sets.get(signal["endpoint_id"], [])
            ]
            copied += (len(runs) - before) * len(signal["payload"])
            if copied >= BATCH_BYTES:
                break
        _insert(conn, runs)
        if disarmed:
            action_sets.set_armed(conn, disarmed, False)
        if verdicts:
            signal_queue.insert_verdicts(
                conn,
                list(verdicts),
                [msgspec.json.encode(verdict).decode() for verdict in verdicts.values()],
            )
        signal_queue.delete(conn, judged)
        return len(judged), len(runs)

    def dead_letter(self, conn: Connection, signal_id: int, error_id: str) -> bool:
        """Takes the signal from the queue without evaluating it. False when it is no longer there:
        another process has evaluated it. Call under action_runs.lock."""
        if not signal_queue.delete(conn, [signal_id]):
            return False
        why = describe_fault(error_id)
        verdict = {"actionSetId": None, "name": "", "verdict": "failed", "because": why}
        signal_queue.insert_verdicts(conn, [signal_id], [msgspec.json.encode([verdict]).decode()])
        return True

    def _sets(self, conn: Connection, sources: list[int], logger: Logger) -> dict[int, list[Set]]:
        rows = action_sets.list_of_sources(conn, sources)
        by_source: dict[int, list[Set]] = {}
        known: dict[int, Set] = {}
        for row in rows:
            try:
                one = Set(row, *self._compile(row), armed=row["armed"])
            except Exception as error:  # noqa: BLE001  costs this set, not all of them
                shown: dict[str, Any] = {"id": row["id"], "actions": []}
                one = Set(row, None, Settings(), shown, armed=row["armed"])
                one.fault = _report(logger, row["id"], error)
            known[row["id"]] = one
            by_source.setdefault(row["source_id"], []).append(one)
        caps = {
            id: one.settings.maxRunsPerHour or 0 for id, one in known.items() if one.counts_runs
        }
        if caps:
            for found in action_runs.list_statistics(conn, caps):
                one = known[found["action_set_id"]]
                one.last_at, one.in_last_hour = found["last_at"], found["in_last_hour"]
        return by_source

    def _compile(self, row: Row) -> tuple[Matcher, Settings, dict[str, Any]]:
        kept = self._compiled.get(row["id"])
        if kept is None or kept[0] != row["version"]:
            if len(self._compiled) >= MOST_COMPILED:
                self._compiled.clear()
            kept = (
                row["version"],
                Matcher(msgspec.json.decode(row["filters"], type=list[Filter])),
                msgspec.json.decode(row["settings"], type=Settings),
                sets_service.to_json(row),
            )
            self._compiled[row["id"]] = kept
        return kept[1:]


def is_persistent_error(error: Exception) -> bool:
    """Whether the next try may fail as well, with a database that is well."""
    if isinstance(error, DatabaseUnavailable):
        return error.is_timeout
    return not isinstance(error, UnavailableError)


def says_over(resolved: Resolved, payload: Any) -> bool:
    """Whether the signal is about the end of an alert."""
    return _text_at(payload, resolved.path) in resolved.values


def _insert(conn: Connection, runs: list[dict[str, Any]]) -> None:
    """Several statements when the copies are large: a statement has its time-out."""
    for some in _portions(runs):
        ids = action_runs.insert_many(conn, msgspec.json.encode(some).decode())
        if any(run["state"] != "started" for run in some):
            notifications.enqueue(conn, ids)


def _portions(runs: list[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    portion: list[dict[str, Any]] = []
    size = 0
    for run in runs:
        portion.append(run)
        size += len(bytes(run["signal"]["payload"]))
        if size >= PORTION_BYTES:
            yield portion
            portion, size = [], 0
    if portion:
        yield portion


def _judge_safely(
    one: Set,
    signal: Row,
    payload: Any,
    alerts: Alerts,
    runs: list[dict[str, Any]],
    disarmed: list[int],
    logger: Logger,
) -> dict[str, Any]:
    """The verdict; a run is added to `runs` when there is to be one."""
    verdict, fault = {"actionSetId": one.row["id"], "name": one.row["name"]}, one.fault
    if one.matcher is not None:
        try:
            return verdict | _judge(one, one.matcher, signal, payload, alerts, runs, disarmed)
        except (DatabaseError, DatabaseUnavailable):
            raise  # the transaction is over for all of them
        except Exception as error:  # noqa: BLE001  a filter's bug must not stop the queue
            fault = _report(logger, one.row["id"], error)
    failed = _run(one, signal, cause="signal") | {"state": "failed", "reason": fault}
    runs.append(failed)
    return verdict | {"verdict": "failed", "because": fault}


def _report(logger: Logger, set_id: int, error: Exception) -> str:
    """What the records say of it."""
    return describe_fault(report(logger, f"action set {set_id} can't be evaluated", error))


def _judge(
    one: Set,
    matcher: Matcher,
    signal: Row,
    payload: Any,
    alerts: Alerts,
    runs: list[dict[str, Any]],
    disarmed: list[int],
) -> dict[str, Any]:
    resolved, real = one.settings.restoreWhenResolved, not one.settings.dryRun
    if resolved is not None and says_over(resolved, payload):
        return _end_alert(one, signal, payload, resolved, alerts, runs)
    if not matcher.matches(payload):
        failed = next((v for v in matcher.explain(payload) if not v.matched), None)
        why = {"path": failed.path, "operator": failed.operator} if failed else {}
        return {"verdict": "not matched", "because": why}
    run = _run(one, signal, cause="signal")
    if resolved is not None:
        run["correlation"] = key = _text_at(payload, resolved.key)
        if key is not None and real:  # a suppressed alert keeps off what another one switched off
            alerts.tell(one.row["id"], key, fires=True)
    reason = _suppressed(one, signal["now"])
    if reason:
        runs.append(run | {"state": "suppressed", "reason": reason})
        return {"verdict": "suppressed", "because": reason}
    one.last_at, one.in_last_hour = signal["now"], one.in_last_hour + 1
    if one.settings.latch and real:
        one.armed = False
        disarmed.append(one.row["id"])
    runs.append(run)
    return {"verdict": "runs"}


def _end_alert(
    one: Set,
    signal: Row,
    payload: Any,
    resolved: Resolved,
    alerts: Alerts,
    runs: list[dict[str, Any]],
) -> dict[str, Any]:
    """The rest of the verdict on a signal that says that an alert is over."""
    key, firing = _text_at(payload, resolved.key), alerts.firing(one.row["id"])
    if key is None or key not in firing:
        why = "It says that an alert is over, and there is nothing to restore."
        return {"verdict": "nothing to restore", "because": why}
    run = _run(one, signal, cause="resolved") | {"correlation": key}
    if not one.settings.dryRun:
        alerts.tell(one.row["id"], key, fires=False)
    others = firing - {key}
    if others:
        reason = f"Another alert of this set still fires: {min(others)[:200]}"
        runs.append(run | {"state": "suppressed", "reason": reason})
        return {"verdict": "suppressed", "because": reason}
    runs.append(run)
    return {"verdict": "restores"}


def _suppressed(one: Set, now: datetime) -> str:
    """Why a set that matches does not run, "" when it does."""
    if not one.armed:
        return "It runs once and has run. Re-enable it to let it run again."
    cooldown = one.settings.cooldownSeconds
    if cooldown and one.last_at and now - one.last_at < timedelta(seconds=cooldown):
        return f"It ran less than {cooldown} s ago."
    cap = one.settings.maxRunsPerHour
    if cap is not None and one.in_last_hour >= cap:
        return f"It ran {one.in_last_hour} times within an hour."
    return ""


def _run(one: Set, signal: Row, *, cause: str) -> dict[str, Any]:
    """A run's columns: nothing is done yet."""
    return {
        "action_set_id": one.row["id"],
        "project": one.row["project"],
        "cause": cause,
        "signal_id": signal["signal_id"],
        "restores_run_id": None,
        "correlation": None,
        "actor_id": one.row["actor_id"],
        "state": "started",
        "reason": None,
        "dry_run": one.settings.dryRun,
        "signal": {
            "id": signal["signal_id"],
            "source": "signal-endpoint",
            "sourceId": signal["endpoint_id"],
            "createdBySourceTokenId": signal["token_id"] or None,
            "createdAt": format_iso(signal["created_at"]),
            "payload": msgspec.Raw(signal["payload"].encode()),
        },
        # What is cached of a set does not follow whether it may run.
        "action_set": with_states(one.shown | {"armed": one.armed}, cause),
    }


def with_states(shown: dict[str, Any], cause: str) -> dict[str, Any]:
    """The copy of a set in which a run keeps what became of each action. What restores has the one
    action of restoring."""
    actions = shown["actions"] if cause == "signal" else [{"action": "RESTORE", "sortOrder": 1}]
    fresh: dict[str, Any] = {"state": "not started", "details": None, "changes": []}
    return shown | {"actions": [action | fresh for action in actions]}


def _text_at(payload: Any, path: str) -> str | None:
    found = payload_paths.values(payload, path, payload_paths.parse(path) or [])
    scalars = [value for value in found if not isinstance(value, dict | list)]
    return canonical(scalars[0]) if scalars else None
