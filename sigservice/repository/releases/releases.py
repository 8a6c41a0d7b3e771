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
    fetch_one,
    fetch_row,
    fetch_value,
    queries,
)

_SQL = queries.load("releases/releases")
MAX_LISTED = 1000


def insert(conn: Connection, **columns: Any) -> int:
    """`plan`, `warnings` and `items`, the columns of its guards, are JSON text."""
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


def list_moving_states(conn: Connection) -> list[Row]:
    """{feature, environment, state, rollout} of all releases that are running or held."""
    return fetch_all(conn, _SQL["list_moving_states"])


def count_by_state(conn: Connection, project: str | None = None) -> dict[str, int]:
    rows = fetch_all(conn, _SQL["count_releases"], project=project)
    return {row["state"]: row["count"] for row in rows}


def list_active(conn: Connection, ids: Sequence[int] | None, now: datetime | None) -> list[Row]:
    """What decisions need of all releases that have not ended; of any state with `ids`. `now` is
    that of the rows, by the clock of the database if it is None."""
    values = None if ids is None else list(ids)
    return fetch_all(conn, _SQL["list_active_releases"], ids=values, now=now)


def find_news(conn: Connection, now: datetime | None, since: datetime | None) -> Row:
    """{generation, emergency, now, has_active, is_due, running_count, held_count}, by the clock of
    the database if `now` is None."""
    return fetch_row(conn, _SQL["find_release_news"], now=now, since=since)


def save(
    conn: Connection,
    release: dict[str, Any] | None,
    guards: Sequence[dict[str, Any]],
) -> None:
    """The columns that change of a release and of its guards."""
    items = {"release": release or {}, "guards": guards}
    texts = {name: msgspec.json.encode(item).decode() for name, item in items.items()}
    execute(conn, _SQL["save_release"], **texts)


def list_events(conn: Connection, release_id: int) -> list[Row]:
    """Those of the audit log, oldest first."""
    return fetch_all(conn, _SQL["list_release_events"], release_id=release_id)


def list_guard_events(conn: Connection, release_id: int) -> list[Row]:
    """{guard_id, type, created_at}, oldest first."""
    return fetch_all(conn, _SQL["list_guard_events"], release_id=release_id)


def read_time(conn: Connection, now: datetime | None) -> datetime:
    """Of the transaction, by the clock of the database if `now` is None."""
    moment: datetime = fetch_value(conn, _SQL["read_time"], now=now)
    return moment


def find_propagation_seconds(conn: Connection, environment: str) -> int:
    """The seconds until every SDK of the environment has a change."""
    return int(fetch_value(conn, _SQL["find_propagation_seconds"], environment=environment))


def find_surroundings(
    conn: Connection, *, project: str, feature: str, environment: str, now: datetime | None
) -> Row | None:
    """{now, propagation_seconds, is_archived, is_enabled, has_active}."""
    values = {"project": project, "feature": feature, "environment": environment, "now": now}
    return fetch_one(conn, _SQL["find_surroundings"], **values)


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
