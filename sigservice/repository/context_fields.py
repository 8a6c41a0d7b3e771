"""Context fields: one function for each statement of sql/queries/context_fields.sql."""

from __future__ import annotations

from sigservice.db import queries
from sigservice.db.pool import Connection
from sigservice.db.run import Row, many

_SQL = queries.load("context_fields")


def list_all(conn: Connection, name: str | None = None) -> list[Row]:
    """In their order; only the one that is named, if one is. `legal_values` is JSON text."""
    return many(conn, _SQL["list_context_fields"], name=name)
