"""The action sets that a schedule will run, the next one first."""

from collections.abc import Collection
from typing import Any
from zoneinfo import ZoneInfo

import msgspec

from sigservice.clock import format_iso
from sigservice.db import Connection, Row
from sigservice.repository.actions import action_sets
from sigservice.services.actions.action_sets import check_project
from sigservice.services.actions.action_summaries import describe_action, describe_schedule
from sigservice.services.actions.schedules import read_schedule
from sigservice.services.identity import name_actor


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


def list_views(conn: Connection, project: str | None, *, limit: int | None = None) -> list[Row]:
    """{id, project, name, due_at, creator, action_texts, schedule_text, is_once, environments,
    disturbs, plan_text} of each set that pages list; `project` is None for all projects."""
    return [_make_view(row) for row in action_sets.list_scheduled(conn, project, limit=limit)]


def list_views_of_flag(
    conn: Connection, project: str, feature: str, tags: Collection[str]
) -> list[Row]:
    """The views of the sets that change the flag, by its name or one of its tags (`type:value`)."""
    rows = action_sets.list_scheduled(conn, project, limit=None)
    return [_make_view(row) for row in rows if _changes_flag(row, feature, tags)]


def _changes_flag(row: Row, feature: str, tags: Collection[str]) -> bool:
    params = [action["executionParams"] for action in msgspec.json.decode(row["actions"])]
    return any(p.get("featureName") == feature or p.get("tag") in tags for p in params)


def _make_view(row: Row) -> Row:
    actions, schedule = msgspec.json.decode(row["actions"]), read_schedule(row)
    assert schedule is not None
    zone = schedule.zone
    return row | {
        "action_texts": [describe_action(action) for action in actions],
        "schedule_text": describe_schedule(row),
        "is_once": schedule.cron is None,
        "environments": {action["executionParams"].get("environment") for action in actions},
        "disturbs": any(action["action"] != "TOGGLE_FEATURE_ON" for action in actions),
        "creator": name_actor(row["created_by"], row["created_by_user_id"]),
        "plan_text": f"{row['due_at'].astimezone(ZoneInfo(zone)):%Y-%m-%d %H:%M} {zone}",
    }
