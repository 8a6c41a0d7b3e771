"""Projects: one function for each statement of sql/queries/projects.sql."""

from __future__ import annotations

from sigservice.db import queries
from sigservice.db.pool import Connection
from sigservice.db.run import Row, many, one

_SQL = queries.load("projects")


def find(conn: Connection, id: str) -> Row | None:
    return one(conn, _SQL["find_project"], id=id)


def list_all(conn: Connection, id: str | None = None) -> list[Row]:
    """By name; only the one that is named, if one is."""
    return many(conn, _SQL["list_projects"], id=id)
