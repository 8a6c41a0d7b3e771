"""Messages: one function for each statement of sql/queries/notifications.sql."""

from __future__ import annotations

from sigservice.db import queries
from sigservice.db.pool import Connection
from sigservice.db.run import affected

_SQL = queries.load("notifications")


def insert_of_runs(conn: Connection, run_ids: list[int]) -> int:
    """One for each channel that wants to know of the runs' states; how many."""
    return affected(conn, _SQL["insert_notifications"], run_ids=run_ids)
