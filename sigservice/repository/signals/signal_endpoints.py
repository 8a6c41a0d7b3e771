"""Signal endpoints: one function for each SQL statement."""

from typing import TypedDict, Unpack

from sigservice.db import Connection, Row, execute, fetch_all, fetch_one, queries

_SQL = queries.load("signals/signal_endpoints")


class EndpointValues(TypedDict):
    """The columns that are written; `options` is JSON text."""

    name: str
    description: str | None
    enabled: bool
    options: str
    template: str | None


def lock_all(conn: Connection) -> None:
    execute(conn, _SQL["lock_signal_endpoints"])


def insert(
    conn: Connection,
    *,
    created_by_user_id: int,
    limit: int,
    **values: Unpack[EndpointValues],
) -> Row | None:
    """None if the limit is reached. Raises UniqueViolation for a duplicate name."""
    creation = {"created_by_user_id": created_by_user_id, "limit": limit}
    return fetch_one(conn, _SQL["insert_signal_endpoint"], **creation, **values)


def find(conn: Connection, id: int) -> Row | None:
    return fetch_one(conn, _SQL["find_signal_endpoint"], id=id)


def lock(conn: Connection, id: int) -> Row | None:
    return fetch_one(conn, _SQL["lock_signal_endpoint"], id=id)


def lock_each(conn: Connection) -> None:
    execute(conn, _SQL["lock_each_signal_endpoint"])


def list_all(conn: Connection) -> list[Row]:
    return fetch_all(conn, _SQL["list_signal_endpoints"])


def find_state(conn: Connection) -> Row | None:
    """A row that changes with each change of an endpoint or of its tokens."""
    return fetch_one(conn, _SQL["find_signal_endpoints_state"])


def list_settings(conn: Connection) -> list[Row]:
    """{id, name, enabled, version, options, tokens}; `options` and `tokens` are JSON."""
    return fetch_all(conn, _SQL["list_signal_endpoint_settings"])


def update(conn: Connection, id: int, **values: Unpack[EndpointValues]) -> Row | None:
    """Raises UniqueViolation for a duplicate name."""
    return fetch_one(conn, _SQL["update_signal_endpoint"], id=id, **values)


def bump_version(conn: Connection, id: int) -> None:
    """For each change of an endpoint or of its tokens."""
    execute(conn, _SQL["bump_signal_endpoint_version"], id=id)


def delete(conn: Connection, id: int) -> bool:
    return execute(conn, _SQL["delete_signal_endpoint"], id=id) > 0
