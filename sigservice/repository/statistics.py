"""Statistics: one function for each statement of sql/queries/statistics.sql."""

from __future__ import annotations

from sigservice.db import queries
from sigservice.db.pool import Connection
from sigservice.db.run import Row, one

_SQL = queries.load("statistics")


def count_everything(conn: Connection) -> Row:
    row = one(conn, _SQL["count_everything"])
    assert row is not None
    return row
