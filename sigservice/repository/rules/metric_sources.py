"""Metric sources: one function for each SQL statement."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec

from sigservice.db import Connection, Row, execute, fetch_all, fetch_one, fetch_value, queries

_SQL = queries.load("rules/metric_sources")


def list_all(conn: Connection) -> list[Row]:
    """By name."""
    return fetch_all(conn, _SQL["list_metric_sources"], name=None)


def find(conn: Connection, name: str) -> Row | None:
    return fetch_one(conn, _SQL["list_metric_sources"], name=name)


def keep(conn: Connection, name: str) -> bool:
    """Whether the source exists; then nobody deletes it until the transaction ends."""
    return bool(fetch_value(conn, _SQL["keep_metric_source"], name=name))


def lock_all(conn: Connection) -> list[Row]:
    """By name, with `claimed_until`."""
    return fetch_all(conn, _SQL["lock_metric_sources"])


def claim(
    conn: Connection, names: Sequence[str], now: datetime, *, margin: int
) -> dict[str, datetime]:
    """The ends of the claims of those that were free."""
    rows = fetch_all(conn, _SQL["claim_metric_sources"], names=list(names), now=now, margin=margin)
    return {row["name"]: row["claimed_until"] for row in rows}


def renew_claim(
    conn: Connection, name: str, until: datetime, now: datetime, *, margin: int
) -> datetime | None:
    """The new end of the claim that ends at `until`, None if that has ended."""
    sql = _SQL["renew_metric_source_claim"]
    renewed: datetime | None = fetch_value(
        conn, sql, name=name, until=until, now=now, margin=margin
    )
    return renewed


def release(conn: Connection, name: str, until: datetime) -> None:
    execute(conn, _SQL["release_metric_source"], name=name, until=until)


def list_uses(conn: Connection) -> list[Row]:
    """{source, text}: what queries a source."""
    return fetch_all(conn, _SQL["list_metric_source_uses"])


def put(
    conn: Connection,
    name: str,
    *,
    url: str,
    auth: Any,
    headers: dict[str, str],
    timeout_seconds: int,
    encrypted_secret: bytes | None,
) -> None:
    """Inserts or replaces the source."""
    execute(
        conn,
        _SQL["put_metric_source"],
        name=name,
        url=url,
        auth=msgspec.json.encode(auth).decode(),
        headers=msgspec.json.encode(headers).decode(),
        timeout_seconds=timeout_seconds,
        encrypted_secret=encrypted_secret,
    )


def delete(conn: Connection, name: str) -> None:
    execute(conn, _SQL["delete_metric_source"], name=name)
