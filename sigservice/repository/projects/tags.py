"""Tags: one function for each SQL statement."""

from sigservice.db import queries
from sigservice.db.pool import Connection
from sigservice.db.statements import Row, execute, fetch_all

_SQL = queries.load("projects/tags")


def list_all(conn: Connection, type: str | None = None, value: str | None = None) -> list[Row]:
    """{type, value, color} by type and value; only those with this type and value, if given."""
    return fetch_all(conn, _SQL["list_tags"], type=type, value=value)


def insert(conn: Connection, type: str, value: str) -> None:
    """Raises UniqueViolation if the tag exists."""
    execute(conn, _SQL["insert_tag"], type=type, value=value)


def delete(conn: Connection, type: str, value: str) -> bool:
    return execute(conn, _SQL["delete_tag"], type=type, value=value) > 0
