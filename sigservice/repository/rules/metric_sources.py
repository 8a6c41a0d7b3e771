"""Metric sources: one function for each SQL statement."""

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
    """By name. No other process leases rules until the transaction ends."""
    return fetch_all(conn, _SQL["lock_metric_sources"])


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
