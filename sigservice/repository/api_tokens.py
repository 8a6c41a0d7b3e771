"""API tokens: one function for each statement of sql/queries/api_tokens.sql."""

from __future__ import annotations

from sigservice.db import queries
from sigservice.db.pool import Connection
from sigservice.db.run import Row, affected, one_prepared, value

_SQL = queries.load("api_tokens")


def lock(conn: Connection) -> None:
    affected(conn, _SQL["lock_api_tokens"])


def count(conn: Connection) -> int:
    return int(value(conn, _SQL["count_api_tokens"]))


def insert(
    conn: Connection,
    *,
    secret_hash: bytes,
    secret_prefix: str,
    token_name: str,
    type: str,
    environment: str,
    projects: list[str],
) -> int:
    return int(
        value(
            conn,
            _SQL["insert_api_token"],
            secret_hash=secret_hash,
            secret_prefix=secret_prefix,
            token_name=token_name,
            type=type,
            environment=environment,
            projects=projects,
        )
    )


def find(conn: Connection, secret_hash: bytes) -> Row | None:
    """A token that has not expired."""
    return one_prepared(conn, _SQL["find_api_token"], secret_hash=secret_hash)
