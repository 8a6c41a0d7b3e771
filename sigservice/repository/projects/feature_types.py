"""Feature types: the one statement of sql/queries/projects/feature_types.sql."""

from sigservice.db import queries
from sigservice.db.pool import Connection
from sigservice.db.statements import Row, fetch_all

_SQL = queries.load("projects/feature_types")


def list_all(conn: Connection) -> list[Row]:
    return fetch_all(conn, _SQL["list_feature_types"])
