"""Environments: one function for each SQL statement."""

from collections.abc import Mapping

from sigservice.db import queries
from sigservice.db.pool import Connection
from sigservice.db.statements import Row, execute, fetch_all, fetch_value

_SQL = queries.load("projects/environments")


def list_all(conn: Connection, name: str | None = None) -> list[Row]:
    """By sort order; only the one with this name, if given."""
    return fetch_all(conn, _SQL["list_environments"], name=name)


def list_enabled_names(conn: Connection) -> list[str]:
    """By sort order."""
    return [row["name"] for row in fetch_all(conn, _SQL["list_enabled_names"])]


def list_by_project(conn: Connection, project: str) -> list[Row]:
    """All environments; `visible` is true for those that the project uses."""
    return fetch_all(conn, _SQL["list_environments_of_project"], project=project)


def count(conn: Connection) -> int:
    return int(fetch_value(conn, _SQL["count_environments"]))


def insert(
    conn: Connection, *, name: str, type: str, sort_order: int | None, enabled: bool
) -> None:
    """Raises UniqueViolation if the name exists."""
    execute(
        conn,
        _SQL["insert_environment"],
        name=name,
        type=type,
        sort_order=sort_order,
        enabled=enabled,
    )


def update(conn: Connection, name: str, *, type: str, sort_order: int, enabled: bool) -> None:
    execute(
        conn,
        _SQL["update_environment"],
        name=name,
        type=type,
        sort_order=sort_order,
        enabled=enabled,
    )


def update_sort_orders(conn: Connection, orders: Mapping[str, int]) -> int:
    """Returns how many environments had one of the names."""
    return execute(
        conn, _SQL["update_sort_orders"], names=list(orders), sort_orders=list(orders.values())
    )


def enable_only(conn: Connection, names: list[str]) -> list[Row]:
    """{name, enabled} of each environment that changed."""
    return fetch_all(conn, _SQL["enable_only"], names=names)


def delete(conn: Connection, name: str) -> None:
    execute(conn, _SQL["delete_environment"], name=name)
