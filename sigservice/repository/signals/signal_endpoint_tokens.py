"""Tokens of signal endpoints: one function for each SQL statement."""

from collections.abc import Sequence

from sigservice.db import queries
from sigservice.db.pool import Connection
from sigservice.db.statements import Row, execute, fetch_all, fetch_one

_SQL = queries.load("signals/signal_endpoint_tokens")


def insert(
    conn: Connection,
    endpoint_id: int,
    *,
    name: str,
    secret_hash: bytes,
    secret_prefix: str,
    created_by_user_id: int,
    limit: int,
) -> Row | None:
    """None if the limit is reached; raises UniqueViolation for a duplicate name."""
    return fetch_one(
        conn,
        _SQL["insert_signal_endpoint_token"],
        signal_endpoint_id=endpoint_id,
        name=name,
        secret_hash=secret_hash,
        secret_prefix=secret_prefix,
        created_by_user_id=created_by_user_id,
        limit=limit,
    )


def list_all(conn: Connection) -> list[Row]:
    return fetch_all(conn, _SQL["list_all_signal_endpoint_tokens"])


def list_for_endpoint(conn: Connection, endpoint_id: int) -> list[Row]:
    return fetch_all(conn, _SQL["list_signal_endpoint_tokens"], signal_endpoint_id=endpoint_id)


def find(conn: Connection, endpoint_id: int, id: int) -> Row | None:
    return fetch_one(
        conn, _SQL["find_signal_endpoint_token"], signal_endpoint_id=endpoint_id, id=id
    )


def rename(conn: Connection, endpoint_id: int, id: int, name: str) -> Row | None:
    """Raises UniqueViolation for a duplicate name."""
    return fetch_one(
        conn, _SQL["rename_signal_endpoint_token"], signal_endpoint_id=endpoint_id, id=id, name=name
    )


def delete(conn: Connection, endpoint_id: int, id: int) -> bool:
    statement = _SQL["delete_signal_endpoint_token"]
    return execute(conn, statement, signal_endpoint_id=endpoint_id, id=id) > 0


def list_encrypted(conn: Connection) -> list[Row]:
    """{id, encrypted_secret, previous_encrypted_secret} of the tokens that have one of them."""
    return fetch_all(conn, _SQL["list_encrypted_secrets"])


def update_encrypted(
    conn: Connection,
    ids: Sequence[int],
    secrets: Sequence[bytes | None],
    previous_secrets: Sequence[bytes | None],
) -> None:
    execute(
        conn,
        _SQL["update_encrypted_secrets"],
        ids=list(ids),
        secrets=list(secrets),
        previous_secrets=list(previous_secrets),
    )
