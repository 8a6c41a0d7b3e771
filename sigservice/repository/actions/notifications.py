"""Notifications: one function for each SQL statement."""

from datetime import datetime

from sigservice.db import queries
from sigservice.db.pool import Connection
from sigservice.db.statements import Row, execute, fetch_all, fetch_one

_SQL = queries.load("actions/notifications")


def insert_of_runs(conn: Connection, run_ids: list[int]) -> int:
    """Returns how many: one for each channel that is notified of the run's state."""
    return execute(conn, _SQL["insert_notifications"], run_ids=run_ids)


def claim(conn: Connection, *, now: datetime, until: datetime, busy: list[str]) -> Row | None:
    """A due notification with its run; `run_id` is None if that was deleted. `busy` are channels
    in JSON."""
    return fetch_one(conn, _SQL["claim_notification"], now=now, until=until, busy=busy)


def settle(
    conn: Connection,
    id: int,
    *,
    attempts: int,
    result: str,
    error: str | None,
    due_at: datetime,
    now: datetime,
) -> bool:
    """`result` is sent, waiting or given up; returns False if a later attempt has begun."""
    return bool(
        execute(
            conn,
            _SQL["settle_notification"],
            id=id,
            attempts=attempts,
            result=result,
            error=error,
            due_at=due_at,
            now=now,
        )
    )


def list_newest(conn: Connection, action_set_id: int, *, limit: int) -> list[Row]:
    return fetch_all(conn, _SQL["list_notifications"], action_set_id=action_set_id, limit=limit)


def find(conn: Connection, action_set_id: int, id: int) -> Row | None:
    return fetch_one(conn, _SQL["find_notification"], action_set_id=action_set_id, id=id)


def retry(conn: Connection, id: int) -> bool:
    """False for a notification that is sent."""
    return bool(execute(conn, _SQL["retry_notification"], id=id))


def delete_old(conn: Connection, *, days: int, chunk: int) -> int:
    return execute(conn, _SQL["delete_old_notifications"], days=days, chunk=chunk)
