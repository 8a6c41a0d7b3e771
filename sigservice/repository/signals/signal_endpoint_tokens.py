"""Tokens of signal endpoints: one function for each SQL statement."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TypedDict

from sigservice.db import Connection, Row, execute, fetch_all, fetch_one, fetch_value, queries

_SQL = queries.load("signals/signal_endpoint_tokens")
ENCRYPTED_COLUMNS = ("encrypted_secret", "previous_encrypted_secret")


class TokenValues(TypedDict):
    """The columns that users change; `signature` is JSON text."""

    name: str
    expires_at: datetime | None
    allowed_addresses: list[str]
    signature: str | None


class SecretValues(TypedDict):
    """Of a bearer token a hash and the first characters, else the encrypted signing secret."""

    secret_hash: bytes | None
    secret_prefix: str
    encrypted_secret: bytes | None


def insert(
    conn: Connection,
    endpoint_id: int,
    values: TokenValues,
    secret: SecretValues,
    *,
    type: str,
    created_by_user_id: int,
    limit: int,
) -> int | None:
    """The ID; None if the limit is reached. Raises UniqueViolation for a duplicate name."""
    creation = {"type": type, "created_by_user_id": created_by_user_id, "limit": limit}
    statement = _SQL["insert_signal_endpoint_token"]
    return fetch_value(
        conn, statement, signal_endpoint_id=endpoint_id, **values, **secret, **creation
    )


def list_all(conn: Connection) -> list[Row]:
    return fetch_all(conn, _SQL["list_signal_endpoint_tokens"], signal_endpoint_id=None)


def list_for_endpoint(conn: Connection, endpoint_id: int) -> list[Row]:
    return fetch_all(conn, _SQL["list_signal_endpoint_tokens"], signal_endpoint_id=endpoint_id)


def find(conn: Connection, endpoint_id: int, id: int) -> Row | None:
    return fetch_one(
        conn, _SQL["find_signal_endpoint_token"], signal_endpoint_id=endpoint_id, id=id
    )


def update(conn: Connection, endpoint_id: int, id: int, values: TokenValues) -> bool:
    """Raises UniqueViolation for a duplicate name."""
    statement = _SQL["update_signal_endpoint_token"]
    return execute(conn, statement, signal_endpoint_id=endpoint_id, id=id, **values) > 0


def rotate(
    conn: Connection,
    endpoint_id: int,
    id: int,
    secret: SecretValues,
    *,
    previous_expires_at: datetime,
) -> None:
    """Replaces the secret; the current one is valid until `previous_expires_at`."""
    token = {"signal_endpoint_id": endpoint_id, "id": id}
    until = {"previous_expires_at": previous_expires_at}
    execute(conn, _SQL["rotate_signal_endpoint_token"], **token, **secret, **until)


def delete_previous_secret(conn: Connection, endpoint_id: int, id: int) -> None:
    execute(conn, _SQL["delete_previous_secret"], signal_endpoint_id=endpoint_id, id=id)


def delete(conn: Connection, endpoint_id: int, id: int) -> bool:
    statement = _SQL["delete_signal_endpoint_token"]
    return execute(conn, statement, signal_endpoint_id=endpoint_id, id=id) > 0


def add_uses(conn: Connection, uses: Mapping[int, tuple[datetime, str, int]]) -> None:
    """(last use, its address, number of uses) by the ID of the token."""
    execute(
        conn,
        _SQL["add_signal_token_uses"],
        token_ids=list(uses),
        times=[used_at for used_at, _, _ in uses.values()],
        addresses=[address for _, address, _ in uses.values()],
        counts=[count for _, _, count in uses.values()],
    )


def delete_expired_previous_secrets(conn: Connection) -> int:
    return execute(conn, _SQL["delete_expired_previous_secrets"])


def list_encrypted(conn: Connection) -> list[Row]:
    """{id, encrypted_secret, previous_encrypted_secret} of the tokens that have one of them."""
    return fetch_all(conn, _SQL["list_encrypted_secrets"])


def update_encrypted(conn: Connection, rows: Sequence[Row]) -> None:
    """Of rows of `list_encrypted` with changed secrets."""
    columns = {name: [row[name] for row in rows] for name in ("id", *ENCRYPTED_COLUMNS)}
    execute(conn, _SQL["update_encrypted_secrets"], **columns)
