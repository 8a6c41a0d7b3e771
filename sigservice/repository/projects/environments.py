"""Environments: one function for each SQL statement."""

from __future__ import annotations

from collections.abc import Mapping

from sigservice.db import queries
from sigservice.db.pool import Connection
from sigservice.db.statements import Row, execute, fetch_all, fetch_value

_SQL = queries.load("projects/environments")


def list_all(conn: Connection, name: str | None = None) -> list[Row]:
    """In their order; only the one that is named, if one is."""
    return fetch_all(conn, _SQL["list_environments"], name=name)


def list_of_project(conn: Connection, project: str) -> list[Row]:
    """All of them; `visible` tells whether the project uses it."""
    return fetch_all(conn, _SQL["list_environments_of_project"], project=project)


def count(conn: Connection) -> int:
    return int(fetch_value(conn, _SQL["count_environments"]))


def insert(
    conn: Connection, *, name: str, type: str, sort_order: int | None, enabled: bool
) -> None:
    """Raises UniqueViolation for a name that is taken."""
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
    """How many of the names there are."""
    return execute(
        conn, _SQL["update_sort_orders"], names=list(orders), sort_orders=list(orders.values())
    )


def enable_only(conn: Connection, names: list[str]) -> list[Row]:
    """{name, enabled} of each that was switched."""
    return fetch_all(conn, _SQL["enable_only"], names=names)


def delete(conn: Connection, name: str) -> None:
    execute(conn, _SQL["delete_environment"], name=name)
