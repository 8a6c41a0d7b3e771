"""Segments: one function for each SQL statement."""

from collections.abc import Sequence
from typing import Any

import msgspec

from sigservice.db import (
    Connection,
    Row,
    execute,
    execute_batches,
    fetch_all,
    fetch_one,
    fetch_value,
    queries,
)

_SQL = queries.load("flags/segments")


def put(
    conn: Connection, items: Sequence[Any], *, created_by: str, created_by_user_id: int
) -> None:
    """Inserts or replaces segments by name; they are encoded as JSON."""
    author = {"created_by": created_by, "created_by_user_id": created_by_user_id}
    execute_batches(conn, _SQL["put_segments"], items, **author)


def count(conn: Connection) -> int:
    return int(fetch_value(conn, _SQL["count_segments"]))


def find(conn: Connection, id: int) -> Row | None:
    return fetch_one(conn, _SQL["list_segments_by_id"], ids=[id])


def find_by_name(conn: Connection, name: str) -> Row | None:
    return fetch_one(conn, _SQL["find_segment_by_name"], name=name)


def list_all(conn: Connection) -> list[Row]:
    """With used_in_features, used_in_projects and the first_features that use the segment."""
    return fetch_all(conn, _SQL["list_segments"])


def list_by_id(conn: Connection, ids: list[int]) -> list[Row]:
    return fetch_all(conn, _SQL["list_segments_by_id"], ids=ids)


def list_strategies(conn: Connection, id: int) -> list[Row]:
    """The strategies {id, feature, environment, name, project} that use the segment."""
    return fetch_all(conn, _SQL["list_segment_strategies"], id=id)


def list_default_strategies(conn: Connection, id: int) -> list[Row]:
    """The {project, environment} of the default strategies that use the segment."""
    return fetch_all(conn, _SQL["list_default_strategies_of_segment"], id=id)


def update(conn: Connection, id: int, item: Any) -> Row:
    """`item` is encoded as JSON. Raises UniqueViolation for an existing name."""
    text = msgspec.json.encode(item).decode()
    return fetch_all(conn, _SQL["update_segment"], id=id, item=text)[0]


def delete(conn: Connection, id: int) -> None:
    execute(conn, _SQL["delete_segment"], id=id)
