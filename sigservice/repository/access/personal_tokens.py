"""Personal tokens: one function for each SQL statement."""

from collections.abc import Mapping
from datetime import datetime

from sigservice.db import Connection, Row, execute, fetch_all, fetch_one, queries

_SQL = queries.load("access/personal_tokens")


def insert(
    conn: Connection,
    *,
    user_id: int,
    description: str,
    secret_hash: bytes,
    secret_prefix: str,
    expires_at: datetime,
    limit: int,
) -> Row | None:
    """None if the limit is reached; raises UniqueViolation for a description that exists."""
    return fetch_one(
        conn,
        _SQL["insert_personal_token"],
        user_id=user_id,
        description=description,
        secret_hash=secret_hash,
        secret_prefix=secret_prefix,
        expires_at=expires_at,
        limit=limit,
    )


def find_owner(conn: Connection, secret_hash: bytes, now: datetime) -> Row | None:
    """The token's owner with `token_id`; None if it doesn't exist or has expired."""
    return fetch_one(conn, _SQL["find_owner"], secret_hash=secret_hash, now=now)


def list_of_users(conn: Connection, user_ids: list[int]) -> list[Row]:
    return fetch_all(conn, _SQL["list_personal_tokens"], user_ids=user_ids)


def delete(conn: Connection, user_id: int, id: int) -> bool:
    return execute(conn, _SQL["delete_personal_token"], user_id=user_id, id=id) > 0


def delete_of_user(conn: Connection, user_id: int) -> list[int]:
    """The IDs of the deleted tokens."""
    rows = fetch_all(conn, _SQL["delete_personal_tokens_of_user"], user_id=user_id)
    return sorted(row["id"] for row in rows)


def mark_used(conn: Connection, uses: Mapping[int, datetime]) -> int:
    return execute(
        conn, _SQL["mark_personal_tokens_used"], ids=list(uses.keys()), times=list(uses.values())
    )
