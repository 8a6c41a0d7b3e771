"""API tokens: one function for each SQL statement."""

from collections.abc import Mapping
from datetime import datetime

from sigservice.db import Connection, Row, execute, fetch_all, fetch_one, fetch_value, queries

_SQL = queries.load("access/api_tokens")


def lock(conn: Connection) -> None:
    execute(conn, _SQL["lock_api_tokens"])


def count(conn: Connection) -> int:
    return int(fetch_value(conn, _SQL["count_api_tokens"]))


def find_existing(conn: Connection, secret_hashes: list[bytes]) -> set[bytes]:
    """The hashes that belong to tokens, expired ones too."""
    rows = fetch_all(conn, _SQL["find_existing_api_tokens"], secret_hashes=secret_hashes)
    return {bytes(row["secret_hash"]) for row in rows}


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
    """Raises UniqueViolation for a secret that already exists."""
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


def list_scopes(conn: Connection, ids: list[int]) -> list[Row]:
    """{id, projects, expires_at} of those that exist."""
    return fetch_all(conn, _SQL["list_api_token_scopes"], ids=ids)


def find_by_id(conn: Connection, id: int, now: datetime) -> Row | None:
    """With its `secret_hash`; None if the token doesn't exist or has expired."""
    return fetch_one(conn, _SQL["find_api_token_by_id"], id=id, now=now)


def find(conn: Connection, secret_hash: bytes, now: datetime) -> Row | None:
    """None if the token doesn't exist or has expired."""
    return fetch_one(conn, _SQL["find_api_token"], secret_hash=secret_hash, now=now)


def find_to_change(conn: Connection, *, secret_hash: bytes, id: int | None) -> Row | None:
    """Finds a token by its secret, else by its ID."""
    return fetch_one(conn, _SQL["find_api_token_to_change"], secret_hash=secret_hash, id=id)


def list_all(conn: Connection, *, token_name: str | None = None) -> list[Row]:
    """All tokens, or the tokens with one name."""
    return fetch_all(conn, _SQL["list_api_tokens"], token_name=token_name, project=None)


def list_of_project(conn: Connection, project: str) -> list[Row]:
    """The tokens that are limited to this project or to several projects with this one."""
    return fetch_all(conn, _SQL["list_api_tokens"], token_name=None, project=project)


def update(conn: Connection, id: int, *, expires_at: datetime) -> None:
    execute(conn, _SQL["update_api_token"], id=id, expires_at=expires_at)


def delete(conn: Connection, id: int) -> bool:
    return execute(conn, _SQL["delete_api_token"], id=id) > 0


def remove_project(conn: Connection, project: str) -> None:
    """Removes the project from its tokens; deletes tokens without another project."""
    execute(conn, _SQL["remove_project_from_api_tokens"], project=project)


def mark_used(conn: Connection, uses: Mapping[int, datetime]) -> int:
    return execute(
        conn, _SQL["mark_api_tokens_used"], ids=list(uses.keys()), times=list(uses.values())
    )


def find_missing_scope(conn: Connection, *, environment: str, projects: list[str]) -> Row:
    """{has_environment, unknown_projects} of a new token's scope."""
    names = {"environment": environment, "projects": projects}
    return fetch_all(conn, _SQL["find_missing_scope"], **names)[0]


def find_choices(conn: Connection) -> Row:
    """{environments, projects}: the names that a new token may have."""
    return fetch_all(conn, _SQL["find_choices"])[0]


def list_valid(conn: Connection, secret_hashes: list[bytes]) -> list[Row]:
    """{secret_hash, type, environment, projects} of the client and frontend tokens that exist
    and haven't expired."""
    return fetch_all(conn, _SQL["list_valid_tokens"], secret_hashes=secret_hashes)
