"""When flags were reported last: one function for each SQL statement."""

from __future__ import annotations

from sigservice.db import queries
from sigservice.db.pool import Connection
from sigservice.db.statements import execute

_SQL = queries.load("usage/feature_last_seen")


def mark(conn: Connection, *, features: list[str], environments: list[str]) -> int:
    """How many pairs of flag and environment were written; the lists have the same length."""
    return execute(conn, _SQL["mark_features_seen"], features=features, environments=environments)


def delete_orphaned(conn: Connection, *, chunk: int) -> int:
    return execute(conn, _SQL["delete_orphaned_last_seen"], chunk=chunk)
