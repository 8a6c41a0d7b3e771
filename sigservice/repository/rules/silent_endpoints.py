"""The signals of endpoints that rules on silence watch: one function for each SQL statement."""

from collections.abc import Collection
from datetime import datetime

from sigservice.db import Connection, Row, fetch_all, queries

_SQL = queries.load("rules/silent_endpoints")


def find_newest(conn: Connection, endpoint_ids: Collection[int]) -> dict[int, Row]:
    """{endpoint_id, id, created_at} of the newest signal of a sender, by the endpoint."""
    rows = fetch_all(conn, _SQL["find_newest_signals"], endpoint_ids=list(endpoint_ids))
    return {row["endpoint_id"]: row for row in rows}


def list_times(conn: Connection, endpoint_id: int, start: datetime) -> list[datetime]:
    """The time of the last signal of a sender in each ten minutes, oldest first."""
    rows = fetch_all(conn, _SQL["list_signal_times"], endpoint_id=endpoint_id, start=start)
    return [row["last_at"] for row in rows]
