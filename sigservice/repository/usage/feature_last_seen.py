"""When flags were last evaluated: one function for each SQL statement."""

from sigservice.db import queries
from sigservice.db.pool import Connection
from sigservice.db.statements import execute

_SQL = queries.load("usage/feature_last_seen")


def upsert(conn: Connection, *, features: list[str], environments: list[str]) -> int:
    """Returns how many pairs of flag and environment were written; both lists have one length."""
    return execute(conn, _SQL["upsert_last_seen"], features=features, environments=environments)


def delete_orphaned(conn: Connection, *, chunk: int) -> int:
    return execute(conn, _SQL["delete_orphaned_last_seen"], chunk=chunk)
