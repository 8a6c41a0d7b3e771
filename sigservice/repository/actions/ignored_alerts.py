"""Alerts that people ignore: one function for each SQL statement."""

from collections.abc import Sequence
from datetime import datetime

from sigservice.db import Connection, Row, execute, fetch_all, queries

_SQL = queries.load("actions/ignored_alerts")


def list_all(conn: Connection, sets: Sequence[int] | None = None) -> list[Row]:
    """With the project and the name of the set; of some sets, or of all."""
    return fetch_all(conn, _SQL["list_ignored_alerts"], sets=None if sets is None else [*sets])


def add(
    conn: Connection,
    action_set_id: int,
    run_id: int,
    correlation: str,
    *,
    created_by: str,
    created_at: datetime,
) -> None:
    execute(
        conn,
        _SQL["add_ignored_alert"],
        action_set_id=action_set_id,
        run_id=run_id,
        correlation=correlation,
        created_by=created_by,
        created_at=created_at,
    )


def delete(conn: Connection, action_set_id: int, correlation: str) -> bool:
    """False if the alert isn't ignored."""
    parameters = {"action_set_id": action_set_id, "correlation": correlation}
    return execute(conn, _SQL["delete_ignored_alert"], **parameters) > 0
