"""Strategy types: one function for each SQL statement."""

from typing import TypedDict, Unpack

from sigservice.db import queries
from sigservice.db.pool import Connection
from sigservice.db.statements import Row, execute, fetch_all

_SQL = queries.load("projects/strategy_types")


class StrategyTypeValues(TypedDict):
    """The columns that are written; `parameters` is JSON text."""

    title: str | None
    description: str | None
    parameters: str


def list_all(conn: Connection, name: str | None = None) -> list[Row]:
    """By sort order; only the one with this name, if given. `parameters` is JSON text."""
    return fetch_all(conn, _SQL["list_strategy_types"], name=name)


def insert(conn: Connection, *, name: str, **values: Unpack[StrategyTypeValues]) -> None:
    """Raises UniqueViolation if the name exists."""
    execute(conn, _SQL["insert_strategy_type"], name=name, **values)


def update(
    conn: Connection, name: str, *, deprecated: bool, **values: Unpack[StrategyTypeValues]
) -> None:
    execute(conn, _SQL["update_strategy_type"], name=name, deprecated=deprecated, **values)


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
