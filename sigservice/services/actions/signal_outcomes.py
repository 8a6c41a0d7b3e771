"""The outcomes of signals: which sets ran, were suppressed, failed or did not match, and why."""

from dataclasses import dataclass

import msgspec

from sigservice.db import Connection, Row
from sigservice.repository.actions import action_runs, action_sets
from sigservice.repository.signals import signal_queue
from sigservice.services.actions import action_summaries

STATE_LABELS = {
    "started": "running",
    "success": "succeeded",
    "suppressed": "skipped",
}
DEAD_LETTER = "Dead letter"


@dataclass(frozen=True)
class SetOutcome:
    """The outcome of one signal for one set. `state` is the state of the run, or "not matched".
    `project` and `run_id` are None if there is no page to link to; for a dead letter, `set_id` is
    None too."""

    set_id: int | None
    name: str
    state: str
    label: str
    reason: str
    project: str | None
    run_id: int | None
    exists: bool


@dataclass(frozen=True)
class SignalEvaluation:
    """`is_waiting` until the signal is evaluated; no outcomes if it triggered no set."""

    is_waiting: bool
    outcomes: list[SetOutcome]


def list_evaluations(
    conn: Connection, endpoint_id: int, signal_ids: list[int]
) -> dict[int, SignalEvaluation]:
    """The evaluations by the IDs of the signals, which belong to one endpoint."""
    rows = {row["signal_id"]: row for row in signal_queue.list_results(conn, signal_ids)}
    runs = {
        (run["signal_id"], run["action_set_id"]): run
        for run in action_runs.list_of_signals(conn, signal_ids)
    }
    sets = {row["id"]: row for row in action_sets.list_of_endpoint(conn, endpoint_id)}
    evaluations: dict[int, SignalEvaluation] = {}
    for id in signal_ids:
        row = rows.get(id)
        is_waiting = row is not None and row["results"] is None
        results = msgspec.json.decode(row["results"]) if row and not is_waiting else []
        evaluations[id] = SignalEvaluation(
            is_waiting,
            [_make_outcome(item, runs.get((id, item["actionSetId"])), sets) for item in results],
        )
    return evaluations


def _make_outcome(result: dict[str, object], run: Row | None, sets: dict[int, Row]) -> SetOutcome:
    if result["actionSetId"] is None:
        reason = str(result["reason"])
        return SetOutcome(None, DEAD_LETTER, "failed", "not evaluated", reason, None, None, False)
    set_id = int(str(result["actionSetId"]))
    action_set = sets.get(set_id)
    state = run["state"] if run else str(result["state"])
    label = STATE_LABELS.get(state, state)
    if run and run["cause"] == "resolved":
        label = "reverted" if state == "success" else f"auto-revert {label}"
    if run and run["dry_run"]:
        label = f"dry run {label}"
    reason = str(run["reason"] or "") if run else action_summaries.explain_result(result)
    owner = run or action_set
    return SetOutcome(
        set_id,
        str(result["name"]),
        state,
        label,
        reason,
        owner["project"] if owner else None,
        run["id"] if run else None,
        action_set is not None,
    )
