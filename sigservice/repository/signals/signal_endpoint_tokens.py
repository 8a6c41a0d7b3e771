"""Tokens of signal endpoints: one function for each SQL statement."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from sigservice.db import Connection, Row, execute, fetch_all, fetch_one, fetch_value, queries

_SQL = queries.load("signals/signal_endpoint_tokens")
ENCRYPTED_COLUMNS = ("encrypted_secret", "previous_encrypted_secret")


def insert(
    conn: Connection,
    endpoint_id: int,
    *,
    name: str,
    type: str = "bearer",
    secret_hash: bytes | None = None,
    secret_prefix: str = "",
    signature: str | None = None,
    encrypted_secret: bytes | None = None,
    expires_at: datetime | None = None,
    allowed_addresses: Sequence[str] = (),
    created_by_user_id: int,
    limit: int,
) -> int | None:
    """The ID; None if the limit is reached. `signature` is JSON.

    Raises UniqueViolation for a duplicate name.
    """
    return fetch_value(
        conn,
        _SQL["insert_signal_endpoint_token"],
        signal_endpoint_id=endpoint_id,
        name=name,
        type=type,
        secret_hash=secret_hash,
        secret_prefix=secret_prefix,
        signature=signature,
        encrypted_secret=encrypted_secret,
        expires_at=expires_at,
        allowed_addresses=list(allowed_addresses),
        created_by_user_id=created_by_user_id,
        limit=limit,
    )


def list_all(conn: Connection) -> list[Row]:
    return fetch_all(conn, _SQL["list_signal_endpoint_tokens"], signal_endpoint_id=None)


def list_for_endpoint(conn: Connection, endpoint_id: int) -> list[Row]:
    return fetch_all(conn, _SQL["list_signal_endpoint_tokens"], signal_endpoint_id=endpoint_id)


def find(conn: Connection, endpoint_id: int, id: int) -> Row | None:
    return fetch_one(
        conn, _SQL["find_signal_endpoint_token"], signal_endpoint_id=endpoint_id, id=id
    )


def update(
    conn: Connection,
    endpoint_id: int,
    id: int,
    *,
    name: str,
    expires_at: datetime | None,
    allowed_addresses: Sequence[str],
    signature: str | None,
) -> bool:
    """`signature` is JSON. Raises UniqueViolation for a duplicate name."""
    rows = execute(
        conn,
        _SQL["update_signal_endpoint_token"],
        signal_endpoint_id=endpoint_id,
        id=id,
        name=name,
        expires_at=expires_at,
        allowed_addresses=list(allowed_addresses),
        signature=signature,
    )
    return rows > 0


def rotate(
    conn: Connection,
    endpoint_id: int,
    id: int,
    *,
    secret_hash: bytes | None,
    encrypted_secret: bytes | None,
    secret_prefix: str,
    previous_expires_at: datetime,
) -> None:
    """Replaces the secret; the current one is valid until `previous_expires_at`."""
    execute(
        conn,
        _SQL["rotate_signal_endpoint_token"],
        signal_endpoint_id=endpoint_id,
        id=id,
        secret_hash=secret_hash,
        encrypted_secret=encrypted_secret,
        secret_prefix=secret_prefix,
        previous_expires_at=previous_expires_at,
    )


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
