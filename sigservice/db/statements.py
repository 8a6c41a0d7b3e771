"""The ways to execute a named statement. Parameters are `%(name)s`, rows are dicts."""

import hashlib
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, cast

import msgspec
import psycopg2
import psycopg2.extensions

from sigservice.db.connection import Connection, send
from sigservice.db.errors import DatabaseUnavailable, translate
from sigservice.db.queries import Statement

Row = dict[str, Any]
MAX_BATCH = 5000  # items; a statement then takes far less than five seconds
Cursor = psycopg2.extensions.cursor
_PARAMETER = re.compile(r"%\((\w+)\)s")
# A prepared statement doesn't exist (behind a pooler), already exists, or uses a table that a newer
# version has changed.
_STALE = {"26000", "42P05", "0A000"}
_PLANNED = ("SELECT", "INSERT", "UPDATE", "DELETE", "WITH")
_SET_TIMEOUT = "SELECT set_config('statement_timeout', %(value)s, true)"
_LIKE_ESCAPES = str.maketrans({"\\": r"\\", "%": r"\%", "_": r"\_"})


def fetch_all(conn: Connection, statement: str, **parameters: Any) -> list[Row]:
    """All rows."""
    with conn.cursor() as cursor:
        _execute(cursor, statement, parameters)
        return _all(cursor)


def fetch_one(conn: Connection, statement: str, **parameters: Any) -> Row | None:
    """The first row or None."""
    with conn.cursor() as cursor:
        _execute(cursor, statement, parameters)
        return _first(cursor)


def fetch_row(conn: Connection, statement: str, **parameters: Any) -> Row:
    """The row of a statement that always returns one."""
    row = fetch_one(conn, statement, **parameters)
    assert row is not None
    return row


def fetch_value(conn: Connection, statement: str, **parameters: Any) -> Any:
    """The first column of the first row, or None."""
    with conn.cursor() as cursor:
        _execute(cursor, statement, parameters)
        row = cursor.fetchone()
        return row[0] if row else None


def execute(conn: Connection, statement: str, **parameters: Any) -> int:
    """Executes the statement and returns the number of affected rows."""
    with conn.cursor() as cursor:
        _execute(cursor, statement, parameters)
        return cursor.rowcount


def execute_batches(
    conn: Connection, statement: str, items: Sequence[Any], **parameters: Any
) -> None:
    """Executes the statement with the parameter `items`, which is JSON text, for each batch."""
    for start in range(0, len(items), MAX_BATCH):
        batch = msgspec.json.encode(items[start : start + MAX_BATCH]).decode()
        execute(conn, statement, items=batch, **parameters)


@contextmanager
def single_transaction(conn: Connection) -> Iterator[None]:
    """One transaction for the statements of the block on a connection in autocommit."""
    _run(conn, "BEGIN")
    try:
        yield
        _run(conn, "COMMIT")
    except BaseException:
        if not conn.closed:
            _run(conn, "ROLLBACK")
        raise


@contextmanager
def savepoint(conn: Connection) -> Iterator[None]:
    """Rolls back the changes of the block if it raises; the transaction continues."""
    _run(conn, "SAVEPOINT block")
    note_count, event_count = len(conn.notes), len(conn.events or ())
    try:
        yield
    except BaseException:
        del conn.notes[note_count:]
        if conn.events:
            del conn.events[event_count:]
        if not conn.closed:
            _run(conn, "ROLLBACK TO SAVEPOINT block")
            _run(conn, "RELEASE SAVEPOINT block")  # an outer one may have the same name
        raise
    _run(conn, "RELEASE SAVEPOINT block")


@contextmanager
def limit_time(conn: Connection, seconds: float) -> Iterator[None]:
    """Each statement of the block may take so long. Raises DatabaseUnavailable, whose `is_timeout`
    is true if one takes longer; the transaction continues."""
    limit = f"{round(seconds * 1000)}ms"
    with savepoint(conn):
        before = fetch_value(conn, "SELECT current_setting('statement_timeout')")
        fetch_value(conn, _SET_TIMEOUT, value=limit)
        yield
        fetch_value(conn, _SET_TIMEOUT, value=before)


def _run(conn: Connection, statement: str) -> None:
    with conn.cursor() as cursor:
        _execute_plain(cursor, statement, {})


def number_parameters(statement: str) -> tuple[str, list[str]]:
    """The statement with $1, $2 … for PREPARE, and the names of the parameters in that order."""
    names = list(dict.fromkeys(_PARAMETER.findall(statement)))
    text = _PARAMETER.sub(lambda match: f"${names.index(match[1]) + 1}", statement)
    return text.replace("%%", "%"), names


def _execute_prepared(
    conn: Connection, cursor: Cursor, statement: str, parameters: dict[str, Any]
) -> None:
    prepared = conn.prepared
    if prepared is None:
        _execute_plain(cursor, statement, parameters)
        return
    try:
        if statement not in prepared:
            prepared[statement] = _prepare(cursor, statement)
        send(cursor, prepared[statement], parameters or None)
    except psycopg2.Error as error:
        if error.pgcode not in _STALE:
            raise translate(error, statement) from None
        conn.prepared = None  # a pooler loses them
        if conn.get_transaction_status() != psycopg2.extensions.TRANSACTION_STATUS_IDLE:
            raise DatabaseUnavailable(error.pgcode) from None
        _execute_plain(cursor, statement, parameters)


def _prepare(cursor: Cursor, statement: str) -> str:
    """Prepares the statement; returns its EXECUTE. The name is a hash, because clients of a pooler
    share sessions."""
    text, names = number_parameters(statement)
    handle = f"hot_{hashlib.sha256(text.encode()).hexdigest()[:32]}"
    send(cursor, f"PREPARE {handle} AS {text}", None)
    arguments = f" ({', '.join(f'%({name})s' for name in names)})" if names else ""
    return f"EXECUTE {handle}{arguments}"


def _all(cursor: Cursor) -> list[Row]:
    names = [column.name for column in cursor.description or ()]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def _first(cursor: Cursor) -> Row | None:
    row = cursor.fetchone()
    if row is None:
        return None
    names = [column.name for column in cursor.description or ()]
    return dict(zip(names, row, strict=True))


def _execute(cursor: Cursor, statement: str, parameters: dict[str, Any]) -> None:
    """In a transaction, a hot statement isn't prepared, because a stale plan would abort it, unless
    it was opened with `prepared`."""
    conn = cast(Connection, cursor.connection)
    observer, started_at = conn.observer, time.monotonic()
    try:
        is_hot = conn.autocommit and isinstance(statement, Statement) and statement.is_hot
        if is_hot or (conn.prepares and statement.startswith(_PLANNED)):
            _execute_prepared(conn, cursor, statement, parameters)
        else:
            _execute_plain(cursor, statement, parameters)
    finally:
        if observer is not None and isinstance(statement, Statement):
            observer.on_query(time.monotonic() - started_at, statement.store, statement.action)


def _execute_plain(cursor: Cursor, statement: str, parameters: dict[str, Any]) -> None:
    """Raises the errors of db/errors.py."""
    try:
        send(cursor, statement, parameters)
    except psycopg2.Error as error:
        raise translate(error, statement) from None


def build_like_pattern(text: str) -> str | None:
    """The LIKE pattern of values that contain `text`; None for an empty text."""
    return f"%{text.translate(_LIKE_ESCAPES)}%" if text else None
