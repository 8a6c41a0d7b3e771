"""The evaluation queue: one function for each SQL statement."""

from collections.abc import Mapping
from typing import Any

import msgspec

from sigservice.db import Connection, Row, execute, fetch_all, fetch_value, queries

_SQL = queries.load("signals/signal_queue")


def list_oldest(conn: Connection, *, limit: int, max_bytes: int) -> list[Row]:
    """At least one signal if any is queued. The payload is None if the signal was deleted."""
    return fetch_all(conn, _SQL["list_queued_signals"], limit=limit, max_bytes=max_bytes)


def end(conn: Connection, results: Mapping[int, list[dict[str, Any]] | None]) -> int:
    """Deletes signals from the queue and stores their results. Returns how many were queued."""
    texts = [
        None if items is None else msgspec.json.encode(items).decode() for items in results.values()
    ]
    values = {"signal_ids": list(results), "results": texts}
    return int(fetch_value(conn, _SQL["end_queued_signals"], **values))


def list_results(conn: Connection, signal_ids: list[int]) -> list[Row]:
    """{signal_id, results}; results is None for a queued signal."""
    return fetch_all(conn, _SQL["list_results"], signal_ids=signal_ids)


def delete_orphaned_results(conn: Connection, chunk: int) -> int:
    return execute(conn, _SQL["delete_orphaned_results"], chunk=chunk)
