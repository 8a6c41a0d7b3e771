"""Templates of releases: one function for each SQL statement."""

from collections.abc import Sequence
from typing import Any

import msgspec

from sigservice.db import Connection, Row, execute, fetch_all, queries

_SQL = queries.load("releases/release_templates")


def lock(conn: Connection) -> None:
    execute(conn, _SQL["lock_release_templates"])


def list_all(conn: Connection) -> list[Row]:
    return fetch_all(conn, _SQL["list_release_templates"])


def put_many(conn: Connection, items: Sequence[Any], created_by_user_id: int) -> None:
    """Inserts or replaces templates, {name, description, steps, watchMinutes} each."""
    text = msgspec.json.encode(items).decode()
    execute(conn, _SQL["put_release_templates"], items=text, created_by_user_id=created_by_user_id)


def delete(conn: Connection, name: str) -> bool:
    """False if there is none."""
    return execute(conn, _SQL["delete_release_template"], name=name) > 0
