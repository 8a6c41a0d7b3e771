"""Alerts that a person ignores after an undo: until the alert resolves, its signals don't run the
set.

Call all functions that write under action_runs.lock, which the evaluation of signals holds too, so
no process runs the set between the undo and the decision to ignore.
"""

from collections.abc import Sequence
from typing import Any

from sigservice.clock import format_iso
from sigservice.db import Connection, Row
from sigservice.errors import ConflictError
from sigservice.repository.actions import alerts
from sigservice.services.actions import run_events
from sigservice.services.identity import EDIT, Identity, name_actor
from sigservice.services.system import events


def find_creator(conn: Connection, run: Row) -> str | None:
    """Who ignores the alert of the run, as written in sentences; None if nobody does."""
    alert = _find(conn, run)
    if alert is None or alert["ignored_by"] is None:
        return None
    return name_actor(alert["ignored_by"], alert["ignored_by_id"])


def is_firing(conn: Connection, run: Row) -> bool:
    """Whether the alert of the run fires."""
    alert = _find(conn, run)
    return alert is not None and alert["is_firing"]


def _find(conn: Connection, run: Row) -> Row | None:
    key = run["alert_key"]
    rows = alerts.list_by_keys(conn, [(run["action_set_id"], key)]) if key is not None else []
    return next((row for row in rows if row["key"] == key), None)


def ignore(conn: Connection, run: Row, by: Identity) -> None:
    """Ignores the alert of the run until it resolves. Raises ConflictError."""
    if not is_firing(conn, run):
        raise ConflictError("The alert of this run isn't firing, or the run is undone already.")
    name = run_events.name_run(run)["actionSetName"]
    ignore_all(conn, [run | {"key": run["alert_key"], "name": name}], by)


def ignore_all(conn: Connection, runs: Sequence[Row], by: Identity) -> None:
    """Ignores the alerts, which fire, until they resolve. `runs` have the name of the set and the
    key of the alert, as held flags have."""
    by_alert = {(run["action_set_id"], run["key"]): run for run in reversed(runs)}
    alerts.ignore(conn, by_alert, by=by.username, by_id=by.user_id)
    items = [
        {
            "data": {"runId": run["id"], "actionSetId": set_id, "actionSetName": run["name"]},
            "project": run["project"],
        }
        for (set_id, _), run in by_alert.items()
    ]
    events.record_many(conn, "actions-alert-ignored", by, items)


def stop_ignoring(conn: Connection, run: Row, by: Identity) -> None:
    """Raises ConflictError."""
    if not alerts.stop_ignoring(conn, run):
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
            "createdBy": row["ignored_by"],
            "createdAt": format_iso(row["ignored_at"]),
            "key": row["key"] if by.has_permission(EDIT) else None,
        }
        for row in alerts.list_ignored(conn)
    ]
