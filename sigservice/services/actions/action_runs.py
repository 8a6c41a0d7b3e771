"""Performs runs: one action per transaction, which also stores the progress of the run.

After a kill, another process continues with the first unfinished action, so each action happens
once.
"""

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
from sigservice.log import Logger, log_error
from sigservice.repository.actions import action_runs
from sigservice.services.actions import action_reverts, notifications
from sigservice.services.actions.action_actor import find_user, make_service_account
from sigservice.services.actions.action_evaluation import add_states
from sigservice.services.actions.action_kinds.kind import ActionResult
from sigservice.services.actions.action_kinds.table import KINDS
from sigservice.services.actions.action_set_options import ActionSetOptions
from sigservice.services.identity import Identity
from sigservice.services.system import events

REVERT = "RESTORE"  # the stored name of the action of an undo or auto-revert


@dataclass(frozen=True)
class ActionStep:
    """The result of `perform_next_action`: `is_failed` is for the action, `state` for the run.
    `reaction_seconds` is the time from the signal's commit to the end of the run, None until then
    and for runs without a signal."""

    run_id: int
    project: str
    state: str
    has_changes: bool
    is_failed: bool = False
    reaction_seconds: float | None = None


class RunError(Exception):
    """A run can't be performed because of `cause`."""

    def __init__(self, run_id: int, cause: Exception) -> None:
        super().__init__(f"{type(cause).__name__}: {cause}")
        self.run_id, self.cause = run_id, cause


class _DryRunRollback(Exception):
    """Rolls back the action of a dry run."""

    def __init__(self, result: ActionResult) -> None:
        super().__init__()
        self.result = result


def perform_next_action(
    conn: Connection, logger: Logger, *, since: int, in_savepoint: bool
) -> ActionStep | None:
    """Performs the next action of the oldest unfinished run with at least the ID `since`; None if
    there is none. Commit after a step with changes at the latest.

    Most actions succeed without a savepoint. If this raises, roll back and call it again with
    `in_savepoint`, which stores the failure in the run. Raises RunError if that fails too.
    """
    run = action_runs.lock_next_unfinished(conn, since=since)
    if run is None:
        return None
    try:
        return _perform_action(conn, run, logger, in_savepoint)
    except UnavailableError:
        raise
    except Exception as error:
        if in_savepoint:
            raise RunError(run["id"], error) from error
        raise


def fail_run(conn: Connection, run_id: int, error_id: str) -> None:
    """Ends a run that can't be performed, so that later runs continue."""
    action_runs.fail(conn, run_id, reason=describe_fault(error_id))
    notifications.enqueue(conn, [run_id])


def _perform_action(conn: Connection, run: Row, logger: Logger, in_savepoint: bool) -> ActionStep:
    copy = msgspec.json.decode(run["action_set"])
    options = msgspec.convert(copy.get("options", {}), ActionSetOptions, strict=False)
    actions, index = copy["actions"], run["next_action"]
    action = actions[index]
    is_failed = _store_result(conn, run | {"set_name": copy["name"]}, action, logger, in_savepoint)
    index += 1
    ends = index >= len(actions) or (is_failed and not options.continueOnFailure)
    state = "started"
    if ends:
        state = "failed" if any(a["state"] == "failed" for a in actions) else "success"
    has_changes = any(action["changes"] for action in actions)
    reverts_later = ends and has_changes and run["cause"] == "signal" and not run["dry_run"]
    times = action_runs.update(
        conn,
        run["id"],
        state=state,
        action_set=msgspec.json.encode(copy).decode(),
        next_action=index,
        restore_minutes=options.restoreAfterMinutes if reverts_later else None,
    )
    step = ActionStep(run["id"], run["project"], state, bool(action["changes"]), is_failed)
    if not ends or times is None:
        return step
    if options.notifications:
        notifications.enqueue(conn, [run["id"]])
    start = times["signal_created_at"]
    seconds = (times["finished_at"] - start).total_seconds() if start else None
    return replace(step, reaction_seconds=seconds)


def start_due_reverts(conn: Connection) -> int:
    """Inserts an auto-revert for each due run. Call under action_runs.lock."""
    due = action_runs.claim_due_reverts(conn)
    return len(_insert_reverts(conn, due, cause="timer"))


def undo(conn: Connection, project: str, set_id: int, run_id: int, by: Identity) -> int:
    """Inserts a run that undoes another one as the user; returns its ID. Raises NotFoundError,
    ConflictError if the run can't be undone."""
    action_runs.lock(conn)
    run = get(conn, project, set_id, run_id)
    if run["state"] not in ("success", "failed"):
        raise ConflictError("This run is not finished or was suppressed.")
    has_changes = run["cause"] == "signal" and action_reverts.list_changes(run)
    if run["restored_by_run_id"] or not has_changes:
        raise ConflictError("This run can't be undone: it changed nothing or is already reverted.")
    (id,) = _insert_reverts(conn, [run | {"actor_id": by.user_id}], cause="undo")
    events.record(conn, "actions-undone", by, data={"runId": run_id}, project=project)
    return id


