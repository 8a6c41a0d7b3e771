"""Context fields: one function for each SQL statement."""

from typing import TypedDict, Unpack

from sigservice.db import queries
from sigservice.db.pool import Connection
from sigservice.db.statements import Row, execute, fetch_all

_SQL = queries.load("projects/context_fields")


class ContextFieldValues(TypedDict):
    """The columns that are written; `legal_values` is JSON text."""

    description: str | None
    stickiness: bool
    sort_order: int
    legal_values: str


def list_all(conn: Connection, name: str | None = None) -> list[Row]:
    """By sort order; only the one with this name, if given. `legal_values` is JSON text."""
    return fetch_all(conn, _SQL["list_context_fields"], name=name)


def list_strategies(conn: Connection, name: str) -> list[Row]:
    """{id, project, feature, strategy, environment} of each strategy that uses the field."""
    return fetch_all(conn, _SQL["list_strategies_of_context_field"], name=name)


def insert(conn: Connection, *, name: str, **values: Unpack[ContextFieldValues]) -> None:
    """Raises UniqueViolation if the name exists."""
    execute(conn, _SQL["insert_context_field"], name=name, **values)


def update(conn: Connection, name: str, **values: Unpack[ContextFieldValues]) -> None:
    execute(conn, _SQL["update_context_field"], name=name, **values)


def delete(conn: Connection, name: str) -> None:
    execute(conn, _SQL["delete_context_field"], name=name)
