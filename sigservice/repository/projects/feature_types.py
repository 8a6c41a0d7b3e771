"""Feature types: the one statement of sql/queries/projects/feature_types.sql."""

from __future__ import annotations

from sigservice.db import queries
from sigservice.db.pool import Connection
from sigservice.db.run import Row, many

_SQL = queries.load("projects/feature_types")


def list_all(conn: Connection) -> list[Row]:
    return many(conn, _SQL["list_feature_types"])
