"""Statistics: one function for each SQL statement."""

from sigservice.db import Connection, Row, fetch_one, fetch_one_prepared, queries

_SQL = queries.load("usage/statistics")


def count_everything(conn: Connection) -> Row:
    row = fetch_one(conn, _SQL["count_everything"])
    assert row is not None
    return row


def count_for_metrics(conn: Connection, reported: list[str]) -> Row:
    """`reported` are the flags that SDKs evaluate; `projects` and `environment_types` are JSON."""
    row = fetch_one_prepared(conn, _SQL["count_for_metrics"], reported=reported)
    assert row is not None
    return row
