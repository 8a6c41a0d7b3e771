"""Performs runs: one action a transaction, each of which leaves the run as far as it came.

Whoever continues a run, after a kill at whatever line, goes on with the first action that is not
done; so each action happens once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import msgspec

from sigservice.clock import format_iso
from sigservice.db.errors import DatabaseUnavailable
from sigservice.db.pool import Connection
from sigservice.db.statements import Row, savepoint
from sigservice.errors import (
    AppError,
    ConflictError,
    NotFoundError,
    UnavailableError,
    describe_fault,
)
from sigservice.log import Logger, report
from sigservice.repository.actions import action_runs
from sigservice.services.actions import action_evaluation, action_undo, notifications
from sigservice.services.actions.action_actor import person, service_account
from sigservice.services.actions.action_kinds.kind import Outcome
from sigservice.services.actions.action_kinds.table import KINDS
from sigservice.services.actions.action_sets import Settings
from sigservice.services.identity import Identity
from sigservice.services.system import events

RESTORE = "RESTORE"


@dataclass(frozen=True)
class Step:
    """What `advance` did to a run: `failed` or not is its action, `state` is the run's. `reaction`
    is the seconds from the signal's commit to the end of its run, None while it goes on and for
    runs without a signal."""

    run_id: int
    project: str
    state: str
    changed: bool
    failed: bool = False
    reaction: float | None = None


class Stuck(Exception):
    """A run that can't be performed; `cause` tells why."""

    def __init__(self, run_id: int, cause: Exception) -> None:
        super().__init__(f"{type(cause).__name__}: {cause}")
        self.run_id, self.cause = run_id, cause


class _Undone(Exception):
    """Ends a dry run: everything it did is rolled back."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__()
        self.outcome = outcome


def advance(conn: Connection, logger: Logger, *, since: int, careful: bool) -> Step | None:
    """Performs the next action of the oldest open run, of those from the id `since` on; None when
    there is none. Commit at the latest when it has changed something.

    Most actions succeed and are not worth a savepoint, so one that fails raises whatever it likes;
    then roll back and call again with `careful`, which notes the failure in the run. Raises Stuck
    when not even that can be done.
    """
    run = action_runs.lock_next_open(conn, since=since)
    if run is None:
        return None
    try:
        return _advance(conn, run, logger, careful)
    except UnavailableError:
        raise
    except Exception as error:
        if careful:
            raise Stuck(run["id"], error) from error
        raise


def give_up(conn: Connection, run_id: int, error_id: str) -> None:
    """Ends a run that is stuck, so that those after it go on."""
    action_runs.give_up(conn, run_id, reason=describe_fault(error_id))
    notifications.enqueue(conn, [run_id])


def _advance(conn: Connection, run: Row, logger: Logger, careful: bool) -> Step:
    copy = msgspec.json.decode(run["action_set"])
    settings = msgspec.convert(copy.get("options", {}), Settings, strict=False)
    actions, place = copy["actions"], run["next_action"]
    action = actions[place]
    failed = _perform(conn, run | {"set_name": copy["name"]}, action, logger, careful)
    place += 1
    ends = place >= len(actions) or (failed and not settings.continueOnFailure)
    state = "started"
    if ends:
        state = "failed" if any(a["state"] == "failed" for a in actions) else "success"
    changed = any(action["changes"] for action in actions)
    minutes = (
        settings.restoreAfterMinutes if ends and changed and run["cause"] == "signal" else None
    )
    told = action_runs.update(
        conn,
        run["id"],
        state=state,
        action_set=msgspec.json.encode(copy).decode(),
        next_action=place,
        restore_minutes=None if run["dry_run"] else minutes,
    )
    step = Step(run["id"], run["project"], state, bool(action["changes"]), failed)
    if not ends or told is None:
        return step
    if settings.notifications:
        notifications.enqueue(conn, [run["id"]])
    began = told["signal_created_at"]
    reaction = (told["finished_at"] - began).total_seconds() if began else None
    return replace(step, reaction=reaction)


def start_due(conn: Connection) -> int:
    """Opens a restoring run for each run whose time has come. Call under action_runs.lock."""
    due = action_runs.take_due_restores(conn)
    return len(_open_restores(conn, due, cause="timer"))


def undo(conn: Connection, project: str, set_id: int, run_id: int, by: Identity) -> int:
    """Opens a run that undoes another one, in the name of a person; its id. Raises NotFoundError,
    ConflictError for one that can't be undone."""
    action_runs.lock(conn)
    run = get(conn, project, set_id, run_id)
    if run["state"] not in ("success", "failed"):
        raise ConflictError("This run is not finished, or was suppressed.")
    changed = run["cause"] == "signal" and action_undo.changes_of(run)
    if run["restored_by_run_id"] or not changed:
        raise ConflictError("This run can't be undone: it changed nothing, or it was undone.")
    (id,) = _open_restores(conn, [run | {"actor_id": by.user_id}], cause="undo")
    events.record(conn, "actions-undone", by, data={"runId": run_id}, project=project)
    return id


def cancel_restore(conn: Connection, project: str, set_id: int, run_id: int, by: Identity) -> None:
    """Raises NotFoundError, ConflictError when none is scheduled."""
    action_runs.lock(conn)
    get(conn, project, set_id, run_id)
    if not action_runs.cancel_restore(conn, run_id):
        raise ConflictError("No restoring of this run is scheduled.")
    events.record(conn, "actions-restore-cancelled", by, data={"runId": run_id}, project=project)


