"""Environments: one function for each SQL statement."""

from collections.abc import Mapping, Sequence
from typing import Any

from sigservice.db import Connection, Row, execute, execute_batches, fetch_all, fetch_one, queries

_SQL = queries.load("projects/environments")


def list_all(conn: Connection) -> list[Row]:
    """By sort order, with the number of projects, API tokens and enabled flags."""
    return fetch_all(conn, _SQL["list_environments"], name=None)


def find(conn: Connection, name: str) -> Row | None:
    """As in `list_all`."""
    return fetch_one(conn, _SQL["list_environments"], name=name)


def list_enabled_names(conn: Connection) -> list[str]:
    """By sort order."""
    return [row["name"] for row in fetch_all(conn, _SQL["list_enabled_names"])]


def list_by_project(conn: Connection, project: str) -> list[Row]:
    """All environments; `visible` is true for those that the project uses."""
    return fetch_all(conn, _SQL["list_environments_of_project"], project=project)


def put(conn: Connection, items: Sequence[Any]) -> None:
    """Inserts or replaces the environments, which are encoded as JSON."""
    execute_batches(conn, _SQL["put_environments"], items)


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
