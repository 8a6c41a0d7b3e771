"""Guards of releases: one function for each SQL statement."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import msgspec

from sigservice.db import Connection, Row, execute, fetch_all, fetch_one, fetch_value, queries

_SQL = queries.load("releases/release_guards")


def insert_many(
    conn: Connection, release_id: int, items: Sequence[dict[str, Any]], now: datetime
) -> None:
    """Items of the columns that differ between guards."""
    text = msgspec.json.encode(items).decode()
    execute(conn, _SQL["insert_guards"], release_id=release_id, items=text, now=now)


def replace(conn: Connection, release_id: int, positions: Mapping[int, int]) -> None:
    """Keeps the guards of these IDs at their new positions, and deletes the others."""
    execute(conn, _SQL["lock_guards"], release_id=release_id)
    text = msgspec.json.encode({str(id): position for id, position in positions.items()}).decode()
    execute(conn, _SQL["replace_guards"], release_id=release_id, positions=text)


def update_many(conn: Connection, items: Sequence[Any]) -> None:
    execute(conn, _SQL["update_guards"], items=msgspec.json.encode(items).decode())


def lock_evaluation(conn: Connection) -> bool:
    """False while another process evaluates rules. Lasts until the end of the transaction."""
    return bool(fetch_value(conn, _SQL["lock_evaluation"]))


def list_due_rules(
    conn: Connection, now: datetime, *, too_slow: str, limit: int | None = None
) -> list[Row]:
    """Those with the reason `too_slow` last."""
    return fetch_all(conn, _SQL["list_due_rules"], now=now, too_slow=too_slow, limit=limit)


def save_readings(conn: Connection, items: Sequence[Any], until: datetime | None = None) -> None:
    """With `until` only the guards whose query is leased until then."""
    text = msgspec.json.encode(items).decode()
    execute(conn, _SQL["save_readings"], items=text, until=until)


def lease_due_queries(
    conn: Connection, now: datetime, until: datetime, busy: Sequence[str]
) -> list[Row]:
    """{id, release_id, definition, covers_to, feature, environment, project} of the guards whose
    query must be sent, except to the sources `busy`; they are due again at `until`."""
    return fetch_all(conn, _SQL["lease_due_queries"], now=now, until=until, busy=list(busy))


def list_leased_queries(conn: Connection, ids: Sequence[int], until: datetime) -> list[Row]:
    """Those of the guards that were not leased again."""
    return fetch_all(conn, _SQL["list_leased_queries"], ids=list(ids), until=until)


def return_queries(conn: Connection, ids: Sequence[int], until: datetime, now: datetime) -> None:
    """The queries of those of the guards that were not leased again are due `now`."""
    execute(conn, _SQL["return_queries"], ids=list(ids), until=until, now=now)


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


def find_endpoint(conn: Connection, id: int) -> Row | None:
    """{id, name, enabled, template, options, silence}; silence is the state of one that expects
    signals."""
    return fetch_one(conn, _SQL["find_endpoint"], id=id)
