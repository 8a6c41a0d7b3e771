"""Alerts that people ignore: one function for each SQL statement."""

from collections.abc import Sequence

from sigservice.db import Connection, Row, execute, fetch_all, queries

_SQL = queries.load("actions/ignored_alerts")


def list_all(conn: Connection, sets: Sequence[int] | None = None) -> list[Row]:
    """With the project and the name of the set; of some sets, or of all."""
    return fetch_all(conn, _SQL["list_ignored_alerts"], sets=None if sets is None else [*sets])


def add(conn: Connection, run: Row, *, created_by: str) -> None:
    """`run` is a run of the alert."""
    columns = ("action_set_id", "correlation")
    parameters = {name: run[name] for name in columns} | {"run_id": run["id"]}
    execute(conn, _SQL["add_ignored_alert"], created_by=created_by, **parameters)


def delete(conn: Connection, action_set_id: int, correlation: str) -> bool:
    """False if the alert isn't ignored."""
    parameters = {"action_set_id": action_set_id, "correlation": correlation}
    return execute(conn, _SQL["delete_ignored_alert"], **parameters) > 0