def cancel_auto_revert(
    conn: Connection, project: str, set_id: int, run_id: int, by: Identity
) -> None:
    """Raises NotFoundError, ConflictError if none is scheduled."""
    action_runs.lock(conn)
    get(conn, project, set_id, run_id)
    if not action_runs.cancel_auto_revert(conn, run_id):
        raise ConflictError("No auto-revert of this run is scheduled.")
    events.record(conn, "actions-restore-cancelled", by, data={"runId": run_id}, project=project)


def get(conn: Connection, project: str, set_id: int, run_id: int) -> Row:
    """Raises NotFoundError."""
    row = action_runs.find(conn, set_id, run_id) if set_id < 2**31 else None
    if row is None or row["project"] != project:
        raise NotFoundError("Run not found.")
    return row


def is_reverted_by_action(run: Row) -> bool:
    """Whether an action of another set reverted the run: then it refers to itself as the run that
    reverted it (`mark_reverted_by_action` of action_runs.sql)."""
    return bool(run["restored_by_run_id"] == run["id"])


def to_json(row: Row) -> dict[str, Any]:
    """The JSON of a run: an `actionSetEvent` of Unleash with more fields."""
    end = row["finished_at"]
    seconds = (end - row["created_at"]).total_seconds() if end else None
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
        "finishedAt": format_iso(end) if end else None,
        "durationMs": round(seconds * 1000, 1) if seconds is not None else None,
        "restoresRunId": row["restores_run_id"],
        "restoredByRunId": row["restored_by_run_id"],
        "restoreDueAt": format_iso(row["restore_due_at"]) if row["restore_due_at"] else None,
    }


def _insert_reverts(conn: Connection, runs: list[Row], *, cause: str) -> list[int]:
    """The IDs of the new runs."""
    rows = [
        {
            "action_set_id": run["action_set_id"],
            "project": run["project"],
            "cause": cause,
            "restores_run_id": run["id"],
            "actor_id": run["actor_id"],
            "state": "started",
            "dry_run": False,
            "action_set": add_states(msgspec.json.decode(run["action_set"]), cause),
        }
        for run in runs
    ]
    return action_runs.insert_many(conn, msgspec.json.encode(rows).decode()) if rows else []


def _store_result(
    conn: Connection, run: Row, action: dict[str, Any], logger: Logger, in_savepoint: bool
) -> bool:
    """Performs one action and stores the result in it; returns whether it failed."""
    action["startedAt"] = format_iso(datetime.now(UTC))
    try:
        perform = _perform_in_savepoint if in_savepoint or run["dry_run"] else _perform
        result = perform(conn, run, action)
    except Exception as error:
        if not in_savepoint:
            raise
        if isinstance(error, DatabaseUnavailable) and not error.is_timeout:
            raise  # the result is unknown: the next attempt repeats this action
        action |= {"state": "failed", "details": _describe_error(action, error, logger)}
    else:
        action |= {
            "state": "success",
            "details": f"Would have: {result.details}" if run["dry_run"] else result.details,
            "changes": [] if run["dry_run"] else msgspec.to_builtins(result.changes),
        }
    action["finishedAt"] = format_iso(datetime.now(UTC))
    return bool(action["state"] == "failed")


def _describe_error(action: dict[str, Any], error: Exception, logger: Logger) -> str:
    """For the run. A bug in a kind of action fails its run, not the actions job."""
    if isinstance(error, DatabaseUnavailable):
        return "The database timed out twice."
    if isinstance(error, AppError):
        return error.message
    return describe_fault(log_error(logger, f"action {action['action']} failed", error))


def _perform_in_savepoint(conn: Connection, run: Row, action: dict[str, Any]) -> ActionResult:
    """Rolls back the action of a dry run, so that its result is exact."""
    try:
        with savepoint(conn):
            result = _perform(conn, run, action)
            if run["dry_run"]:
                raise _DryRunRollback(result)
            return result
    except _DryRunRollback as rollback:
        return rollback.result


def _perform(conn: Connection, run: Row, action: dict[str, Any]) -> ActionResult:
    if run["cause"] == "undo":
        actor = find_user(conn, run["actor_id"])
    else:
        actor = make_service_account(run["actor_id"], run["actor_username"], run["actor_role"])
    origin = {"id": run["id"], "actionSetId": run["action_set_id"], "actionSet": run["set_name"]}
    actor = replace(actor, action_run=origin)
    if action["action"] == REVERT:
        return _revert(conn, run, actor)
    kind = KINDS.get(action["action"])
    if kind is None:
        raise NotFoundError(f"Unknown action {action['action']}.")
    return kind.perform(conn, run["project"], action.get("executionParams") or {}, actor)


def _revert(conn: Connection, run: Row, by: Identity) -> ActionResult:
    """Reverts one run; for a resolved alert, the runs of all alerts of the set."""
    if run["cause"] == "resolved":
        targets = action_runs.list_revertible_of_alerts(
            conn, run["action_set_id"], before=run["id"]
        )
    else:
        target = action_runs.find(conn, run["action_set_id"], run["restores_run_id"])
        if target is None:
            raise NotFoundError("The run to revert was deleted.")
        if target["restored_by_run_id"]:  # by an undo or auto-revert that was inserted earlier
            return ActionResult("It was already reverted.")
        targets = [target]
    result = action_reverts.revert_runs(conn, run["project"], targets, by)
    action_runs.mark_reverted(conn, [row["id"] for row in targets], by=run["id"])
    return result
