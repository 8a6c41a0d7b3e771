"""Strategy types: one function for each SQL statement."""

from collections.abc import Sequence
from typing import Any

from sigservice.db import Connection, Row, execute, execute_batches, fetch_all, fetch_one, queries

_SQL = queries.load("projects/strategy_types")


def list_all(conn: Connection) -> list[Row]:
    """By sort order. `parameters` is JSON text."""
    return fetch_all(conn, _SQL["list_strategy_types"], name=None)


def find(conn: Connection, name: str) -> Row | None:
    return fetch_one(conn, _SQL["list_strategy_types"], name=name)


def put(conn: Connection, items: Sequence[Any]) -> None:
    """Inserts or replaces the types, which are encoded as JSON."""
    execute_batches(conn, _SQL["put_strategy_types"], items)


def delete(conn: Connection, name: str) -> None:
    execute(conn, _SQL["delete_strategy_type"], name=name)


def list_flags(conn: Connection, name: str) -> list[str]:
    """Up to five flags that use the type."""
    return [
        row["feature"] for row in fetch_all(conn, _SQL["list_flags_of_strategy_type"], name=name)
    ]


def list_projects(conn: Connection, name: str) -> list[str]:
    """Up to five projects with a default strategy of the type."""
    return [
        row["project"] for row in fetch_all(conn, _SQL["list_projects_of_strategy_type"], name=name)
    ]
