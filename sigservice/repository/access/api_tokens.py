"""API tokens: one function for each SQL statement."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from sigservice.db import queries
from sigservice.db.pool import Connection
from sigservice.db.statements import (
    Row,
    execute,
    fetch_all,
    fetch_one,
    fetch_one_prepared,
    fetch_value,
)

_SQL = queries.load("access/api_tokens")


def lock(conn: Connection) -> None:
    execute(conn, _SQL["lock_api_tokens"])


def count(conn: Connection) -> int:
    return int(fetch_value(conn, _SQL["count_api_tokens"]))


def insert(
    conn: Connection,
    *,
    secret_hash: bytes,
    secret_prefix: str,
    token_name: str,
    type: str,
    environment: str,
    projects: list[str],
    expires_at: datetime | None = None,
    created_by: str,
    created_by_user_id: int,
) -> Row:
    """Raises UniqueViolation for a secret that is stored already."""
    return fetch_all(
        conn,
        _SQL["insert_api_token"],
        secret_hash=secret_hash,
        secret_prefix=secret_prefix,
        token_name=token_name,
        type=type,
        environment=environment,
        projects=projects,
        expires_at=expires_at,
        created_by=created_by,
        created_by_user_id=created_by_user_id,
    )[0]


def find(conn: Connection, secret_hash: bytes, now: datetime) -> Row | None:
    """A token that has not expired."""
    return fetch_one_prepared(conn, _SQL["find_api_token"], secret_hash=secret_hash, now=now)


def find_to_change(conn: Connection, *, secret_hash: bytes, id: int | None) -> Row | None:
    """By its secret, else by its id."""
    return fetch_one(conn, _SQL["find_api_token_to_change"], secret_hash=secret_hash, id=id)


def list_all(
    conn: Connection, *, token_name: str | None = None, project: str | None = None
) -> list[Row]:
    """All of them, or those of one name, or those that name one project."""
    return fetch_all(conn, _SQL["list_api_tokens"], token_name=token_name, project=project)


def update(conn: Connection, id: int, *, expires_at: datetime) -> Row | None:
    return fetch_one(conn, _SQL["update_api_token"], id=id, expires_at=expires_at)


def delete(conn: Connection, id: int) -> bool:
    return execute(conn, _SQL["delete_api_token"], id=id) > 0


def delete_of_project(conn: Connection, project: str) -> list[Row]:
    """Those that open nothing but `project`, as they were."""
    return fetch_all(conn, _SQL["delete_api_tokens_of_project"], project=project)


def remove_project(conn: Connection, project: str) -> list[Row]:
    """The tokens that named `project`, as they are now."""
    return fetch_all(conn, _SQL["remove_project_of_api_tokens"], project=project)


def mark_used(conn: Connection, seen: Mapping[int, datetime]) -> int:
    return execute(
        conn, _SQL["mark_api_tokens_used"], ids=list(seen.keys()), times=list(seen.values())
    )


def find_scope(conn: Connection, *, environment: str, projects: list[str]) -> Row:
    """{has_environment, unknown_projects}: what of a new token's scope there is not."""
    return fetch_all(conn, _SQL["find_scope"], environment=environment, projects=projects)[0]


def find_choices(conn: Connection) -> Row:
    """{environments, projects}: the names of all that a token may be for."""
    return fetch_all(conn, _SQL["find_choices"])[0]
