"""Tags: one function for each SQL statement."""

from collections.abc import Sequence
from typing import Any

from sigservice.db import Connection, Row, execute, execute_batches, fetch_all, fetch_one, queries

_SQL = queries.load("projects/tags")


def list_all(conn: Connection, type: str | None = None) -> list[Row]:
    """{type, value, color} by type and value; only of the type, if given."""
    return fetch_all(conn, _SQL["list_tags"], type=type, value=None)


def find(conn: Connection, type: str, value: str) -> Row | None:
    """{type, value, color}"""
    return fetch_one(conn, _SQL["list_tags"], type=type, value=value)


def put(conn: Connection, items: Sequence[Any]) -> None:
    """Inserts the tags, {type, value}, that don't exist."""
    execute_batches(conn, _SQL["put_tags"], items)


def delete(conn: Connection, type: str, value: str) -> bool:
    return execute(conn, _SQL["delete_tag"], type=type, value=value) > 0
