"""A connection of the pool: what it remembers, and commits that may not be safe."""

from __future__ import annotations

import select
import time
from collections.abc import Callable, Sequence
from typing import Any, Protocol, cast

import psycopg2.extensions

from sigservice.db.errors import UnconfirmedCommit

_JSONB_OID, _JSON_OID = 3802, 114
# JSON comes as its text: most of it is passed on, and what is shown is parsed where it is shown.
JSON_TEXT = psycopg2.extensions.new_type((_JSONB_OID, _JSON_OID), "JSON_TEXT", lambda text, _: text)


class Observer(Protocol):
    """Receives what happens in the database, for metrics."""

    @property
    def on_query(self) -> Callable[[float, str, str], None]:
        """Called with the seconds, the store and the action of each statement."""

    def on_commit(self, notes: Sequence[Any]) -> None:
        """`notes` are the ones that services added to the connection."""

    def on_rollback(self, error: BaseException) -> None: ...


class Connection(psycopg2.extensions.connection):
    """`waiting_since` is the monotonic time of the running statement, or None. `prepared` maps each
    statement to its EXECUTE (see statements.py) and is None after a stale one; `prepares` extends
    preparing to transactions. The `observer` gets the `notes` after a commit. `epoch` is the pool's
    at the time of connecting."""

    # No __init__: its frame in the traceback of a failed attempt would keep the socket open.
    waiting_since: float | None = None
    prepared: dict[str, str] | None
    prepares: bool = False
    notes: list[Any]
    observer: Observer | None = None
    epoch: int = 0

    def commit(self) -> None:
        """Raises UnconfirmedCommit, and closes the connection, when PostgreSQL warns.

        A commit whose wait for the synchronous standby was cancelled succeeds with a warning only,
        while no standby has it.
        """
        self.notices.clear()
        self.waiting_since = time.monotonic()
        try:
            super().commit()
        finally:
            self.waiting_since = None
        self.confirm()

    def rollback(self) -> None:
        self.waiting_since = time.monotonic()
        try:
            super().rollback()
        finally:
            self.waiting_since = None

    def confirm(self) -> None:
        """Raises as `commit` does. Messages below WARNING never come: see session.settings."""
        if self.notices:
            self.close()
            raise UnconfirmedCommit()

    @property
    def is_alive(self) -> bool:
        """False when the server has ended the connection: an idle one has nothing to be read.

        Costs one system call and no round trip; without it each client would see one error after
        a restart of the database.
        """
        if self.closed:
            return False
        poll = select.poll()
        poll.register(self.fileno(), select.POLLIN | select.POLLHUP | select.POLLERR)
        return not poll.poll(0)


def send(
    cursor: psycopg2.extensions.cursor, statement: str, parameters: dict[str, Any] | None = None
) -> None:
    """Executes it; the connection is marked as waiting meanwhile, for Database.cut_stuck."""
    conn = cast(Connection, cursor.connection)
    conn.waiting_since = time.monotonic()
    try:
        cursor.execute(statement, parameters)
    finally:
        conn.waiting_since = None
