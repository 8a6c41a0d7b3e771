"""The states of endpoints that expect signals: one function for each SQL statement."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec

from sigservice.db import Connection, Row, execute, fetch_all, fetch_one, fetch_value, queries

_SQL = queries.load("signals/silence_checks")


def has_work(conn: Connection) -> bool:
    return bool(fetch_value(conn, _SQL["has_silence_work"]))


def list_work(conn: Connection) -> list[Row]:
    """Enabled endpoints with their rule (JSON, None if removed), check and newest signal."""
    return fetch_all(conn, _SQL["list_silence_work"])


def save(
    conn: Connection, checks: Sequence[dict[str, Any]], *, restarted_ids: Sequence[int]
) -> None:
    """`checks` are rows of the table; `restarted_ids` are endpoints whose wait was restarted."""
    text = msgspec.json.encode(checks).decode()
    execute(conn, _SQL["save_silence_checks"], checks=text, restarted_ids=list(restarted_ids))


def restart(conn: Connection, endpoint_id: int) -> None:
    """Makes the job restart the wait of an endpoint."""
    execute(conn, _SQL["restart_silence_check"], endpoint_id=endpoint_id)


def delete(conn: Connection, endpoint_ids: Sequence[int]) -> None:
    execute(conn, _SQL["delete_silence_checks"], endpoint_ids=list(endpoint_ids))


def find_all(conn: Connection, endpoint_id: int | None = None) -> dict[int, Row]:
    """The checks of all endpoints, or of one, by the endpoint's ID."""
    rows = fetch_all(conn, _SQL["list_silence_checks"], endpoint_id=endpoint_id)
    return {row["endpoint_id"]: row for row in rows}


def lock_clock(conn: Connection) -> Row | None:
    """{seconds, ticked_at}; None if another process has locked the row, or before `insert`."""
    return fetch_one(conn, _SQL["lock_silence_clock"])


def insert_clock(conn: Connection, *, now: datetime) -> None:
    """Does nothing if the row exists."""
    execute(conn, _SQL["insert_silence_clock"], now=now)


def update_clock(conn: Connection, *, seconds: float, now: datetime) -> None:
    execute(conn, _SQL["update_silence_clock"], seconds=seconds, now=now)
