"""The four ways to execute a named statement. Parameters are `%(name)s`, rows are dicts."""

from __future__ import annotations

import time
from typing import Any, cast

import psycopg2
import psycopg2.extensions

from sigservice.db.errors import translate
from sigservice.db.pool import Connection

Row = dict[str, Any]
Cursor = psycopg2.extensions.cursor


def many(conn: Connection, statement: str, **parameters: Any) -> list[Row]:
    """All rows."""
    with conn.cursor() as cursor:
        _execute(cursor, statement, parameters)
        names = [column.name for column in cursor.description or ()]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def one(conn: Connection, statement: str, **parameters: Any) -> Row | None:
    """The first row or None."""
    with conn.cursor() as cursor:
        _execute(cursor, statement, parameters)
        row = cursor.fetchone()
        if row is None:
            return None
        names = [column.name for column in cursor.description or ()]
        return dict(zip(names, row, strict=True))


def value(conn: Connection, statement: str, **parameters: Any) -> Any:
    """The first column of the first row, or None."""
    with conn.cursor() as cursor:
        _execute(cursor, statement, parameters)
        row = cursor.fetchone()
        return row[0] if row else None


def affected(conn: Connection, statement: str, **parameters: Any) -> int:
    """How many rows the statement touched."""
    with conn.cursor() as cursor:
        _execute(cursor, statement, parameters)
        return cursor.rowcount


def _execute(cursor: Cursor, statement: str, parameters: dict[str, Any]) -> None:
    """Raises what db/errors.py makes of the driver's errors."""
    conn = cast(Connection, cursor.connection)
    conn.waiting_since = time.monotonic()
    try:
        cursor.execute(statement, parameters)
    except psycopg2.Error as error:
        raise translate(error) from error
    finally:
        conn.waiting_since = None
