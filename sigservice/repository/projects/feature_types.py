"""Flag types: one function for each SQL statement."""

from collections.abc import Sequence
from typing import Any

from sigservice.db import Connection, Row, execute_batches, fetch_all, fetch_one, queries

_SQL = queries.load("projects/feature_types")


def list_all(conn: Connection) -> list[Row]:
    return fetch_all(conn, _SQL["list_feature_types"], id=None)


def find(conn: Connection, id: str) -> Row | None:
    return fetch_one(conn, _SQL["list_feature_types"], id=id)


def put(conn: Connection, items: Sequence[Any]) -> None:
    """Sets the lifetimes of existing types."""
    execute_batches(conn, _SQL["put_feature_types"], items)
