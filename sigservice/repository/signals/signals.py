"""Signals: one function for each SQL statement. Payloads are JSON text.

A page of signals ends early when its payloads exceed PAGE_BYTES; see is_truncated.
"""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

import msgspec

from sigservice.db import (
    Connection,
    Row,
    execute,
    fetch_all,
    fetch_one,
    fetch_row,
    fetch_value,
    queries,
)

_SQL = queries.load("signals/signals")
NO_TOKEN = 0  # the token_id of signals from users, because the column is NOT NULL
SERVICE_NAME = "sigservice"  # the sender of the service's own signals
PAGE_BYTES = 8_000_000


class SearchWindow(NamedTuple):
    """How many signals, and bytes of their payloads, one search covers; the first limit counts."""

    rows: int
    bytes: int


SEARCH_WINDOW = SearchWindow(10_000, 16_000_000)


@dataclass(frozen=True)
class LogPart:
    """The signals that are searched; None doesn't restrict."""

    endpoint_id: int
    token_id: int | None
    from_time: datetime | None
    to_time: datetime | None


class NewSignal(NamedTuple):
    """`version` is the version of the endpoint's settings, `size` the number of bytes that the
    sender sent as the payload, `key` identifies repeated deliveries. An `is_awaited` signal may end
    the alert of a rule on silence."""

    endpoint_id: int
    version: int
    token_id: int
    payload: str
    size: int
    key: uuid.UUID | None = None
    is_awaited: bool = False


def insert_all(conn: Connection, signals: Sequence[NewSignal]) -> list[Row | None]:
    """The stored signals, without payload, in the order of `signals`.

    None stands for a signal whose endpoint or token has changed since. `created_at` is None if
    another signal has the key."""
    items = [
        {
            "position": position,
            "endpoint_id": signal.endpoint_id,
            "version": signal.version,
            "token_id": signal.token_id,
            "payload": signal.payload,
            "payload_bytes": signal.size,
            "idempotency_key": signal.key,
        }
        for position, signal in enumerate(signals)
    ]
    text = msgspec.json.encode(items).decode()
    rows: list[Row | None] = [None] * len(signals)
    for row in fetch_all(conn, _SQL["insert_signals"], signals=text):
        rows[row.pop("position")] = row
    return rows


def find_by_key(
    conn: Connection, endpoint_id: int, key: uuid.UUID, window_hours: int
) -> Row | None:
    """The signal with its payload and `is_expired`, whether the window of the key is over."""
    return fetch_one(
        conn,
        _SQL["find_signal_by_key"],
        endpoint_id=endpoint_id,
        idempotency_key=str(key),
        window_hours=window_hours,
    )


def release_key(conn: Connection, id: int) -> None:
    execute(conn, _SQL["release_key"], id=id)


def insert_by_user(
    conn: Connection,
    endpoint_id: int,
    *,
    payload: str,
    payload_bytes: int,
    sent_by: str,
    replay_of: int | None,
) -> Row:
    return fetch_row(
        conn,
        _SQL["insert_signal_by_user"],
        endpoint_id=endpoint_id,
        token_id=NO_TOKEN,
        payload=payload,
        payload_bytes=payload_bytes,
        sent_by=sent_by,
        replay_of=replay_of,
    )


def insert_own(conn: Connection, signals: Sequence[tuple[int, bytes]]) -> dict[int, int]:
    """Stores signals of the service, (endpoint_id, payload in JSON), in their order. Returns the ID
    of the newest signal of each endpoint."""
    items = [{"endpoint_id": id, "payload": msgspec.Raw(payload)} for id, payload in signals]
    rows = fetch_all(
        conn,
        _SQL["insert_own_signals"],
        signals=msgspec.json.encode(items).decode(),
        token_id=NO_TOKEN,
        sent_by=SERVICE_NAME,
    )
    return {row["endpoint_id"]: row["id"] for row in rows}


def list_for_endpoint(
    conn: Connection,
    endpoint_id: int,
    token_id: int | None = None,
    *,
    before: int | None,
    limit: int,
    offset: int = 0,
) -> list[Row]:
    """Of one of its tokens if `token_id` is given."""
    of_endpoint, of_token = _SQL["list_signals_for_endpoint"], _SQL["list_signals_for_token"]
    return fetch_all(
        conn,
        of_endpoint if token_id is None else of_token,
        endpoint_id=endpoint_id,
        token_id=token_id,
        before=before,
        limit=limit,
        offset=offset,
        page_bytes=PAGE_BYTES,
    )


