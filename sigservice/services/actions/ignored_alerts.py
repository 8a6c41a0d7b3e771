"""Alerts that a person ignores after an undo: until the alert resolves, its signals don't run the
set.

Call all functions that write under action_runs.lock, which the evaluation of signals holds too, so
no process runs the set between the undo and the decision to ignore.
"""

from typing import Any

from sigservice.clock import format_iso
from sigservice.db import Connection, Row
from sigservice.errors import ConflictError
from sigservice.repository.actions import action_runs, ignored_alerts
from sigservice.repository.system.events import EventFilter
from sigservice.services.actions import run_events
from sigservice.services.identity import ADMIN_TOKEN_ID, EDIT, Identity, name_actor
from sigservice.services.system import events

MAX_ALERTS = 1000  # of one set


def find(conn: Connection, run: Row) -> Row | None:
    """The row of the run's alert if it is ignored, with its `creator` as written in sentences."""
    rows = ignored_alerts.list_all(conn, [run["action_set_id"]])
    row = next((row for row in rows if row["correlation"] == run["correlation"]), None)
    if row is None:
        return None
    event_filter = EventFilter(types=["actions-alert-ignored"], projects=[run["project"]])
    ids = [data["runId"] for data in events.list_data_of_tokens(conn, event_filter)]
    is_by_token = row["run_id"] in ids
    creator = name_actor(row["created_by"], ADMIN_TOKEN_ID if is_by_token else None)
    return row | {"creator": creator}


def is_firing(conn: Connection, run: Row) -> bool:
    """Whether the alert of the run fires."""
    rows = action_runs.list_firing_alerts(conn, [run["action_set_id"]])
    return run["correlation"] in [row["correlation"] for row in rows]


def ignore(conn: Connection, run: Row, by: Identity) -> None:
    """Ignores the alert of the run until it resolves. Raises ConflictError."""
    if not is_firing(conn, run):
        raise ConflictError("The alert of this run isn't firing, or the run is undone already.")
    if len(ignored_alerts.list_all(conn, [run["action_set_id"]])) >= MAX_ALERTS:
        raise ConflictError(f"The set already ignores {MAX_ALERTS:,} alerts.")
    ignored_alerts.add(conn, run, created_by=by.username)
    data = run_events.name_run(run)
    events.record(conn, "actions-alert-ignored", by, data=data, project=run["project"])


def stop_ignoring(conn: Connection, run: Row, by: Identity) -> None:
    """Raises ConflictError."""
    key = run["correlation"]
    if key is None or not ignored_alerts.delete(conn, run["action_set_id"], key):
        raise ConflictError("The alert of this run isn't ignored.")
    data = run_events.name_run(run)
    events.record(conn, "actions-alert-watched", by, data=data, project=run["project"])


def list_json(conn: Connection, by: Identity) -> list[dict[str, Any]]:
    """The alerts that are ignored; Viewers don't get their keys, which the sender chooses."""
    return [
        {
            "project": row["project"],
            "actionSet": {"id": row["action_set_id"], "name": row["name"]},
            "runId": row["run_id"],
            "createdBy": row["created_by"],
            "createdAt": format_iso(row["created_at"]),
            "key": row["correlation"] if by.has_permission(EDIT) else None,
        }
        for row in ignored_alerts.list_all(conn)
    ]
