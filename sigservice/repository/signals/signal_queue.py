"""The evaluation queue: one function for each SQL statement."""

from sigservice.db import Connection, Row, execute, fetch_all, queries

_SQL = queries.load("signals/signal_queue")


def list_oldest(conn: Connection, *, limit: int, max_bytes: int) -> list[Row]:
    """At least one signal if any is queued. The payload is None if the signal was deleted."""
    return fetch_all(conn, _SQL["list_queued_signals"], limit=limit, max_bytes=max_bytes)


def list_results(conn: Connection, signal_ids: list[int]) -> list[Row]:
    """{signal_id, results}; results is None for a queued signal."""
    return fetch_all(conn, _SQL["list_results"], signal_ids=signal_ids)


def delete_orphaned_results(conn: Connection, chunk: int) -> int:
    return execute(conn, _SQL["delete_orphaned_results"], chunk=chunk)
