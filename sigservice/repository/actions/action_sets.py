"""Action sets: one function for each SQL statement."""

from collections.abc import Sequence
from datetime import datetime
from typing import TypedDict, Unpack

from sigservice.db import Connection, Row, execute, fetch_all, fetch_value, queries

_SQL = queries.load("actions/action_sets")


class ActionSetValues(TypedDict):
    """The columns that are written; `schedule`, `filters` and `settings` are JSON text."""

    name: str
    description: str | None
    enabled: bool
    actor_id: int
    endpoint_id: int
    schedule: str | None
    filters: str
    settings: str


def lock(conn: Connection) -> None:
    execute(conn, _SQL["lock_action_sets"])


def insert(
    conn: Connection, *, project: str, created_by_user_id: int, **values: Unpack[ActionSetValues]
) -> int:
    """The new ID. Raises UniqueViolation for a duplicate name."""
    statement, author = _SQL["insert_action_set"], created_by_user_id
    return int(fetch_value(conn, statement, project=project, created_by_user_id=author, **values))


def insert_actions(
    conn: Connection, action_set_id: int, actions: str, *, created_by_user_id: int
) -> None:
    """`actions` is a JSON array of {action, sortOrder, executionParams}."""
    author = {"created_by_user_id": created_by_user_id}
    execute(conn, _SQL["insert_actions"], action_set_id=action_set_id, actions=actions, **author)


def delete_actions(conn: Connection, action_set_id: int) -> None:
    execute(conn, _SQL["delete_actions"], action_set_id=action_set_id)


def list_all(conn: Connection) -> list[Row]:
    return fetch_all(conn, _SQL["list_action_sets"], project=None, ids=None, sources=None)


def list_of_endpoint(conn: Connection, endpoint_id: int) -> list[Row]:
    """{id, project, name, enabled} of enabled and disabled sets."""
    return fetch_all(conn, _SQL["list_of_endpoint"], endpoint_id=endpoint_id)


def list_limited_triggers(conn: Connection, *, default_burst: float, min_burst: int) -> list[str]:
    """The names of the endpoints that trigger enabled sets and that answer 429 to some of
    `min_burst` signals at once. `default_burst` is the default burst of endpoints without a
    limit."""
    rows = fetch_all(
        conn, _SQL["list_limited_triggers"], default_burst=default_burst, min_burst=min_burst
    )
    return [row["name"] for row in rows]


def list_of_project(conn: Connection, project: str) -> list[Row]:
    """With `actions`, `filters` and `settings` as JSON text."""
    return fetch_all(conn, _SQL["list_action_sets"], project=project, ids=None, sources=None)


def list_of_endpoints(conn: Connection, sources: list[int]) -> list[Row]:
    """The sets that enabled endpoints of `sources` trigger, disabled ones only if their alerts can
    resolve."""
    return fetch_all(conn, _SQL["list_action_sets"], project=None, ids=None, sources=sources)


def find(conn: Connection, project: str | None, id: int) -> Row | None:
    """`project` is None for a set of any project."""
    rows = fetch_all(conn, _SQL["list_action_sets"], project=project, ids=[id], sources=None)
    return rows[0] if rows else None


def lock_due(
    conn: Connection, now: datetime | None, *, limit: int
) -> tuple[list[Row], datetime | None]:
    """The sets whose schedule is due, locked against other processes and users, and the time, which
    is that of the database if `now` is None; None if there are none."""
    due = fetch_all(conn, _SQL["lock_due_sets"], now=now, limit=limit)
    if not due:
        return [], None
    ids = [row["id"] for row in due]
    rows = fetch_all(conn, _SQL["list_action_sets"], project=None, ids=ids, sources=None)
    return rows, due[0]["now"]


def set_due_times(conn: Connection, ids: list[int], due_ats: Sequence[datetime | None]) -> None:
    """One time for each ID; None if the set doesn't run again."""
    execute(conn, _SQL["set_due_times"], ids=ids, due_ats=list(due_ats))


def list_scheduled(conn: Connection, project: str | None, *, limit: int | None) -> list[Row]:
    """The sets that will run, next first; `project` is None for all."""
    return fetch_all(conn, _SQL["list_scheduled"], project=project, limit=limit)


def delete_done(conn: Connection, *, chunk: int) -> int:
    return execute(conn, _SQL["delete_done_sets"], chunk=chunk)


def count(conn: Connection, project: str) -> int:
    return int(fetch_value(conn, _SQL["count_action_sets"], project=project))


def update(conn: Connection, id: int, **values: Unpack[ActionSetValues]) -> None:
    """Raises UniqueViolation for a duplicate name."""
    execute(conn, _SQL["update_action_set"], id=id, **values)


def set_enabled(conn: Connection, id: int, enabled: bool) -> None:
    execute(conn, _SQL["set_enabled"], id=id, enabled=enabled)


def set_has_run_once(conn: Connection, ids: list[int], has_run_once: bool) -> None:
    execute(conn, _SQL["set_has_run_once"], ids=ids, has_run_once=has_run_once)


def delete(conn: Connection, id: int) -> None:
    execute(conn, _SQL["delete_action_set"], id=id)