def get(conn: Connection, project: str, set_id: int, run_id: int) -> Row:
    """Raises NotFoundError."""
    row = action_runs.find(conn, set_id, run_id) if set_id < 2**31 else None
    if row is None or row["project"] != project:
        raise NotFoundError("There is no such run.")
    return row


def to_json(row: Row) -> dict[str, Any]:
    """A run on the wire: the compared server's event, and more."""
    finished = row["finished_at"]
    seconds = (finished - row["created_at"]).total_seconds() if finished else None
    return {
        "id": row["id"],
        "actionSetId": row["action_set_id"],
        "signalId": row["signal_id"],
        "createdAt": format_iso(row["created_at"]),
        "state": row["state"],
        "signal": msgspec.Raw(row["signal"].encode()) if row["signal"] else None,
        "actionSet": msgspec.Raw(row["action_set"].encode()),
        "cause": row["cause"],
        "reason": row["reason"],
        "dryRun": row["dry_run"],
        "finishedAt": format_iso(finished) if finished else None,
        "durationMs": round(seconds * 1000, 1) if seconds is not None else None,
        "restoresRunId": row["restores_run_id"],
        "restoredByRunId": row["restored_by_run_id"],
        "restoreDueAt": format_iso(row["restore_due_at"]) if row["restore_due_at"] else None,
    }


def _open_restores(conn: Connection, runs: list[Row], *, cause: str) -> list[int]:
    """Ids of the new runs."""
    made = [
        {
            "action_set_id": run["action_set_id"],
            "project": run["project"],
            "cause": cause,
            "restores_run_id": run["id"],
            "actor_id": run["actor_id"],
            "state": "started",
            "dry_run": False,
            "action_set": action_evaluation.with_states(
                msgspec.json.decode(run["action_set"]), cause
            ),
        }
        for run in runs
    ]
    return action_runs.insert_many(conn, msgspec.json.encode(made).decode()) if made else []


def _perform(
    conn: Connection, run: Row, action: dict[str, Any], logger: Logger, careful: bool
) -> bool:
    """Does one action and notes in it what became of it; whether it failed."""
    action["startedAt"] = format_iso(datetime.now(UTC))
    try:
        in_savepoint = careful or run["dry_run"]
        outcome = (_in_savepoint if in_savepoint else _do)(conn, run, action)
    except Exception as error:
        if not careful:
            raise
        if isinstance(error, DatabaseUnavailable) and not error.is_timeout:
            raise  # nothing is known: the next try begins here again
        action |= {"state": "failed", "details": _explained(action, error, logger)}
    else:
        action |= {
            "state": "success",
            "details": f"Would have: {outcome.details}" if run["dry_run"] else outcome.details,
            "changes": [] if run["dry_run"] else msgspec.to_builtins(outcome.changes),
        }
    action["finishedAt"] = format_iso(datetime.now(UTC))
    return bool(action["state"] == "failed")


def _explained(action: dict[str, Any], error: Exception, logger: Logger) -> str:
    """For the run; a kind's bug ends its run, not the worker."""
    if isinstance(error, DatabaseUnavailable):
        return "It took the database too long, twice."
    if isinstance(error, AppError):
        return error.message
    return describe_fault(report(logger, f"action {action['action']} failed", error))


def _in_savepoint(conn: Connection, run: Row, action: dict[str, Any]) -> Outcome:
    """A dry run's action is done and taken back, so it says what would have happened."""
    try:
        with savepoint(conn):
            outcome = _do(conn, run, action)
            if run["dry_run"]:
                raise _Undone(outcome)
            return outcome
    except _Undone as undone:
        return undone.outcome


def _do(conn: Connection, run: Row, action: dict[str, Any]) -> Outcome:
    if run["cause"] == "undo":
        actor = person(conn, run["actor_id"])
    else:
        actor = service_account(run["actor_id"], run["actor_username"], run["actor_role"])
    shown = {"id": run["id"], "actionSetId": run["action_set_id"], "actionSet": run["set_name"]}
    actor = replace(actor, action_run=shown)
    if action["action"] == RESTORE:
        return _restore(conn, run, actor)
    kind = KINDS.get(action["action"])
    if kind is None:
        raise NotFoundError(f"There is no action {action['action']}.")
    return kind.perform(conn, run["project"], action.get("executionParams") or {}, actor)


def _restore(conn: Connection, run: Row, actor: Identity) -> Outcome:
    """What one run changed; when an alert is over, what all the alerts of its set did."""
    if run["cause"] == "resolved":
        restored = action_runs.list_of_alerts(conn, run["action_set_id"], before=run["id"])
    else:
        found = action_runs.find(conn, run["action_set_id"], run["restores_run_id"])
        if found is None:
            raise NotFoundError("The run that was to be restored is gone.")
        if found["restored_by_run_id"]:  # by one that was opened before this and performed since
            return Outcome("It was restored already.")
        restored = [found]
    outcome = action_undo.restore(conn, run["project"], restored, actor)
    action_runs.mark_restored(conn, [row["id"] for row in restored], by=run["id"])
    return outcome
