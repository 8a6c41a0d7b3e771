"""Reset tokens: one function for each SQL statement."""

from datetime import datetime

from sigservice.db import Connection, Row, execute, fetch_one, queries

_SQL = queries.load("access/reset_tokens")


def insert(
    conn: Connection,
    *,
    token_hash: bytes,
    user_id: int,
    created_by: str,
    now: datetime,
    expires_at: datetime,
) -> None:
    execute(
        conn,
        _SQL["insert_reset_token"],
        token_hash=token_hash,
        user_id=user_id,
        created_by=created_by,
        now=now,
        expires_at=expires_at,
    )


def find(conn: Connection, token_hash: bytes, now: datetime) -> Row | None:
    """The link, used or not, with its user; None if it doesn't exist or has expired."""
    return fetch_one(conn, _SQL["find_reset_token"], token_hash=token_hash, now=now)


def use(conn: Connection, token_hash: bytes, now: datetime) -> bool:
    """False if the link is used or has expired."""
    return execute(conn, _SQL["use_reset_token"], token_hash=token_hash, now=now) > 0


def delete_unused(conn: Connection, user_id: int) -> int:
    return execute(conn, _SQL["delete_unused_reset_tokens"], user_id=user_id)


def delete_expired(conn: Connection, now: datetime) -> int:
    return execute(conn, _SQL["delete_expired_reset_tokens"], now=now)
