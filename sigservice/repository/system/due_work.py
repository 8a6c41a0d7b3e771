"""What the jobs have to do."""

from datetime import datetime

from sigservice.db import Connection, Row, fetch_one_prepared, queries

_SQL = queries.load("system/due_work")


def find(conn: Connection, now: datetime | None) -> Row:
    """{kind of work: whether there is some}, by the clock of the database if `now` is None."""
    row = fetch_one_prepared(conn, _SQL["find_due_work"], now=now)
    assert row is not None
    return row
