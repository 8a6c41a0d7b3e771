"""Statistics: one function for each SQL statement."""

from sigservice.db import Connection, Row, fetch_row, queries

_SQL = queries.load("usage/statistics")


def count_everything(conn: Connection) -> Row:
    return fetch_row(conn, _SQL["count_everything"])


def count_for_metrics(conn: Connection, reported: list[str]) -> Row:
    """`reported` are the flags that SDKs evaluate; `projects` and `environment_types` are JSON."""
    return fetch_row(conn, _SQL["count_for_metrics"], reported=reported)
