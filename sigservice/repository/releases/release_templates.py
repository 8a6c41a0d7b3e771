"""Templates of releases: one function for each SQL statement."""

from typing import Any

from sigservice.db import queries
from sigservice.db.pool import Connection
from sigservice.db.statements import Row, execute, fetch_all

_SQL = queries.load("releases/release_templates")


def lock(conn: Connection) -> None:
    execute(conn, _SQL["lock_release_templates"])


def list_all(conn: Connection) -> list[Row]:
    return fetch_all(conn, _SQL["list_release_templates"])


def put(conn: Connection, **columns: Any) -> None:
    """`steps` is JSON text."""
    execute(conn, _SQL["put_release_template"], **columns)


def delete(conn: Connection, name: str) -> bool:
    """False if there is none."""
    return execute(conn, _SQL["delete_release_template"], name=name) > 0
