"""Numbers of a project: one function for each SQL statement."""

from sigservice.db import queries
from sigservice.db.pool import Connection
from sigservice.db.statements import Row, fetch_all, fetch_one

_SQL = queries.load("projects/project_status")


def count(conn: Connection, project: str) -> Row:
    """{features, stale, potentially_stale, api_tokens, segments}"""
    row = fetch_one(conn, _SQL["count_for_status"], project=project)
    assert row is not None
    return row


def count_events_by_day(conn: Connection, project: str) -> list[Row]:
    """{day, events} of the last year, oldest first."""
    return fetch_all(conn, _SQL["count_events_by_day"], project=project)
