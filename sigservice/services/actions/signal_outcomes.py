"""What became of signals: which sets ran, were suppressed, failed or did not match, and why."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from sigservice.db.pool import Connection
from sigservice.db.statements import Row
from sigservice.repository.actions import action_runs, action_sets
from sigservice.repository.signals import signal_queue
from sigservice.services.actions import action_summaries

STATES = {
    "started": "running",
    "success": "done",
    "failed": "failed",
    "suppressed": "suppressed",
}


DEAD_LETTER = "Dead letter"


@dataclass(frozen=True)
class Outcome:
    """What one set made of a signal. `state` is a run's, or "not matched". `project` and `run_id`
    are None where there is nothing more to see; `set_id` too where no set could evaluate it."""

    set_id: int | None
    name: str
    state: str
    words: str
    why: str
    project: str | None
    run_id: int | None
    exists: bool


@dataclass(frozen=True)
class Judgement:
    """`waits` while nobody has judged the signal; without outcomes no set listened."""

    waits: bool
    outcomes: list[Outcome]


def list_of(conn: Connection, endpoint_id: int, signal_ids: list[int]) -> dict[int, Judgement]:
    """By the signals' ids; all of one endpoint."""
    found = {row["signal_id"]: row for row in signal_queue.list_verdicts(conn, signal_ids)}
    runs = {
        (run["signal_id"], run["action_set_id"]): run
        for run in action_runs.list_of_signals(conn, signal_ids)
    }
    sets = {row["id"]: row for row in action_sets.list_listeners(conn, endpoint_id)}
    judged: dict[int, Judgement] = {}
    for id in signal_ids:
        row = found.get(id)
        waits = row is not None and row["verdicts"] is None
        verdicts = msgspec.json.decode(row["verdicts"]) if row and not waits else []
        judged[id] = Judgement(
            waits,
            [
                _outcome(verdict, runs.get((id, verdict["actionSetId"])), sets)
                for verdict in verdicts
            ],
        )
    return judged


def _outcome(verdict: dict[str, object], run: Row | None, sets: dict[int, Row]) -> Outcome:
    if verdict["actionSetId"] is None:
        why = str(verdict["because"])
        return Outcome(None, DEAD_LETTER, "failed", "not evaluated", why, None, None, False)
    set_id = int(str(verdict["actionSetId"]))
    known = sets.get(set_id)
    state = run["state"] if run else str(verdict["verdict"])
    words = STATES.get(state, state)
    if run and run["cause"] == "resolved":
        words = f"restoring {words}"
    if run and run["dry_run"]:
        words = f"dry run {words}"
    why = str(run["reason"] or "") if run else action_summaries.verdict(verdict)
    project = run["project"] if run else known["project"] if known else None
    return Outcome(
        set_id,
        str(verdict["name"]),
        state,
        words,
        why,
        project,
        run["id"] if run else None,
        known is not None,
    )
