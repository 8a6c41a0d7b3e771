"""The clock of silence: one function for each SQL statement."""

from datetime import datetime

from sigservice.db import queries
from sigservice.db.pool import Connection
from sigservice.db.statements import Row, execute, fetch_one

_SQL = queries.load("signals/silence_clock")


def lock(conn: Connection) -> Row | None:
    """{seconds, ticked_at}; None if another process has locked the row, or before `insert`."""
    return fetch_one(conn, _SQL["lock_silence_clock"])


def insert(conn: Connection, *, now: datetime) -> None:
    """Does nothing if the row exists."""
    execute(conn, _SQL["insert_silence_clock"], now=now)


def update(conn: Connection, *, seconds: float, now: datetime) -> None:
    execute(conn, _SQL["update_silence_clock"], seconds=seconds, now=now)
