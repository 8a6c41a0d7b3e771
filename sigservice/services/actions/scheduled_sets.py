"""What is scheduled: the action sets that a clock will run, next first."""

from typing import Any

import msgspec

from sigservice.clock import format_iso
from sigservice.db.pool import Connection
from sigservice.db.statements import Row
from sigservice.repository.actions import action_sets
from sigservice.services.actions.action_sets import check_project
from sigservice.services.actions.schedules import read_schedule


def list_of_project(conn: Connection, project: str) -> list[Row]:
    """Raises NotFoundError."""
    check_project(conn, project)
    return action_sets.list_scheduled(conn, project, limit=None)


def to_json(row: Row) -> dict[str, Any]:
    schedule = read_schedule(row)
    assert schedule is not None
    return {
        "actionSetId": row["id"],
        "name": row["name"],
        "dueAt": format_iso(row["due_at"]),
        "cron": schedule.cron,
        "timezone": schedule.timezone if schedule.cron is None else schedule.zone,
        "actions": msgspec.json.decode(row["actions"]),
    }
