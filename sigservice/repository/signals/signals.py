"""Signals: one function for each SQL statement. Payloads are JSON text.

A page of signals ends early when its payloads exceed PAGE_BYTES (see is_cut).
"""

from __future__ import annotations

from datetime import datetime

from sigservice.db import queries
from sigservice.db.pool import Connection
from sigservice.db.statements import (
    Row,
    execute,
    fetch_all,
    fetch_one,
    fetch_one_prepared,
    fetch_value,
)

_SQL = queries.load("signals/signals")
SEARCH_ROWS = 20_000
SEARCH_BYTES = 16_000_000
PAGE_BYTES = 8_000_000


def insert(
    conn: Connection, *, endpoint_name: str, secret_hash: bytes, payload: str, payload_bytes: int
) -> Row | None:
    """None when the secret is none of this endpoint's or the endpoint is disabled."""
    return fetch_one_prepared(
        conn,
        _SQL["insert_signal"],
        endpoint_name=endpoint_name,
        secret_hash=secret_hash,
        payload=payload,
        payload_bytes=payload_bytes,
    )


def insert_of_person(
    conn: Connection,
    endpoint_id: int,
    *,
    payload: str,
    payload_bytes: int,
    sent_by: str,
    replay_of: int | None,
) -> Row:
    row = fetch_one(
        conn,
        _SQL["insert_signal_of_person"],
        endpoint_id=endpoint_id,
        payload=payload,
        payload_bytes=payload_bytes,
        sent_by=sent_by,
        replay_of=replay_of,
    )
    assert row is not None
    return row


def list_of_endpoint(
    conn: Connection, endpoint_id: int, *, before: int | None, limit: int, offset: int = 0
) -> list[Row]:
    return fetch_all(
        conn,
        _SQL["list_signals_of_endpoint"],
        endpoint_id=endpoint_id,
        before=before,
        limit=limit,
        offset=offset,
        page_bytes=PAGE_BYTES,
    )


def list_of_token(
    conn: Connection,
    endpoint_id: int,
    token_id: int,
    *,
    before: int | None,
    limit: int,
    offset: int = 0,
) -> list[Row]:
    return fetch_all(
        conn,
        _SQL["list_signals_of_token"],
        endpoint_id=endpoint_id,
        token_id=token_id,
        before=before,
        limit=limit,
        offset=offset,
        page_bytes=PAGE_BYTES,
    )


def is_cut(rows: list[Row]) -> bool:
    """Whether a page ended for its size, so that more may follow however few rows it has."""
    return bool(rows) and rows[-1]["bytes"] >= PAGE_BYTES


def find_search_end(
    conn: Connection, endpoint_id: int, *, token_id: int | None, before: int | None
) -> tuple[int, bool]:
    """The oldest id that one search looks at, and whether older signals may exist."""
    row = fetch_one(
        conn,
        _SQL["find_search_end"],
        endpoint_id=endpoint_id,
        token_id=token_id,
        before=before,
        window_rows=SEARCH_ROWS,
        window_bytes=SEARCH_BYTES,
    )
    return (int(row["until"]), bool(row["more"])) if row and row["until"] else (0, False)


def search(
    conn: Connection,
    endpoint_id: int,
    *,
    token_id: int | None,
    pattern: str,
    before: int | None,
    until: int,
    limit: int,
) -> list[Row]:
    """`pattern` is a LIKE pattern; see find_search_end for `until`."""
    return fetch_all(
        conn,
        _SQL["search_signals"],
        endpoint_id=endpoint_id,
        token_id=token_id,
        pattern=pattern,
        before=before,
        until=until,
        limit=limit,
    )


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
    conn: Connection, *, from_time: datetime | None, to_time: datetime | None, most: int
) -> int:
    return int(
        fetch_value(conn, _SQL["count_signals"], from_time=from_time, to_time=to_time, most=most)
    )


def count_of_endpoint(conn: Connection, endpoint_id: int, *, most: int) -> int:
    return int(
        fetch_value(conn, _SQL["count_signals_of_endpoint"], endpoint_id=endpoint_id, most=most)
    )


def list_last(conn: Connection) -> list[Row]:
    return fetch_all(conn, _SQL["list_last_signals"])


def count_by_hour(conn: Connection) -> list[Row]:
    return fetch_all(conn, _SQL["count_signals_by_hour"])


def delete_old(conn: Connection, *, days: int, chunk: int) -> int:
    return execute(conn, _SQL["delete_old_signals"], days=days, chunk=chunk)


def list_endpoint_ids(conn: Connection) -> list[Row]:
    """{endpoint_id, is_deleted} of each endpoint that has signals."""
    return fetch_all(conn, _SQL["list_endpoint_ids_with_signals"])


def delete_surplus(conn: Connection, endpoint_id: int, *, keep: int, chunk: int) -> int:
    return execute(
        conn, _SQL["delete_surplus_signals"], endpoint_id=endpoint_id, keep=keep, chunk=chunk
    )
