"""Client metrics: one function for each statement of sql/queries/client_metrics.sql."""

from __future__ import annotations

from sigservice.db import queries
from sigservice.db.pool import Connection
from sigservice.db.run import Row, many

_SQL = queries.load("client_metrics")


def list_hours(conn: Connection, feature: str, hours: int) -> list[Row]:
    """{environment, hour, yes, no} of the hours that have any, oldest first."""
    return many(conn, _SQL["list_client_metrics_hours"], feature=feature, hours=hours)
