"""Tokens of signal endpoints: one function for each SQL statement."""

from __future__ import annotations

from sigservice.db import queries
from sigservice.db.pool import Connection
from sigservice.db.run import Row, affected, many, one, one_prepared

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
    """None when the limit is reached; raises UniqueViolation for a name that is taken."""
    return one(
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
    return many(conn, _SQL["list_all_signal_endpoint_tokens"])


def list_of_endpoint(conn: Connection, endpoint_id: int) -> list[Row]:
    return many(conn, _SQL["list_signal_endpoint_tokens"], signal_endpoint_id=endpoint_id)


def find(conn: Connection, endpoint_id: int, id: int) -> Row | None:
    return one(conn, _SQL["find_signal_endpoint_token"], signal_endpoint_id=endpoint_id, id=id)


def rename(conn: Connection, endpoint_id: int, id: int, name: str) -> Row | None:
    """Raises UniqueViolation for a name that is taken."""
    return one(
        conn, _SQL["rename_signal_endpoint_token"], signal_endpoint_id=endpoint_id, id=id, name=name
    )


def delete(conn: Connection, endpoint_id: int, id: int) -> bool:
    statement = _SQL["delete_signal_endpoint_token"]
    return affected(conn, statement, signal_endpoint_id=endpoint_id, id=id) > 0


def find_sender(conn: Connection, secret_hash: bytes) -> Row | None:
    return one_prepared(conn, _SQL["find_signal_sender"], secret_hash=secret_hash)
