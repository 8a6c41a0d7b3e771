"""Guards of releases: one function for each SQL statement."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import msgspec

from sigservice.db import Connection, Row, execute, fetch_all, queries

_SQL = queries.load("releases/release_guards")


def insert_many(
    conn: Connection, release_id: int, items: Sequence[dict[str, Any]], now: datetime
) -> None:
    """Items of the columns that differ between guards, with those of the alert `rule` of each."""
    text = msgspec.json.encode(items).decode()
    execute(conn, _SQL["insert_guards"], release_id=release_id, items=text, now=now)


def replace(conn: Connection, release_id: int, positions: Mapping[int, int]) -> None:
    """Keeps the guards of these IDs at their new positions, and deletes the others."""
    execute(conn, _SQL["lock_guards"], release_id=release_id)
    text = msgspec.json.encode({str(id): position for id, position in positions.items()}).decode()
    execute(conn, _SQL["replace_guards"], release_id=release_id, positions=text)


def list_releases_of_rules(conn: Connection, rule_ids: Sequence[int]) -> list[Row]:
    """{rule_id, release_id} of the releases whose guards have these rules."""
    return fetch_all(conn, _SQL["list_releases_of_rules"], rule_ids=list(rule_ids))


def list_of_endpoints(conn: Connection, endpoint_ids: Sequence[int]) -> list[Row]:
    """{id, release_id, endpoint_id, endpoint, definition} of signal guards of active releases."""
    return fetch_all(conn, _SQL["list_signal_guards"], endpoint_ids=list(endpoint_ids))


def list_recent_signals(
    conn: Connection,
    endpoint_id: int,
    *,
    time: timedelta,
    since: datetime | None,
    limit: int,
    max_bytes: int,
) -> list[Row]:
    return fetch_all(
        conn,
        _SQL["list_recent_signals"],
        endpoint_id=endpoint_id,
        time=time,
        since=since,
        limit=limit,
        max_bytes=max_bytes,
    )


def list_endpoints(conn: Connection, ids: Sequence[int]) -> dict[int, Row]:
    """{id, name, enabled, template, options, now} by ID."""
    return {row["id"]: row for row in fetch_all(conn, _SQL["list_endpoints"], ids=list(ids))}
