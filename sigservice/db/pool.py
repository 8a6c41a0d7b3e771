"""A small connection pool: lazily grown, bounded, with waiting and idle eviction.

psycopg2's own pool raises at once when it is empty and closes every connection above its
minimum when it comes back (measured), so a request would pay a handshake each time.
"""

from __future__ import annotations

import contextlib
import os
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import psycopg2
import psycopg2.extensions

from sigservice.db import session
from sigservice.db.bulkheads import SHARES, Bulkhead
from sigservice.db.connection import JSON_TEXT, Connection, Observer, send
from sigservice.db.errors import DatabaseUnavailable, translate
from sigservice.errors import UnavailableError

STUCK_SECONDS = 5.2  # a little more than the statement_timeout
# What libpq says of LIBPQ_VARIABLES (config/database.py) that it can't use.
UNUSABLE_VARIABLES = {
    "definition of service": "the variable PGSERVICE names it: unset it or define the service",
    "invalid value for parameter": "see the variables PGTZ and PGDATESTYLE",
    "requires a Boolean value": "see the variable PGGEQO",
}
READ_ONLY = "25006"
_IDLE = psycopg2.extensions.TRANSACTION_STATUS_IDLE


class Database:
    """Hands out connections; knows nothing of what is stored.

    `transaction()` is for one piece of work, `autocommit()` for a single statement, which
    then costs one round trip instead of three. Work that names its `bulkhead` (a key of SHARES)
    gets no more connections than that has.
    """

    def __init__(
        self,
        connect: Callable[[], dict[str, Any]],
        *,
        low: int,
        high: int,
        idle_seconds: float,
        wait_seconds: float = 2.0,
        settings: Mapping[str, str] | None = None,
    ) -> None:
        """`connect` returns psycopg2.connect's arguments; each session is given `settings`."""
        self._arguments = connect
        self.settings = dict(settings or {})
        self._low, self.high = low, high
        self._idle_seconds = idle_seconds
        self._wait_seconds = wait_seconds
        self._places = threading.BoundedSemaphore(high)
        # Transactions may wait for each other's locks; single statements, which SDKs and signals
        # live on, must not wait with them.
        self._transactions = threading.BoundedSemaphore(max(1, high - 1))
        self._bulkheads = {name: Bulkhead(share, high) for name, share in SHARES.items()}
        self._idle: deque[tuple[Connection, float]] = deque()
        self._lock = threading.Lock()
        self._used: set[Connection] = set()
        self._open = self._waiting = self._creating = self._epoch = 0
        self.observer: Observer | None = None
        self._closed = False

    @contextmanager
    def transaction(
        self, *, prepared: bool = False, bulkhead: str = "", snapshot: bool = False
    ) -> Iterator[Connection]:
        """BEGIN … COMMIT around the block; ROLLBACK when it raises. Raises AppError children.

        One connection is always left to `autocommit`, unless there is only one. `prepared` plans
        each statement once for each connection, which halves its time; a stale plan then costs
        the transaction, so it is for those who try again after DatabaseUnavailable. All statements
        of a `snapshot` see the same state, without a lock; it can't write.
        """
        turn = self._in_turn(self._transactions)
        with self._within(bulkhead), turn, self._checked_out() as conn:
            conn.prepares, conn.notes = prepared, []
            try:
                if snapshot:
                    with conn.cursor() as cursor:
                        send(cursor, "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
                yield conn
            except BaseException as error:
                if not conn.closed:
                    conn.rollback()
                if self.observer is not None:
                    self.observer.on_rollback(error)
                raise
            finally:
                conn.prepares = False
            conn.commit()
            if self.observer is not None and conn.notes:
                self.observer.on_commit(conn.notes)

    @contextmanager
    def autocommit(self, *, bulkhead: str = "") -> Iterator[Connection]:
        """Each statement of the block is a transaction of its own. Raises AppError children:
        UnconfirmedCommit at the end of the block, so acknowledge after it."""
        with self._within(bulkhead), self._checked_out() as conn:
            conn.autocommit = True
            conn.notices.clear()
            try:
                yield conn
                conn.confirm()
            finally:
                if not conn.closed:
                    conn.autocommit = False

    def ping(self) -> None:
        """Raises DatabaseUnavailable unless the database answers and can be written to."""
        with self.autocommit() as conn, conn.cursor() as cursor:
            send(cursor, "SELECT current_setting('transaction_read_only')::bool")
            if cursor.fetchone() != (False,):
                raise DatabaseUnavailable(READ_ONLY)

    def open_dedicated(self) -> Connection:
        """A connection outside the pool, for migrations. Raises psycopg2.Error."""
        conn = self._connect()
        with self._lock:
            self._used.discard(conn)
        return conn

    def adopt(self, conn: Connection) -> None:
        """Takes a dedicated connection, which is as good as new, into the pool."""
        with self._lock:
            self._open += 1
            self._idle.append((conn, time.monotonic()))

    def evict_idle(self) -> int:
        """Closes connections that were idle too long; returns how many."""
        now = time.monotonic()
        evicted: list[Connection] = []
        with self._lock:
            while self._idle and self._open - len(evicted) > self._low:
                if now - self._idle[0][1] < self._idle_seconds:
                    break
                evicted.append(self._idle.popleft()[0])
        for conn in evicted:
            self._discard(conn)
        return len(evicted)

    def cut_stuck(self, seconds: float = STUCK_SECONDS) -> int:
        """Ends connections whose statement has had no answer for so long; returns how many.

        The server's own time-outs end a slow statement before; a server or a network that stands
        still sends nothing, and libpq would wait for ever. The request gets a 503.
        """
        now = time.monotonic()
        with self._lock:
            used = list(self._used)
        cut = 0
        for conn in used:
            since = conn.waiting_since
            if since is not None and now - since > seconds and not conn.closed:
                gone = contextlib.suppress(OSError, psycopg2.InterfaceError)
                with gone, socket.socket(fileno=os.dup(conn.fileno())) as s:
                    s.shutdown(socket.SHUT_RDWR)
                    cut += 1
        return cut

    def fill(self) -> None:
        """Opens connections up to the minimum, as long as places are free."""
        while self._open < self._low and self._places.acquire(blocking=False):
            try:
                conn = self._connect_counted()
            except BaseException:
                self._places.release()
                raise
            self._give_back(conn)

    def statistics(self) -> dict[str, int]:
        with self._lock:
            free = len(self._idle)
            return {
                "min": self._low,
                "max": self.high,
                "free": free,
                "used": self._open - free,
                "pending_creates": self._creating,
                "pending_acquires": self._waiting,
            }

    def close(self) -> None:
        """Closes what is idle now and everything else when it comes back."""
        with self._lock:
            self._closed = True
            idle, self._idle = [conn for conn, _ in self._idle], deque()
        for conn in idle:
            self._discard(conn)

    @contextmanager
    def _checked_out(self) -> Iterator[Connection]:
        conn = self._take()
        conn.observer = self.observer
        try:
            yield conn
        except psycopg2.Error as error:
            if error.pgcode == READ_ONLY:
                self._drop_all(conn)
            raise translate(error) from None
        except DatabaseUnavailable as error:
            if error.sqlstate == READ_ONLY:
                self._drop_all(conn)
            raise
        finally:
            self._give_back(conn)

    def _take(self) -> Connection:
        self._wait_for(self._places)
        try:
            while not self._closed:
                with self._lock:
                    if not self._idle:
                        break
                    conn, _ = self._idle.pop()
                    self._used.add(conn)
                if conn.is_alive:
                    return conn
                self._discard(conn)
                self._discard_dead()
            if self._closed:
                raise UnavailableError("The service is stopping.")
            return self._connect_counted()
        except BaseException:
            self._places.release()
            raise

    def _within(self, bulkhead: str) -> AbstractContextManager[None]:
        return self._bulkheads[bulkhead].enter() if bulkhead else nullcontext()

    @contextmanager
    def _in_turn(self, places: threading.BoundedSemaphore) -> Iterator[None]:
        self._wait_for(places)
        try:
            yield
        finally:
            places.release()

    def _wait_for(self, places: threading.BoundedSemaphore) -> None:
        if places.acquire(blocking=False):
            return
        with self._lock:
            self._waiting += 1
        try:
            got = places.acquire(timeout=self._wait_seconds)
        finally:
            with self._lock:
                self._waiting -= 1
        if not got:
            raise UnavailableError("The service is busy. Try again.")

    def _connect_counted(self) -> Connection:
        with self._lock:
            self._creating += 1
        try:
            conn = self._connect()
        except psycopg2.Error as error:
            raise translate(error) from None
        finally:
            with self._lock:
                self._creating -= 1
        with self._lock:
            self._open += 1
        return conn

    def _connect(self) -> Connection:
        """Among those in use from the first statement on, so that it can be cut."""
        epoch = self._epoch
        conn: Connection = psycopg2.connect(**self._arguments(), connection_factory=Connection)
        conn.prepared, conn.notes, conn.epoch = {}, [], epoch
        psycopg2.extensions.register_type(JSON_TEXT, conn)
        with self._lock:
            self._used.add(conn)
        try:
            if self.settings:
                self._set_up(conn)
        except BaseException:
            with self._lock:
                self._used.discard(conn)
            conn.close()
            raise
        return conn

    def _set_up(self, conn: Connection) -> None:
        conn.autocommit = True
        with conn.cursor() as cursor:
            send(cursor, session.set_statement(self.settings), self.settings)
        conn.autocommit = False
        conn.notices.clear()

    def _drop_all(self, conn: Connection) -> None:
        """The server takes no writes: a standby, or a primary that was demoted. The next attempt
        connects, and finds the primary, instead of asking this server for ever."""
        conn.close()
        with self._lock:
            self._epoch += 1
            idle, self._idle = [conn for conn, _ in self._idle], deque()
        for other in idle:
            self._discard(other)

    def _give_back(self, conn: Connection) -> None:
        reusable = not conn.closed and not self._closed and conn.epoch == self._epoch
        if reusable and conn.get_transaction_status() != _IDLE:
            try:
                conn.rollback()
            except psycopg2.Error:
                reusable = False
        if reusable:
            with self._lock:
                self._used.discard(conn)
                self._idle.append((conn, time.monotonic()))
        else:
            self._discard(conn)
        self._places.release()

    def _discard_dead(self) -> None:
        """After one dead connection the others are suspects too: a restart ends them all."""
        with self._lock:
            dead = [pair for pair in self._idle if not pair[0].is_alive]
            for pair in dead:
                self._idle.remove(pair)
        for conn, _ in dead:
            self._discard(conn)

    def _discard(self, conn: Connection) -> None:
        with self._lock:
            self._used.discard(conn)
            self._open -= 1
        try:
            conn.close()
        except psycopg2.Error:
            pass


__all__ = ["Connection", "Database", "DatabaseUnavailable"]
