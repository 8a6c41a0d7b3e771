"""Segments: one function for each SQL statement."""

from sigservice.db import queries
from sigservice.db.pool import Connection
from sigservice.db.statements import Row, execute, fetch_all, fetch_one, fetch_value

_SQL = queries.load("flags/segments")


def insert(
    conn: Connection,
    *,
    name: str,
    description: str | None,
    project: str | None,
    constraints: str,
    created_by: str,
    created_by_user_id: int,
) -> Row:
    """`constraints` is JSON text. Raises UniqueViolation for an existing name."""
    row = fetch_one(
        conn,
        _SQL["insert_segment"],
        name=name,
        description=description,
        project=project,
        constraints=constraints,
        created_by=created_by,
        created_by_user_id=created_by_user_id,
    )
    assert row is not None
    return row


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


def update(
    conn: Connection,
    id: int,
    *,
    name: str,
    description: str | None,
    project: str | None,
    constraints: str,
) -> Row:
    """Raises UniqueViolation for an existing name."""
    row = fetch_one(
        conn,
        _SQL["update_segment"],
        id=id,
        name=name,
        description=description,
        project=project,
        constraints=constraints,
    )
    assert row is not None
    return row


def delete(conn: Connection, id: int) -> None:
    execute(conn, _SQL["delete_segment"], id=id)
