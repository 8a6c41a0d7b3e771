"""Releases: one function for each SQL statement."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec

from sigservice.db import (
    Connection,
    Row,
    execute,
    fetch_all,
    fetch_all_prepared,
    fetch_one,
    fetch_one_prepared,
    fetch_value,
    queries,
)

_SQL = queries.load("releases/releases")
MAX_LISTED = 1000


def insert(conn: Connection, **columns: Any) -> int:
    """`plan` and `warnings` are JSON text."""
    return int(fetch_value(conn, _SQL["insert_release"], **columns))


def list_newest(
    conn: Connection,
    *,
    id: int | None = None,
    feature: str | None = None,
    environment: str | None = None,
    project: str | None = None,
    text: str | None = None,
    states: Sequence[str] | None = None,
    last_ended_after: datetime | None = None,
    limit: int = MAX_LISTED,
) -> list[Row]:
    """`text` is a part of the name of the flag, in any case. With `last_ended_after`, those that
    ended after it and that no newer release of the flag follows there."""
    return fetch_all(
        conn,
        _SQL["list_releases"],
        id=id,
        feature=feature,
        environment=environment,
        project=project,
        text=text,
        states=None if states is None else list(states),
        last_ended_after=last_ended_after,
        limit=limit,
    )


def count_by_state(conn: Connection) -> dict[str, int]:
    return {row["state"]: row["count"] for row in fetch_all(conn, _SQL["count_releases"])}


def lock(conn: Connection, ids: Sequence[int]) -> None:
    """No other transaction changes these releases."""
    execute(conn, _SQL["lock_releases"], ids=list(ids))


def list_active(conn: Connection, ids: Sequence[int] | None = None) -> list[Row]:
    """What decisions need of all releases that have not ended; of any state with `ids`."""
    values = None if ids is None else list(ids)
    return fetch_all_prepared(conn, _SQL["list_active_releases"], ids=values)


def find_news(conn: Connection, *, since: datetime | None) -> Row:
    """{generation, emergency, now, has_active, is_due, running_count, held_count}."""
    row = fetch_one_prepared(conn, _SQL["find_release_news"], since=since)
    assert row is not None
    return row


def update(conn: Connection, item: Any) -> None:
    """`item` has the columns that change."""
    execute(conn, _SQL["update_release"], item=msgspec.json.encode(item).decode())


def list_events(conn: Connection, release_id: int) -> list[Row]:
    """Those of the audit log, oldest first."""
    return fetch_all(conn, _SQL["list_release_events"], release_id=release_id)


def list_guard_events(conn: Connection, release_ids: Sequence[int], since: datetime) -> list[Row]:
    """{guard_id, type, created_at}, oldest first, with the last one before `since`."""
    sql = _SQL["list_guard_events"]
    return fetch_all(conn, sql, release_ids=list(release_ids), since=since)


def read_time(conn: Connection) -> datetime:
    """Of the transaction, by the clock of the database."""
    moment: datetime = fetch_value(conn, _SQL["read_time"])
    return moment


def find_poll_interval(conn: Connection, environment: str) -> int | None:
    return fetch_value(conn, _SQL["find_poll_interval"], environment=environment)


def find_last_editor(conn: Connection, feature: str, environment: str) -> Row | None:
    """{created_by, created_by_user_id}."""
    return fetch_one(conn, _SQL["find_last_editor"], feature=feature, environment=environment)


def store_poll_intervals(conn: Connection, items: Sequence[dict[str, Any]]) -> None:
    """Items of {environment, seconds}, each once."""
    execute(conn, _SQL["store_poll_intervals"], items=msgspec.json.encode(items).decode())


def delete_old(conn: Connection, *, days: int, chunk: int) -> int:
    """Deletes releases that ended so long ago."""
    return execute(conn, _SQL["delete_old_releases"], days=days, chunk=chunk)


def delete_old_poll_intervals(conn: Connection) -> int:
    return execute(conn, _SQL["delete_old_poll_intervals"])
