"""The outcomes of signals: which sets ran, were suppressed, failed or did not match, and why."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from sigservice.db import Connection, Row
from sigservice.repository.actions import action_runs, action_sets
from sigservice.repository.signals import signal_queue
from sigservice.services.actions.action_filters import Filter
from sigservice.services.actions.automation_sentences import say_mismatch
from sigservice.services.signals.signal_summaries import decode_payload
from sigservice.wording import plural

STATE_LABELS = {
    "started": "running",
    "success": "succeeded",
    "suppressed": "skipped",
}
VERBS = {"True": "turned on", "False": "turned off"}
DEAD_LETTER = "Dead letter"


@dataclass(frozen=True)
class SetOutcome:
    """The outcome of one signal for one set. `state` is the state of the run, or "not matched".
    `project` and `run_id` are None if there is no page to link to; for a dead letter, `set_id` is
    None too. `result` says what it did, "" if nothing."""

    set_id: int | None
    name: str
    state: str
    label: str
    reason: str
    result: str
    project: str | None
    run_id: int | None
    exists: bool


@dataclass(frozen=True)
class SignalEvaluation:
    """`is_waiting` until the signal is evaluated; no outcomes if it triggered no set."""

    is_waiting: bool
    outcomes: list[SetOutcome]

    @property
    def result(self) -> str:
        """Such as `turned off 2 flags`, "" if it did nothing."""
        return ", ".join(outcome.result for outcome in self.outcomes if outcome.result)

    @property
    def has_failed(self) -> bool:
        return any(outcome.state == "failed" for outcome in self.outcomes)


def list_evaluations(
    conn: Connection, endpoint_id: int, signals: Sequence[Row]
) -> dict[int, SignalEvaluation]:
    """The evaluations of signals of one endpoint by their IDs."""
    ids = [signal["id"] for signal in signals]
    rows = {row["signal_id"]: row for row in signal_queue.list_results(conn, ids)}
    runs = {
        (run["signal_id"], run["action_set_id"]): run
        for run in action_runs.list_of_signals(conn, ids)
    }
    sets = {row["id"]: row for row in action_sets.list_of_endpoint(conn, endpoint_id)}
    evaluations: dict[int, SignalEvaluation] = {}
    for signal in signals:
        row = rows.get(signal["id"])
        is_waiting = row is not None and row["results"] is None
        results = msgspec.json.decode(row["results"]) if row and not is_waiting else []
        outcomes = [
            _make_outcome(item, runs.get((signal["id"], item["actionSetId"])), sets, signal)
            for item in results
        ]
        evaluations[signal["id"]] = SignalEvaluation(is_waiting, outcomes)
    return evaluations


def _make_outcome(
    result: dict[str, Any], run: Row | None, sets: dict[int, Row], signal: Row
) -> SetOutcome:
    if result["actionSetId"] is None:
        reason, text = str(result["reason"]), "failed: not evaluated"
        return SetOutcome(
            None, DEAD_LETTER, "failed", "not evaluated", reason, text, None, None, False
        )
    set_id = int(result["actionSetId"])
    action_set = sets.get(set_id)
    state = run["state"] if run else str(result["state"])
    label = STATE_LABELS.get(state, state)
    if run and run["cause"] == "resolved":
        label = "reverted" if state == "success" else f"auto-revert {label}"
    if run and run["dry_run"]:
        label = f"dry run {label}"
    reason = str((run or result)["reason"] or "")
    if state == "not matched":
        texts = action_set["filters"] if action_set else "[]"
        filters = msgspec.json.decode(texts, type=list[Filter])
        reason = say_mismatch(result["reason"] or {}, filters, decode_payload(signal))
    owner = run or action_set
    return SetOutcome(
        set_id,
        str(result["name"]),
        state,
        label,
        reason,
        _describe_run(run) if run else f"failed: {reason}" if state == "failed" else "",
        owner["project"] if owner else None,
        run["id"] if run else None,
        action_set is not None,
    )


def _describe_run(run: Row) -> str:
    """Such as `turned off 2 flags`, "" if the run did nothing."""
    if run["state"] == "failed":
        return f"failed: {run['reason']}" if run["reason"] else "failed"
    changes = msgspec.json.decode(run["changes"])
    if run["state"] != "success" or run["dry_run"] or not changes:
        return ""
    count = len({change["feature"] for change in changes})
    if run["cause"] == "resolved":
        return f"switched back {count}"
    states = {change["after"] if change["what"] == "state" else None for change in changes}
    verb = VERBS.get(str(states.pop())) if len(states) == 1 else None
    return f"{verb or 'changed'} {plural(count, 'flag')}"
