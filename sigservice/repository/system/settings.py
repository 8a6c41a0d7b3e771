"""Settings: one function for each SQL statement."""

from sigservice.db import Connection, execute, fetch_value, queries

_SQL = queries.load("system/settings")


def find(conn: Connection, key: str) -> str | None:
    """The setting as JSON text."""
    return fetch_value(conn, _SQL["find_setting"], key=key)


def save(conn: Connection, key: str, value: str) -> None:
    """`value` is JSON text."""
    execute(conn, _SQL["put_setting"], key=key, value=value)


def delete(conn: Connection, key: str, value: str) -> bool:
    """False if the setting doesn't have this `value`, which is JSON text."""
    return execute(conn, _SQL["delete_setting"], key=key, value=value) > 0
