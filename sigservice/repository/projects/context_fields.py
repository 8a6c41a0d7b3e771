"""Context fields: one function for each SQL statement."""

from collections.abc import Sequence
from typing import Any

from sigservice.db import Connection, Row, execute, execute_batches, fetch_all, fetch_one, queries

_SQL = queries.load("projects/context_fields")


def list_all(conn: Connection) -> list[Row]:
    """By sort order. `legal_values` is JSON text."""
    return fetch_all(conn, _SQL["list_context_fields"])


def list_with_uses(conn: Connection) -> list[Row]:
    """As `list_all`, with `feature_count` and `project_count`."""
    return fetch_all(conn, _SQL["list_context_fields_with_uses"], name=None)


def find(conn: Connection, name: str) -> Row | None:
    """With `feature_count` and `project_count`."""
    return fetch_one(conn, _SQL["list_context_fields_with_uses"], name=name)


def list_strategies(conn: Connection, name: str) -> list[Row]:
    """{id, project, feature, strategy, environment} of each strategy that uses the field."""
    return fetch_all(conn, _SQL["list_strategies_of_context_field"], name=name)


def put(conn: Connection, items: Sequence[Any]) -> None:
    """Inserts or replaces the fields, which are encoded as JSON."""
    execute_batches(conn, _SQL["put_context_fields"], items)


def delete(conn: Connection, name: str) -> None:
    execute(conn, _SQL["delete_context_field"], name=name)
