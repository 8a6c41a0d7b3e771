"""Runs of action sets: reading, undoing and reverting them. run_batches.py performs them."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

import msgspec

from sigservice.clock import format_iso, format_optional
from sigservice.db import Connection, Row
from sigservice.errors import ConflictError, NotFoundError, describe_fault
from sigservice.repository.actions import action_runs, action_sets
from sigservice.services.actions import (
    action_reverts,
    ignored_alerts,
    run_events,
)
from sigservice.services.actions.action_alerts import hide_key
from sigservice.services.actions.action_reverts import add_states
from sigservice.services.actions.schedules import read_cause
from sigservice.services.identity import ADMIN, EDIT, Identity
from sigservice.services.system import events
from sigservice.services.system.events import Event

# The members of a run's copies of its signal and set that users other than admins may read.
SIGNAL_MEMBERS = ("id", "source", "sourceId", "createdAt")
SET_MEMBERS = ("id", "name", "project", "actions")
PORTION_BYTES = 4_000_000  # of the runs that one statement inserts
NOTHING_TO_UNDO = (
    "There is nothing to undo: the run changed nothing, is already reverted, or is not finished."
)


def insert_runs(conn: Connection, runs: list[dict[str, Any]]) -> list[Row]:
    """The inserted rows. Uses several statements if the copies are large, because of the statement
    timeout."""
    inserted: list[Row] = []
    for portion in _split_portions(runs):
        rows = action_runs.insert_many(conn, msgspec.json.encode(portion).decode())
        run_events.record(conn, rows)
        inserted += rows
    return inserted


def _split_portions(runs: list[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    portion: list[dict[str, Any]] = []
    size = 0
    for run in runs:
        portion.append(run)
        size += len(bytes(run["signal"]["payload"])) if run["signal"] else 0
        if size >= PORTION_BYTES:
            yield portion
            portion, size = [], 0
    if portion:
        yield portion


def fail_run(conn: Connection, run_id: int, error_id: str) -> None:
    """Ends a run that can't be performed, so that later runs continue."""
    run_events.record(conn, action_runs.fail(conn, run_id, reason=describe_fault(error_id)))


def start_due_reverts(conn: Connection, fixed_now: datetime | None) -> int:
    """Inserts an auto-revert for each due run. Call under action_runs.lock."""
    due = action_runs.pop_due_reverts(conn, fixed_now)
    return len(_insert_reverts(conn, due, cause="timer"))


def undo(conn: Connection, project: str, set_id: int, run_id: int, by: Identity) -> int:
    """Inserts a run that undoes another one as the user; returns its ID. Raises NotFoundError,
    ConflictError if the run can't be undone."""
    action_runs.lock(conn)
    run = get(conn, project, set_id, run_id)
    if not can_undo(run):
        raise ConflictError(NOTHING_TO_UNDO)
    (id,) = _insert_reverts(conn, [run | {"actor_id": by.user_id}], cause="undo")
    undone = {"data": run_events.name_run(run), "project": project}
    events.record_all(
        conn, [Event("actions-undone", by, undone, covered_by=[(run_events.REVERTED,)])]
    )
    return id


def can_undo(run: Row) -> bool:
    is_revertible = run["cause"] == "signal" and run["state"] in ("success", "failed")
    is_reverted = run["reverted_by_run_id"] is not None
    return is_revertible and not is_reverted and bool(action_reverts.list_changes(run))


def cancel_auto_revert(
    conn: Connection, project: str, set_id: int, run_id: int, by: Identity
) -> None:
    """Raises NotFoundError, ConflictError if none is scheduled."""
    action_runs.lock(conn)
    run = get(conn, project, set_id, run_id)
    if not action_runs.cancel_auto_revert(conn, run_id):
        raise ConflictError("No auto-revert of this run is scheduled.")
    data = run_events.name_run(run)
    events.record(conn, "actions-restore-cancelled", by, data=data, project=project)


def get(conn: Connection, project: str, set_id: int, run_id: int) -> Row:
    """Raises NotFoundError."""
    row = action_runs.find(conn, set_id, run_id) if set_id < 2**31 else None
    if row is None or row["project"] != project:
        raise NotFoundError("Run not found.")
    return row


def can_repeat(conn: Connection, run: Row) -> bool:
    """Whether the alert of the run still fires; then the set runs again when the alert repeats."""
    action_set = action_sets.find(conn, run["project"], run["action_set_id"])
    can_run = action_set is not None and action_set["enabled"] and not action_set["has_run_once"]
    return can_run and ignored_alerts.is_firing(conn, run)


def find_reason(row: Row, by: Identity) -> str | None:
    """Why the run failed or was suppressed. Viewers don't see the key of another alert in the
    text."""
    reason: str | None = row["reason"]
    return reason if by.has_permission(EDIT) else hide_key(reason)


def to_json(row: Row, by: Identity) -> dict[str, Any]:
    """The JSON of a run: an `actionSetEvent` of Unleash with more fields. Only admins get the
    payload, the token of its sender and the settings of the set."""
    is_admin = by.has_permission(ADMIN)
    end = row["finished_at"]
    seconds = (end - row["created_at"]).total_seconds() if end else None
    return {
        "id": row["id"],
        "actionSetId": row["action_set_id"],
        "signalId": row["signal_id"],
        "createdAt": format_iso(row["created_at"]),
        "state": row["state"],
        "signal": _copy_members(row["signal"], SIGNAL_MEMBERS, is_admin),
        "actionSet": _copy_members(row["action_set"], SET_MEMBERS, is_admin),
        "cause": read_cause(row),
        "reason": find_reason(row, by),
        "dryRun": row["dry_run"],
        "finishedAt": format_optional(end),
        "durationMs": round(seconds * 1000, 1) if seconds is not None else None,
        "restoresRunId": row["reverts_run_id"],
        "restoredByRunId": row["reverted_by_run_id"],
        "restoreDueAt": format_optional(row["revert_due_at"]),
    }


def _copy_members(text: str | None, members: Sequence[str], is_admin: bool) -> Any:
    """The stored JSON object; only its `members` unless the user is an admin."""
    if text is None or is_admin:
        return text and msgspec.Raw(text.encode())
    document = msgspec.json.decode(text, type=dict[str, msgspec.Raw])
    return {name: document[name] for name in members if name in document}


def _insert_reverts(conn: Connection, runs: list[Row], *, cause: str) -> list[int]:
    """The IDs of the new runs."""
    rows = [
        {
            "action_set_id": run["action_set_id"],
            "project": run["project"],
            "cause": cause,
            "reverts_run_id": run["id"],
            "actor_id": run["actor_id"],
            "state": "started",
            "dry_run": False,
            "action_set": add_states(msgspec.json.decode(run["action_set"]), cause),
        }
        for run in runs
    ]
    inserted = action_runs.insert_many(conn, msgspec.json.encode(rows).decode()) if rows else []
    return [row["id"] for row in inserted]
