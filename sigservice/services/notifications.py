"""Telling people: a message is written with the run that it tells of, and sent by a job."""

from __future__ import annotations

from sigservice.db.pool import Connection
from sigservice.repository import notifications


def enqueue(conn: Connection, run_ids: list[int]) -> None:
    """For runs that have ended, or were suppressed."""
    if run_ids:
        notifications.insert_of_runs(conn, run_ids)
