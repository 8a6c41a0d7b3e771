"""Notifications of runs: one function for each SQL statement."""

from sigservice.db import Connection, Row, execute, fetch_all, fetch_one, queries

_SQL = queries.load("actions/notifications")


def insert_of_runs(conn: Connection, run_ids: list[int]) -> int:
    """Returns how many: one for each channel that is notified of the run's state."""
    return execute(conn, _SQL["insert_notifications"], run_ids=run_ids)


def list_newest(conn: Connection, action_set_id: int, *, limit: int) -> list[Row]:
    return fetch_all(conn, _SQL["list_notifications"], action_set_id=action_set_id, limit=limit)


def find(conn: Connection, action_set_id: int, id: int) -> Row | None:
    return fetch_one(conn, _SQL["find_notification"], action_set_id=action_set_id, id=id)


def find_run(conn: Connection, id: int) -> Row | None:
    """The run of any action set."""
    return fetch_one(conn, _SQL["find_run_to_notify_of"], id=id)
