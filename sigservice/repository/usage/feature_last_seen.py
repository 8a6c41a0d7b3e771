"""When flags were last evaluated: one function for each SQL statement."""

from sigservice.db import queries
from sigservice.db.pool import Connection
from sigservice.db.statements import execute

_SQL = queries.load("usage/feature_last_seen")


def delete_orphaned(conn: Connection, *, chunk: int) -> int:
    return execute(conn, _SQL["delete_orphaned_last_seen"], chunk=chunk)
