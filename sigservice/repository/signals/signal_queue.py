"""The queue of signals: one function for each SQL statement."""

from __future__ import annotations

from sigservice.db import queries
from sigservice.db.pool import Connection
from sigservice.db.statements import Row, execute, fetch_all

_SQL = queries.load("signals/signal_queue")


def list_oldest(conn: Connection, *, limit: int, most_bytes: int) -> list[Row]:
    """At least one if there is any. The payload is None when the signal is gone."""
    return fetch_all(conn, _SQL["list_queued_signals"], limit=limit, most_bytes=most_bytes)


def delete(conn: Connection, ids: list[int]) -> int:
    """How many of them were still there."""
    return execute(conn, _SQL["delete_queued_signals"], ids=ids)


def insert_verdicts(conn: Connection, signal_ids: list[int], verdicts: list[str]) -> None:
    """`verdicts` are JSON, in the order of the ids."""
    execute(conn, _SQL["insert_verdicts"], signal_ids=signal_ids, verdicts=verdicts)


def list_verdicts(conn: Connection, signal_ids: list[int]) -> list[Row]:
    """{signal_id, verdicts}, None for a signal that still waits."""
    return fetch_all(conn, _SQL["list_verdicts"], signal_ids=signal_ids)


def delete_orphaned_verdicts(conn: Connection, chunk: int) -> int:
    return execute(conn, _SQL["delete_orphaned_verdicts"], chunk=chunk)
