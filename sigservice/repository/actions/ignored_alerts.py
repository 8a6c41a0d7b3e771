"""Alerts that people ignore: one function for each SQL statement."""

from typing import Any

import msgspec

from sigservice.db import queries
from sigservice.db.pool import Connection
from sigservice.db.statements import Row, execute, fetch_all

_SQL = queries.load("actions/ignored_alerts")


def list_of_sets(conn: Connection, sets: list[int]) -> list[Row]:
    """{action_set_id, value}: `value` is a JSON object of the alerts by key."""
    return fetch_all(conn, _SQL["list_ignored_alerts"], sets=sets)


def list_all(conn: Connection) -> list[Row]:
    """{action_set_id, project, name, value}."""
    return fetch_all(conn, _SQL["list_all_ignored_alerts"])


def add(conn: Connection, action_set_id: int, correlation: str, alert: dict[str, Any]) -> None:
    text = msgspec.json.encode({correlation: alert}).decode()
    execute(conn, _SQL["add_ignored_alert"], action_set_id=action_set_id, alert=text)


def delete(conn: Connection, action_set_id: int, correlation: str) -> bool:
    """False if the alert isn't ignored."""
    parameters = {"action_set_id": action_set_id, "correlation": correlation}
    return execute(conn, _SQL["delete_ignored_alert"], **parameters) > 0


def delete_of_set(conn: Connection, action_set_id: int) -> None:
    execute(conn, _SQL["delete_ignored_alerts"], action_set_id=action_set_id)
