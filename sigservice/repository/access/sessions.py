"""Sessions: one function for each SQL statement."""

from collections.abc import Mapping
from datetime import datetime

from sigservice.db import Connection, Row, execute, fetch_all, fetch_one, queries

_SQL = queries.load("access/sessions")


def insert(
    conn: Connection,
    *,
    id_hash: bytes,
    user_id: int,
    now: datetime,
    expires_at: datetime,
    ip: str | None = None,
    user_agent: str | None = None,
    identity_id: int | None = None,
    provider_session: str | None = None,
    provider_issued_at: datetime | None = None,
    id_token: str | None = None,
) -> None:
    """Sessions that the provider opened have an `identity_id`."""
    execute(
        conn,
        _SQL["insert_session"],
        id_hash=id_hash,
        user_id=user_id,
        now=now,
        expires_at=expires_at,
        ip=ip,
        user_agent=user_agent,
        identity_id=identity_id,
        provider_session=provider_session,
        provider_issued_at=provider_issued_at,
        id_token=id_token,
    )


def find_user(conn: Connection, id_hash: bytes, now: datetime) -> Row | None:
    """The user with the session's `last_used_at`, `confirmed_at` and `issuer` of the provider, if
    it opened the session; None if it doesn't exist or has expired."""
    return fetch_one(conn, _SQL["find_session_user"], id_hash=id_hash, now=now)


def delete(conn: Connection, id_hash: bytes) -> bool:
    return execute(conn, _SQL["delete_session"], id_hash=id_hash) > 0


def delete_of_user(conn: Connection, user_id: int, except_hash: bytes | None = None) -> int:
    return execute(conn, _SQL["delete_sessions_of_user"], user_id=user_id, except_hash=except_hash)


def list_of_user(
    conn: Connection,
    user_id: int,
    *,
    current_hash: bytes,
    now: datetime,
    idle_before: datetime | None,
    limit: int,
) -> list[Row]:
    return fetch_all(
        conn,
        _SQL["list_sessions_of_user"],
        user_id=user_id,
        current_hash=current_hash,
        now=now,
        idle_before=idle_before,
        limit=limit,
    )


def delete_own(conn: Connection, user_id: int, id: int, *, current_hash: bytes) -> Row | None:
    """{is_current}; None if the user has no such session."""
    return fetch_one(
        conn, _SQL["delete_own_session"], user_id=user_id, id=id, current_hash=current_hash
    )


def find_id_token(conn: Connection, id_hash: bytes) -> str | None:
    """The ID token with which the provider opened the session, if it is stored."""
    row = fetch_one(conn, _SQL["find_id_token"], id_hash=id_hash)
    return row["id_token"] if row else None


def confirm(conn: Connection, id_hash: bytes, now: datetime) -> None:
    execute(conn, _SQL["confirm_session"], id_hash=id_hash, now=now)


def mark_used(conn: Connection, uses: Mapping[bytes, datetime]) -> int:
    return execute(
        conn, _SQL["mark_sessions_used"], hashes=list(uses.keys()), times=list(uses.values())
    )


def delete_expired(conn: Connection, now: datetime, idle_before: datetime | None = None) -> int:
    return execute(conn, _SQL["delete_expired_sessions"], now=now, idle_before=idle_before)
