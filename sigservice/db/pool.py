"""A small connection pool: lazily grown, bounded, with waiting and idle eviction.

psycopg2's own pool raises at once when it is empty and closes every connection above its
minimum when it comes back (measured), so a request would pay a handshake each time.
"""

from __future__ import annotations

import contextlib
import os
import select
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, Protocol

import psycopg2
import psycopg2.extensions

from sigservice.db.bulkheads import SHARES, Bulkhead
from sigservice.db.errors import DatabaseUnavailable, translate
from sigservice.errors import UnavailableError


class Watch(Protocol):
    """Who wants to know what is done with the database."""

    @property
    def queried(self) -> Callable[[float, str, str], None]:
        """Called with seconds, the store and the action of each statement."""

    def committed(self, notes: Sequence[Any]) -> None:
        """`notes` are what services have left at the connection for this."""

    def undone(self, error: BaseException) -> None: ...


class Connection(psycopg2.extensions.connection):
    """`waiting_since` is the monotonic time of the statement that is under way, else None;
    `prepared` has the EXECUTE of each statement that was prepared here (db/run.py), None once one
    of them was stale; `prepares` tells that this is wanted in a transaction too. `notes` are for
    the `watch`, once they are committed."""

    # No __init__: its frame in the traceback of a failed attempt would keep the socket open.
    waiting_since: float | None = None
    prepared: dict[str, str] | None
    prepares: bool = False
    notes: list[Any]
    watch: Watch | None = None


FROZEN_SECONDS = 5.2  # a little more than the statement_timeout
# What libpq says of LIBPQ_VARIABLES (config/database.py) that it can't use.
UNUSABLE_VARIABLES = {
    "definition of service": "the variable PGSERVICE names it: unset it or define the service",
    "invalid value for parameter": "see the variables PGTZ and PGDATESTYLE",
    "requires a Boolean value": "see the variable PGGEQO",
}
_IDLE = psycopg2.extensions.TRANSACTION_STATUS_IDLE
_JSONB_OID, _JSON_OID = 3802, 114
# JSON comes as its text: most of it is passed on, and what is shown is parsed where it is shown.
_JSON_TEXT = psycopg2.extensions.new_type(
    (_JSONB_OID, _JSON_OID), "JSON_TEXT", lambda text, _: text
)


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
    ) -> None:
        """`connect` returns psycopg2.connect's arguments."""
        self._arguments = connect
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
        self._open = self._waiting = self._creating = 0
        self.watch: Watch | None = None
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
                        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
                yield conn
            except BaseException as error:
                if not conn.closed:
                    conn.rollback()
                if self.watch is not None:
                    self.watch.undone(error)
                raise
            finally:
                conn.prepares = False
            conn.waiting_since = time.monotonic()
            try:
                conn.commit()
            finally:
                conn.waiting_since = None
            if self.watch is not None and conn.notes:
                self.watch.committed(conn.notes)

    @contextmanager
    def autocommit(self, *, bulkhead: str = "") -> Iterator[Connection]:
        """Each statement of the block commits by itself."""
        with self._within(bulkhead), self._checked_out() as conn:
            conn.autocommit = True
            try:
                yield conn
            finally:
                if not conn.closed:
                    conn.autocommit = False

    def ping(self) -> None:
        """Raises DatabaseUnavailable unless the database answers."""
        with self.autocommit() as conn, conn.cursor() as cursor:
            cursor.execute("SELECT 1")

    def dedicated(self) -> Connection:
        """A connection outside the pool, for locks that live long and for LISTEN."""
        return self._connect()

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

    def cut_frozen(self, seconds: float = FROZEN_SECONDS) -> int:
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
        conn.watch = self.watch
        try:
            yield conn
        except psycopg2.Error as error:
            raise translate(error) from error
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
                if _is_alive(conn):
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
            raise translate(error) from error
        finally:
            with self._lock:
                self._creating -= 1
        with self._lock:
            self._open += 1
            self._used.add(conn)
        return conn

    def _connect(self) -> Connection:
        conn: Connection = psycopg2.connect(**self._arguments(), connection_factory=Connection)
        conn.prepared, conn.notes = {}, []
        if conn.get_parameter_status("TimeZone") != "UTC":  # the variable PGTZ beats arguments
            conn.autocommit = True
            with conn.cursor() as cursor:
                cursor.execute("SET TimeZone TO 'UTC'")
            conn.autocommit = False
        psycopg2.extensions.register_type(_JSON_TEXT, conn)
        return conn

    def _give_back(self, conn: Connection) -> None:
        reusable = not conn.closed and not self._closed
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
            dead = [pair for pair in self._idle if not _is_alive(pair[0])]
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


def _is_alive(conn: Connection) -> bool:
    """False when the server has ended the connection: an idle one has nothing to be read.

    Costs one system call and no round trip; without it each client would see one error after
    a restart of the database.
    """
    if conn.closed:
        return False
    poll = select.poll()
    poll.register(conn.fileno(), select.POLLIN | select.POLLHUP | select.POLLERR)
    return not poll.poll(0)


__all__ = ["Connection", "Database", "DatabaseUnavailable"]
