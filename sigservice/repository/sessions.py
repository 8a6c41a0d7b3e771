"""Sessions: one function for each statement of sql/queries/sessions.sql."""

from __future__ import annotations

from datetime import datetime

from sigservice.db import queries
from sigservice.db.pool import Connection
from sigservice.db.run import Row, affected, one_prepared

_SQL = queries.load("sessions")


def insert(
    conn: Connection, *, id_hash: bytes, user_id: int, now: datetime, expires_at: datetime
) -> None:
    affected(
        conn,
        _SQL["insert_session"],
        id_hash=id_hash,
        user_id=user_id,
        now=now,
        expires_at=expires_at,
    )


def find_user(conn: Connection, id_hash: bytes, now: datetime) -> Row | None:
    """The user of a session that has not ended."""
    return one_prepared(conn, _SQL["find_session_user"], id_hash=id_hash, now=now)


def delete(conn: Connection, id_hash: bytes) -> bool:
    return affected(conn, _SQL["delete_session"], id_hash=id_hash) > 0


def delete_of_user(conn: Connection, user_id: int, except_hash: bytes | None = None) -> int:
    return affected(conn, _SQL["delete_sessions_of_user"], user_id=user_id, except_hash=except_hash)


def delete_expired(conn: Connection, now: datetime) -> int:
    return affected(conn, _SQL["delete_expired_sessions"], now=now)
