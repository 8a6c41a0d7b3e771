"""Tag types: one function for each SQL statement."""

from collections.abc import Sequence
from typing import Any

from sigservice.db import Connection, Row, execute, execute_batches, fetch_all, fetch_one, queries

_SQL = queries.load("projects/tag_types")


def list_all(conn: Connection) -> list[Row]:
    """By name."""
    return fetch_all(conn, _SQL["list_tag_types"], name=None)


def find(conn: Connection, name: str) -> Row | None:
    return fetch_one(conn, _SQL["list_tag_types"], name=name)


def put(conn: Connection, items: Sequence[Any]) -> None:
    """Inserts or replaces the types, which are encoded as JSON."""
    execute_batches(conn, _SQL["put_tag_types"], items)


def delete(conn: Connection, name: str) -> None:
    execute(conn, _SQL["delete_tag_type"], name=name)
