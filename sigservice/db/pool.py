"""A connection pool with a maximum size, waiting and idle eviction.

psycopg2's pool raises at once when it is empty and closes every returned connection above its
minimum (measured), so each request would need a handshake.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from typing import Any

import psycopg2
import psycopg2.extensions

from sigservice.concurrency import wait_budget
from sigservice.concurrency.shared import READ_WAIT_SECONDS, Shared
from sigservice.concurrency.workers import MAX_WAITING_SLOW, count_slow, release_turn
from sigservice.db.connection import Connection, Observer, send
from sigservice.db.connector import Connector
from sigservice.db.errors import DatabaseUnavailable, translate
from sigservice.db.stuck_connections import StuckConnections
from sigservice.errors import UnavailableError, build_busy_error

READ_ONLY = "25006"
PROBE_SECONDS = 1.0
_NO_LIMIT = nullcontext()
_IDLE = psycopg2.extensions.TRANSACTION_STATUS_IDLE


class Database:
    """A pool of connections.

    `transaction()` is for one unit of work. `autocommit()` is for a single statement, which then
    needs one round trip instead of three. Slow reads
    (`is_slow`) use only a part of the connections.
    """

    def __init__(
        self,
        connect: Callable[[], dict[str, Any]],
        *,
        min_size: int,
        max_size: int,
        idle_seconds: float,
        wait_seconds: float = 2.0,
        settings: Mapping[str, str] | None = None,
    ) -> None:
        """`connect` returns the arguments for psycopg2.connect; each session gets `settings`."""
        self.settings = dict(settings or {})
        self._connector = Connector(connect, self.settings, self._close_outdated)
        self._min_size, self.max_size = min_size, max_size
        self._idle_seconds = idle_seconds
        self._wait_seconds = wait_seconds
        self._slots = threading.BoundedSemaphore(max_size)
        # Transactions may wait for each other's locks. Single statements, which SDKs and signals
        # depend on, must not wait for transactions.
        self._transactions = threading.BoundedSemaphore(max(1, max_size - 1))
        # Slow reads must leave connections to the rest, and the callers that wait leave workers.
        self._slow_reads = threading.BoundedSemaphore(count_slow(max_size))
        self._slow_callers = threading.BoundedSemaphore(count_slow(max_size) + MAX_WAITING_SLOW)
        self._idle: deque[tuple[Connection, float]] = deque()
        self._lock = threading.Lock()
        self._in_use = self._connector.in_use
        self._stuck = StuckConnections()
        self._probe: Shared[int, None] = Shared(keeps=True)
        self._open = self._waiting = self._creating = 0
        self.observer: Observer | None = None
        self._closed = False

    @contextmanager
    def transaction(
        self, *, prepared: bool = False, is_slow: bool = False, snapshot: bool = False
    ) -> Iterator[Connection]:
        """BEGIN … COMMIT around the block; ROLLBACK when it raises. Raises AppError children.

        One connection is reserved for `autocommit` if the pool has more than one. `prepared` plans
        each statement once per connection, which halves its time; a stale plan aborts the
        transaction, so the caller must retry after DatabaseUnavailable. All statements of a
        `snapshot` see the same state without a lock; it is read-only.
        """
        if not snapshot:
            self._stuck.refuse_if_confirmed()
        release_turn()
        slot = self._limit_concurrency(self._transactions)
        slow = self._limit_slow() if is_slow else _NO_LIMIT
        with slow, slot, self._check_out() as conn:
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
    def autocommit(
        self, *, is_slow: bool = False, is_brief: bool = False, is_write: bool = False
    ) -> Iterator[Connection]:
        """Each statement of the block is a transaction of its own. Raises AppError children:
        UnconfirmedCommit at the end of the block, so acknowledge after it. During a brief block no
        other request runs: that costs less than passing the turn, see concurrency/workers.py. A
        write is refused at once while other statements are stuck."""
        if is_write:
            self._stuck.refuse_if_confirmed()
        if not is_brief:
            release_turn()
        with self._limit_slow() if is_slow else _NO_LIMIT, self._check_out() as conn:
            conn.autocommit = True
            conn.notices.clear()
            try:
                yield conn
                conn.confirm()
            finally:
                if not conn.closed:
                    conn.autocommit = False

    def ping(self) -> None:
        """Raises DatabaseUnavailable if the database doesn't answer, is read-only, doesn't end the
        statements of others, or accepts no new connection. Opens one outside of the pool, whose
        own may all work, unless another call has done so within PROBE_SECONDS."""
        with self.autocommit(is_write=True) as conn, conn.cursor() as cursor:
            send(cursor, "SELECT current_setting('transaction_read_only')::bool")
            if cursor.fetchone() != (False,):
                raise DatabaseUnavailable(READ_ONLY)
        self._probe.get(0, self._try_opening, max_age=PROBE_SECONDS, wait=READ_WAIT_SECONDS)

    def open_dedicated(self) -> Connection:
        """A connection outside the pool, for migrations. Raises psycopg2.Error."""
        conn = self._connector.open()
        self._in_use.discard(conn)
        return conn

    def _try_opening(self) -> None:
        try:
            self.open_dedicated().close()
        except psycopg2.Error as error:
            raise translate(error) from None

    def is_current(self, conn: Connection) -> bool:
        """False if another server has become the primary since the connection was opened."""
        return conn.epoch == self._connector.epoch

    def add_connection(self, conn: Connection) -> None:
        """Adds a dedicated connection without open work to the pool."""
        with self._lock:
            self._open += 1
            self._idle.append((conn, time.monotonic()))

    def evict_idle(self) -> int:
        """Closes connections that were idle too long; returns their number."""
        now = time.monotonic()
        evicted: list[Connection] = []
        with self._lock:
            while self._idle and self._open - len(evicted) > self._min_size:
                if now - self._idle[0][1] < self._idle_seconds:
                    break
                evicted.append(self._idle.popleft()[0])
        for conn in evicted:
            self._discard(conn)
        return len(evicted)

    def cut_stuck(self, seconds: float = wait_budget.MAX_WAIT_SECONDS) -> int:
        """Closes stuck connections, whose requests have waited for an answer for `seconds`. Returns
        their number.

        The server's timeouts end slow statements earlier. But if the server or the network doesn't
        respond, libpq waits without a limit. The request gets a 503. The slot of the pool is not
        free before `release_stuck`.
        """
        return sum(conn.cut_if_stuck(seconds) for conn in self._in_use.copy())

    def release_stuck(self, seconds: float = wait_budget.MAX_WAIT_SECONDS) -> int:
        """Frees the slots of stuck connections whose statements have ended on the server; returns
        their number. Raises DatabaseUnavailable if the server doesn't answer, or executes a
        statement for more than `seconds`.

        In this second case writes, which would become stuck too, are refused from then on, and
        requests open no connections. Reads use the remaining connections.
        """
        if not len(self._stuck):
            return 0
        try:
            conn = self._connector.open(tries_others=self._stuck.is_confirmed)
            with self._lock:
                self._open += 1
            try:
                ended = self._stuck.remove_ended(conn, seconds)
            except BaseException:
                self._discard(conn)
                raise
        except psycopg2.Error as error:
            self._stuck.is_confirmed = True
            raise translate(error) from None
        with self._lock:
            self._open -= ended
        for _ in range(ended):
            self._slots.release()
        if not self._idle and self._slots.acquire(blocking=False):
            self._return(conn)  # for reads
        else:
            self._discard(conn)
        self._stuck.refuse_if_confirmed()
        return ended

    def fill(self) -> None:
        """Opens connections up to the minimum while slots are free."""
        while (
            self._open < self._min_size
            and not self._closed
            and not self._stuck.is_confirmed
            and self._slots.acquire(blocking=False)
        ):
            try:
                conn = self._connect()
            except BaseException:
                self._slots.release()
                raise
            self._return(conn)

    def statistics(self) -> dict[str, int]:
        with self._lock:
            free = len(self._idle)
            return {
                "min": self._min_size,
                "max": self.max_size,
                "free": free,
                "used": self._open - free,
                "pending_creates": self._creating,
                "pending_acquires": self._waiting,
            }

    def close(self) -> None:
        """Closes idle connections now and the others when they are returned."""
        with self._lock:
            self._closed = True
            idle, self._idle = [conn for conn, _ in self._idle], deque()
        for conn in idle:
            self._discard(conn)

    @contextmanager
    def _check_out(self) -> Iterator[Connection]:
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
            self._return(conn)

    def _take(self) -> Connection:
        self._wait_for(self._slots)
        try:
            while not self._closed:
                with self._lock:
                    if not self._idle:
                        break
                    conn, _ = self._idle.pop()
                    self._in_use.add(conn)
                if self.is_current(conn) and conn.is_alive:
                    return conn
                self._discard(conn)
                self._discard_dead()
            if self._closed:
                raise UnavailableError("The service is stopping.")
            self._stuck.refuse_if_confirmed()
            return self._connect()
        except BaseException:
            self._slots.release()
            raise

    @contextmanager
    def _limit_slow(self) -> Iterator[None]:
        """Runs the block when a slow read may. Raises UnavailableError: at once if too many callers
        wait, otherwise after the wait."""
        if not self._slow_callers.acquire(blocking=False):
            raise build_busy_error()
        try:
            with self._limit_concurrency(self._slow_reads):
                yield
        finally:
            self._slow_callers.release()

    @contextmanager
    def _limit_concurrency(self, slots: threading.BoundedSemaphore) -> Iterator[None]:
        self._wait_for(slots)
        try:
            yield
        finally:
            slots.release()

    def _wait_for(self, slots: threading.BoundedSemaphore) -> None:
        if slots.acquire(blocking=False):
            return
        if len(self._stuck) >= self.max_size:
            raise DatabaseUnavailable()
        with self._lock:
            self._waiting += 1
        try:
            is_acquired = wait_budget.wait(slots.acquire, self._wait_seconds)
        finally:
            with self._lock:
                self._waiting -= 1
        if not is_acquired:
            raise build_busy_error()

    def _connect(self) -> Connection:
        with self._lock:
            self._creating += 1
        try:
            conn = self._connector.open()
        except psycopg2.Error as error:
            raise translate(error) from None
        finally:
            with self._lock:
                self._creating -= 1
        with self._lock:
            self._open += 1
        return conn

    def _drop_all(self, conn: Connection) -> None:
        """Closes all connections to a read-only server: a standby, or a demoted primary. The next
        connection then finds the new primary."""
        conn.close()
        self._connector.start_epoch()
        self._close_outdated()

    def _close_outdated(self) -> None:
        """Closes the idle connections to servers other than the primary; `_return` closes the
        rest."""
        with self._lock:
            outdated = [pair for pair in self._idle if not self.is_current(pair[0])]
            for pair in outdated:
                self._idle.remove(pair)
        for conn, _ in outdated:
            self._discard(conn)

    def _return(self, conn: Connection) -> None:
        if conn.is_stuck:
            with self._lock:
                self._in_use.discard(conn)
            self._stuck.add(conn)
            conn.close()
            return
        is_reusable = not conn.closed and not self._closed and self.is_current(conn)
        if is_reusable and conn.get_transaction_status() != _IDLE:
            try:
                conn.rollback()
            except psycopg2.Error:
                is_reusable = False
        if is_reusable:
            with self._lock:
                self._in_use.discard(conn)
                self._idle.append((conn, time.monotonic()))
            self._connector.confirm()
        else:
            self._discard(conn)
        self._slots.release()

    def _discard_dead(self) -> None:
        """Closes all dead connections, because a restart of the server ends all of them."""
        with self._lock:
            dead = [pair for pair in self._idle if not pair[0].is_alive]
            for pair in dead:
                self._idle.remove(pair)
        for conn, _ in dead:
            self._discard(conn)

    def _discard(self, conn: Connection) -> None:
        with self._lock:
            self._in_use.discard(conn)
            self._open -= 1
        try:
            conn.close()
        except psycopg2.Error:
            pass


__all__ = ["Connection", "Database", "DatabaseUnavailable"]
