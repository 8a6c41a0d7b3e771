"""Integrations that notifications are sent to: one function for each SQL statement."""

import msgspec

from sigservice.db import Connection, Row, execute, fetch_all, fetch_one, queries

_SQL = queries.load("channels")


def lock(conn: Connection) -> None:
    execute(conn, _SQL["lock_channels"])


def list_all(conn: Connection) -> list[Row]:
    """By name: `name`, `provider`, `enabled`."""
    return fetch_all(conn, _SQL["list_channels"])


def find(conn: Connection, name: str) -> Row | None:
    """The integration; `parameters` are JSON text, `secrets` are encrypted."""
    return fetch_one(conn, _SQL["find_channel"], name=name)


def list_users(conn: Connection, name: str) -> list[str]:
    """For example "action set x of default"."""
    reference = msgspec.json.encode([{"type": "integration", "name": name}]).decode()
    rows = fetch_all(conn, _SQL["list_channel_users"], reference=reference)
    return [row["label"] for row in rows]
