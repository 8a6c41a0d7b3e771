"""Notifications of silence: one function for each SQL statement."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec

from sigservice.db import queries
from sigservice.db.pool import Connection
from sigservice.db.statements import Row, execute, fetch_all, fetch_one

_SQL = queries.load("signals/silence_notifications")


def insert(conn: Connection, notifications: Sequence[dict[str, Any]]) -> None:
    """Items of {endpoint_id, channel, message}."""
    text = msgspec.json.encode(notifications).decode()
    execute(conn, _SQL["insert_silence_notifications"], notifications=text)


def claim(conn: Connection, *, now: datetime, until: datetime, busy: list[str]) -> Row | None:
    """`busy` are channels in JSON."""
    return fetch_one(conn, _SQL["claim_silence_notification"], now=now, until=until, busy=busy)


def settle(
    conn: Connection,
    id: int,
    *,
    attempts: int,
    result: str,
    error: str | None,
    due_at: datetime,
    now: datetime,
) -> None:
    """`result` is sent, waiting or given up."""
    execute(
        conn,
        _SQL["settle_silence_notification"],
        id=id,
        attempts=attempts,
        result=result,
        error=error,
        due_at=due_at,
        now=now,
    )


def list_newest(conn: Connection, endpoint_id: int, *, limit: int) -> list[Row]:
    return fetch_all(conn, _SQL["list_silence_notifications"], endpoint_id=endpoint_id, limit=limit)


def delete_old(conn: Connection, *, days: int, chunk: int) -> int:
    return execute(conn, _SQL["delete_old_silence_notifications"], days=days, chunk=chunk)
