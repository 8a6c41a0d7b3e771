"""Alerts that a person ignores after an undo: until the alert resolves, its signals don't run the
set.

Call all functions that write under action_runs.lock, which the evaluation of signals holds too, so
no process runs the set between the undo and the decision to ignore.
"""

from typing import Any

import msgspec

from sigservice.clock import Clock, format_iso
from sigservice.db.pool import Connection
from sigservice.db.statements import Row
from sigservice.errors import ConflictError
from sigservice.repository.actions import action_runs, ignored_alerts
from sigservice.services.identity import ADMIN, Identity
from sigservice.services.system import events

MAX_ALERTS = 1000  # of one set


def find(conn: Connection, run: Row) -> dict[str, Any] | None:
    """{runId, createdBy, createdAt} of the run's alert if it is ignored."""
    for row in ignored_alerts.list_of_sets(conn, [run["action_set_id"]]):
        alert: dict[str, Any] | None = msgspec.json.decode(row["value"]).get(run["correlation"])
        return alert
    return None


def ignore(conn: Connection, run: Row, by: Identity, clock: Clock) -> None:
    """Ignores the alert of the run until it resolves. Raises ConflictError."""
    set_id, key = run["action_set_id"], run["correlation"]
    firing = [row["correlation"] for row in action_runs.list_firing_alerts(conn, [set_id])]
    if key is None or key not in firing:
        raise ConflictError("The alert of this run isn't firing, or the run is undone already.")
    rows = ignored_alerts.list_of_sets(conn, [set_id])
    if any(len(msgspec.json.decode(row["value"])) >= MAX_ALERTS for row in rows):
        raise ConflictError(f"The set already ignores {MAX_ALERTS:,} alerts.")
    alert = {
        "runId": run["id"],
        "createdBy": by.username,
        "createdAt": format_iso(clock.now()),
    }
    ignored_alerts.add(conn, set_id, key, alert)
    data = {"runId": run["id"]}
    events.record(conn, "actions-alert-ignored", by, data=data, project=run["project"])


def stop_ignoring(conn: Connection, run: Row, by: Identity) -> None:
    """Raises ConflictError."""
    key = run["correlation"]
    if key is None or not ignored_alerts.delete(conn, run["action_set_id"], key):
        raise ConflictError("The alert of this run isn't ignored.")
    data = {"runId": run["id"]}
    events.record(conn, "actions-alert-watched", by, data=data, project=run["project"])


def list_json(conn: Connection, by: Identity) -> list[dict[str, Any]]:
    """The alerts that are ignored; only admins get their keys, which are values of payloads."""
    return [
        {
            "project": row["project"],
            "actionSet": {"id": row["action_set_id"], "name": row["name"]},
            **alert,
            "key": key if by.has_permission(ADMIN) else None,
        }
        for row in ignored_alerts.list_all(conn)
        for key, alert in msgspec.json.decode(row["value"]).items()
    ]
