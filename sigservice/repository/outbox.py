"""Messages to receivers outside of the service: one function for each SQL statement."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec

from sigservice.db import Connection, Row, execute, fetch_all, fetch_one, queries

_SQL = queries.load("outbox")


def insert_many(conn: Connection, items: Sequence[dict[str, Any]]) -> None:
    """Items of {kind, subject_id, target, payload}."""
    execute(conn, _SQL["insert_messages"], items=msgspec.json.encode(items).decode())


def claim(
    conn: Connection, kinds: Sequence[str], *, now: datetime, until: datetime, busy: Sequence[str]
) -> Row | None:
    """A due message of one of the kinds. `busy` are targets in JSON; `target` and `payload` are
    JSON text."""
    return fetch_one(
        conn, _SQL["claim_message"], kinds=list(kinds), now=now, until=until, busy=list(busy)
    )


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
    count = execute(
        conn,
        _SQL["settle_message"],
        id=id,
        attempts=attempts,
        result=result,
        error=error,
        due_at=due_at,
        now=now,
    )
    return count > 0


def save_channels(conn: Connection, row: Row, channels: dict[str, str]) -> bool:
    """Of a claimed message to an integration; False if a later attempt has begun."""
    values = {"id": row["id"], "attempts": row["attempts"]}
    text = msgspec.json.encode(channels).decode()
    return not channels or execute(conn, _SQL["save_channels"], channels=text, **values) > 0


def retry(conn: Connection, id: int) -> bool:
    """False for a message that is sent."""
    return execute(conn, _SQL["retry_message"], id=id) > 0


def list_newest(conn: Connection, kind: str, subject_id: int, *, limit: int) -> list[Row]:
    return fetch_all(conn, _SQL["list_messages"], kind=kind, subject_id=subject_id, limit=limit)


def delete_old(conn: Connection, *, days: int, chunk: int) -> int:
    return execute(conn, _SQL["delete_old_messages"], days=days, chunk=chunk)
