"""A connection of the pool, with its state, and with a check of commits."""

import contextlib
import math
import os
import select
import socket
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, Protocol, cast

import psycopg2
import psycopg2.extensions

from sigservice.concurrency import wait_budget
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
        """`notes` are the notes that services added to the connection."""

    def on_rollback(self, error: BaseException) -> None: ...


class Connection(psycopg2.extensions.connection):
    """`waiting_since` is the monotonic time since which the request waits for the answer of the
    running statement (see wait_budget.py), or None. `prepared` maps each statement to its EXECUTE
    (see statements.py) and is None after a stale plan; `prepares` allows prepared statements in
    transactions. The `observer` gets the `notes` after a commit; `events` are collected to be
    stored together. `epoch`: see Connector. `pid` is
    the process of the server. `is_stuck`: see Database.cut_stuck. `socket_inode` identifies the
    socket, whose number the system uses again."""

    # No __init__: after a failed attempt, its frame in the traceback would keep the socket open.
    waiting_since: float | None = None
    wait_lock = threading.Lock()  # of all connections: it is held for a moment
    prepared: dict[str, str] | None
    prepares: bool = False
    notes: list[Any]
    events: list[Any] | None = None
    observer: Observer | None = None
    epoch: float = math.inf  # while it is opened
    pid: int = 0
    is_stuck: bool = False
    socket_inode: int = 0

    def set_up(self) -> None:
        """Must be called once, before all other methods."""
        self.prepared, self.notes = {}, []
        self.pid, self.socket_inode = self.get_backend_pid(), os.fstat(self.fileno()).st_ino
        psycopg2.extensions.register_type(JSON_TEXT, self)

    def wait_for(self, action: Callable[..., Any], *arguments: Any) -> None:
        """Calls `action`, which waits for an answer of the server. Raises what it raises."""
        self.waiting_since = start = wait_budget.get_start()
        try:
            action(*arguments)
        except BaseException:
            wait_budget.adopt_start(start)
            raise
        else:
            wait_budget.restart()
        finally:
            with self.wait_lock:
                self.waiting_since = None

    def cut_if_stuck(self, seconds: float) -> bool:
        """Shuts the connection down if its thread has waited for an answer for more than `seconds`,
        and returns whether it did. The thread can't begin another statement meanwhile."""
        with self.wait_lock:
            since = self.waiting_since
            if since is None or time.monotonic() - since <= seconds or not self.shut_down():
                return False
            self.is_stuck = True
            return True

    def shut_down(self) -> bool:
        """Ends a connection that another thread uses. False if it had ended before."""
        with contextlib.suppress(OSError, psycopg2.InterfaceError):
            with socket.socket(fileno=os.dup(self.fileno())) as duplicate:
                # libpq may have closed its socket meanwhile, and another socket may have the
                # number.
                if os.fstat(duplicate.fileno()).st_ino == self.socket_inode:
                    duplicate.shutdown(socket.SHUT_RDWR)
                    return True
        return False

    def commit(self) -> None:
        """Raises UnconfirmedCommit, and closes the connection, when PostgreSQL warns.

        If the wait for a synchronous standby is cancelled, the commit succeeds with a warning, but
        no standby has it.
        """
        self.notices.clear()
        self.wait_for(super().commit)
        self.confirm()

    def rollback(self) -> None:
        self.notes = []
        self.wait_for(super().rollback)

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
    cast(Connection, cursor.connection).wait_for(cursor.execute, statement, parameters)
