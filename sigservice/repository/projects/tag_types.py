"""Tag types: one function for each SQL statement."""

from sigservice.db import queries
from sigservice.db.pool import Connection
from sigservice.db.statements import Row, execute, fetch_all

_SQL = queries.load("projects/tag_types")


def list_all(conn: Connection, name: str | None = None) -> list[Row]:
    """By name; only the one with this name, if given."""
    return fetch_all(conn, _SQL["list_tag_types"], name=name)


def insert(
    conn: Connection, *, name: str, description: str | None, icon: str | None, color: str | None
) -> None:
    """Raises UniqueViolation if the name exists."""
    execute(
        conn, _SQL["insert_tag_type"], name=name, description=description, icon=icon, color=color
    )


def update(
    conn: Connection, name: str, *, description: str | None, icon: str | None, color: str | None
) -> None:
    execute(
        conn, _SQL["update_tag_type"], name=name, description=description, icon=icon, color=color
    )


def delete(conn: Connection, name: str) -> None:
    execute(conn, _SQL["delete_tag_type"], name=name)