def is_truncated(rows: list[Row]) -> bool:
    """Whether the page ended at its size limit, so that more rows may follow."""
    return bool(rows) and rows[-1]["bytes"] >= PAGE_BYTES


def find_search_end(
    conn: Connection, part: LogPart, *, before: int | None, window: SearchWindow | None = None
) -> tuple[int, bool]:
    """The oldest ID that one search covers, and whether older signals may exist. The window is
    SEARCH_WINDOW by default."""
    rows, bytes = window or SEARCH_WINDOW
    limits = {"before": before, "window_rows": rows, "window_bytes": bytes}
    row = fetch_row(conn, _SQL["find_search_end"], **limits, **vars(part))
    return row["oldest_id"] or 0, bool(row["has_more"])


def search(
    conn: Connection,
    part: LogPart,
    *,
    pattern: str | None,
    before: int | None,
    oldest_id: int,
    limit: int,
) -> list[Row]:
    """`pattern` is a LIKE pattern; find_search_end returns `oldest_id`."""
    page = {"pattern": pattern, "before": before, "oldest_id": oldest_id, "limit": limit}
    return fetch_all(conn, _SQL["search_signals"], **page, **vars(part))


def find(conn: Connection, endpoint_id: int, id: int) -> Row | None:
    return fetch_one(conn, _SQL["find_signal"], endpoint_id=endpoint_id, id=id)


def list_all(
    conn: Connection,
    *,
    from_time: datetime | None,
    to_time: datetime | None,
    before: int | None,
    limit: int,
    offset: int = 0,
) -> list[Row]:
    return fetch_all(
        conn,
        _SQL["list_signals"],
        from_time=from_time,
        to_time=to_time,
        before=before,
        limit=limit,
        offset=offset,
        page_bytes=PAGE_BYTES,
    )


def count(
    conn: Connection, *, from_time: datetime | None, to_time: datetime | None, limit: int
) -> int:
    return int(
        fetch_value(conn, _SQL["count_signals"], from_time=from_time, to_time=to_time, limit=limit)
    )


def count_for_endpoint(conn: Connection, endpoint_id: int, *, limit: int) -> int:
    return int(
        fetch_value(conn, _SQL["count_signals_for_endpoint"], endpoint_id=endpoint_id, limit=limit)
    )


def list_last(conn: Connection) -> list[Row]:
    """{id, endpoint_id, payload, created_at} of the newest signal of each endpoint that has one."""
    return fetch_all(conn, _SQL["list_last_signals"])


def find_last_received(conn: Connection) -> dict[int, datetime]:
    """When each token was last used, by its ID."""
    rows = fetch_all(conn, _SQL["find_last_received"])
    return {row["token_id"]: row["created_at"] for row in rows}


def count_by_hour(conn: Connection) -> list[Row]:
    """{endpoint_id, hours_ago, signals} of the last 24 hours."""
    return fetch_all(conn, _SQL["count_signals_by_hour"])


def lock_old(conn: Connection, *, days: int, chunk: int) -> list[int]:
    """IDs of signals to delete, which stay locked until the end of the transaction. Skips those
    that another process has locked."""
    rows = fetch_all(conn, _SQL["lock_old_signals"], days=days, chunk=chunk)
    return [row["id"] for row in rows]


def list_endpoint_ids(conn: Connection) -> list[Row]:
    """{endpoint_id, is_deleted} of each endpoint that has signals."""
    return fetch_all(conn, _SQL["list_endpoint_ids_with_signals"])


def lock_surplus(conn: Connection, endpoint_id: int, *, keep: int, chunk: int) -> list[int]:
    """Like `lock_old`, of the signals of an endpoint beyond the newest `keep` ones."""
    rows = fetch_all(
        conn, _SQL["lock_surplus_signals"], endpoint_id=endpoint_id, keep=keep, chunk=chunk
    )
    return [row["id"] for row in rows]


def list_by_ids(conn: Connection, ids: list[int]) -> list[Row]:
    return fetch_all(conn, _SQL["list_signals_by_id"], ids=ids)


def delete_by_ids(conn: Connection, ids: list[int]) -> int:
    return execute(conn, _SQL["delete_signals"], ids=ids)
