"""What the jobs have to do."""

from datetime import datetime

from sigservice.db import Connection, Row, fetch_row, queries

_SQL = queries.load("system/due_work")


def find(conn: Connection, now: datetime | None) -> Row:
    """{kind of work: whether there is some}, by the clock of the database if `now` is None."""
    return fetch_row(conn, _SQL["find_due_work"], now=now)
