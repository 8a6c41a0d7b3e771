"""A connection of the pool, with its state, and with a check of commits."""

import select
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, Protocol, cast

import psycopg2.extensions

from sigservice.db.errors import UnconfirmedCommit

_JSONB_OID, _JSON_OID = 3802, 114
# JSON is returned as text: most of it is passed on unparsed.
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
    at the time of connecting, `pid` the process of the server. `is_stuck`: see
    Database.cut_stuck. `socket_inode` identifies the socket, whose number the system uses again."""

    # No __init__: after a failed attempt its frame in the traceback would keep the socket open.
    waiting_since: float | None = None
    wait_lock = threading.Lock()  # of all connections: it is held for a moment
    prepared: dict[str, str] | None
    prepares: bool = False
    notes: list[Any]
    observer: Observer | None = None
    epoch: int = 0
    pid: int = 0
    is_stuck: bool = False
    socket_inode: int = 0

    def commit(self) -> None:
        """Raises UnconfirmedCommit, and closes the connection, when PostgreSQL warns.

        If the wait for a synchronous standby is cancelled, the commit succeeds with a warning, but
        no standby has it.
        """
        self.notices.clear()
        self.waiting_since = time.monotonic()
        try:
            super().commit()
        finally:
            self.end_wait()
        self.confirm()

    def rollback(self) -> None:
        self.waiting_since = time.monotonic()
        try:
            super().rollback()
        finally:
            self.end_wait()

    def end_wait(self) -> None:
        """Ends the time in which another thread may cut the connection."""
        with self.wait_lock:
            self.waiting_since = None

    def confirm(self) -> None:
        """Raises like `commit`. Messages below WARNING are disabled, see session.build_settings."""
        if self.notices:
            self.close()
            raise UnconfirmedCommit()

    @property
    def is_alive(self) -> bool:
        """False if the server has closed the connection, which makes an idle socket readable.

        One system call without a round trip. Without this check each connection would cause an
        error after a restart of the database.
        """
        if self.closed:
            return False
        poll = select.poll()
        poll.register(self.fileno(), select.POLLIN | select.POLLHUP | select.POLLERR)
        return not poll.poll(0)


def send(
    cursor: psycopg2.extensions.cursor, statement: str, parameters: dict[str, Any] | None = None
) -> None:
    """Executes the statement and marks the connection as waiting, for Database.cut_stuck."""
    conn = cast(Connection, cursor.connection)
    conn.waiting_since = time.monotonic()
    try:
        cursor.execute(statement, parameters)
    finally:
        conn.end_wait()
