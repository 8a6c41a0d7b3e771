"""Strategy types: one function for each statement of sql/queries/strategy_types.sql."""

from __future__ import annotations

from sigservice.db import queries
from sigservice.db.pool import Connection
from sigservice.db.run import Row, many

_SQL = queries.load("strategy_types")


def list_all(conn: Connection, name: str | None = None) -> list[Row]:
    """In their order; only the one that is named, if one is. `parameters` is JSON text."""
    return many(conn, _SQL["list_strategy_types"], name=name)
