"""Signal endpoints: one function for each SQL statement."""

from sigservice.db import queries
from sigservice.db.pool import Connection
from sigservice.db.statements import Row, execute, fetch_all, fetch_one

_SQL = queries.load("signals/signal_endpoints")


def lock_all(conn: Connection) -> None:
    execute(conn, _SQL["lock_signal_endpoints"])


def insert(
    conn: Connection,
    *,
    name: str,
    description: str | None,
    enabled: bool,
    created_by_user_id: int,
    limit: int,
) -> Row | None:
    """None if the limit is reached; raises UniqueViolation for a duplicate name."""
    return fetch_one(
        conn,
        _SQL["insert_signal_endpoint"],
        name=name,
        description=description,
        enabled=enabled,
        created_by_user_id=created_by_user_id,
        limit=limit,
    )


def find(conn: Connection, id: int) -> Row | None:
    return fetch_one(conn, _SQL["find_signal_endpoint"], id=id)


def lock(conn: Connection, id: int) -> Row | None:
    return fetch_one(conn, _SQL["lock_signal_endpoint"], id=id)


def list_all(conn: Connection) -> list[Row]:
    return fetch_all(conn, _SQL["list_signal_endpoints"])


def update(
    conn: Connection, id: int, *, name: str, description: str | None, enabled: bool
) -> Row | None:
    """Raises UniqueViolation for a duplicate name."""
    return fetch_one(
        conn,
        _SQL["update_signal_endpoint"],
        id=id,
        name=name,
        description=description,
        enabled=enabled,
    )


def delete(conn: Connection, id: int) -> bool:
    return execute(conn, _SQL["delete_signal_endpoint"], id=id) > 0
