"""Group commit: concurrent requests share one statement, one commit and one connection.

There is no thread of its own and no timer: see docs/decisions/0017-group-commit.md.
"""

import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Generic, Protocol, TypeVar

from sigservice.db.errors import DatabaseError, DatabaseUnavailable
from sigservice.db.pool import Connection, Database
from sigservice.errors import AppError, UnavailableError
from sigservice.workers import release_turn


class Sized(Protocol):
    @property
    def size(self) -> int:
        """Bytes, to limit what one statement stores."""


Item = TypeVar("Item", bound=Sized)
Result = TypeVar("Result")


class GroupCommit(Generic[Item, Result]):
    """`store(item)` returns the item's result after its commit.

    The first caller becomes the writer: it stores its item together with all that wait, wakes their
    callers, and hands over to the first caller that came in the meantime. So a caller writes for
    others once at most, and a single caller waits for nobody.

    `write(conn, items)` executes one statement on a connection in autocommit and returns a result
    for each item, in their order. An error of the statement means that nothing is stored; then the
    halves of the group are stored separately, until only the caller whose item can't be stored gets
    the error. UnavailableError is not retried, because the outcome of a lost connection is unknown:
    all callers of the group get one.
    """

    def __init__(
        self,
        database: Database,
        write: Callable[[Connection, Sequence[Item]], Sequence[Result]],
        *,
        max_waiting: int,
        max_bytes: int,
        wait_seconds: float,
        observe: Callable[[int], None] = lambda count: None,
    ) -> None:
        """At most `max_waiting` callers wait for a result; one that still waits for its turn after
        `wait_seconds` is refused. A group has at most `max_bytes`, or one item. `observe` gets the
        number of items of each group."""
        self._database, self._write, self._observe = database, write, observe
        self._max_waiting, self._max_bytes = max_waiting, max_bytes
        self._wait_seconds = wait_seconds
        self._lock = threading.Lock()
        self._queue: deque[_Entry[Item, Result]] = deque()
        self._has_writer = False
        self._waiting = 0

    @property
    def waiting(self) -> int:
        """How many callers wait for their result."""
        return self._waiting

    def store(self, item: Item) -> Result:
        """Raises UnavailableError, and what `write` raises for this item alone."""
        entry: _Entry[Item, Result] = _Entry(item)
        with self._lock:
            if self._waiting >= self._max_waiting:
                raise _build_busy_error()
            self._waiting += 1
            self._queue.append(entry)
            entry.is_writer = not self._has_writer
            self._has_writer = True
        try:
            if not entry.is_writer:
                release_turn()
                self._wait(entry)
            if entry.is_writer:
                self._store_group(self._take_group())
        finally:
            with self._lock:
                self._waiting -= 1
        if not entry.is_stored:
            raise entry.error or DatabaseUnavailable()  # its writer failed otherwise
        return entry.result

    def _wait(self, entry: "_Entry[Item, Result]") -> None:
        """Returns when the entry has a result, or its caller has to write."""
        if entry.is_ready.acquire(timeout=self._wait_seconds):
            return
        with self._lock:
            if entry in self._queue and not entry.is_writer:
                self._queue.remove(entry)
                raise _build_busy_error()
        entry.is_ready.acquire()  # it is part of a group that is being stored

    def _take_group(self) -> "list[_Entry[Item, Result]]":
        """The oldest entries, of which the writer's is the first."""
        group: list[_Entry[Item, Result]] = []
        size = 0
        with self._lock:
            while self._queue:
                size += self._queue[0].item.size
                if group and size > self._max_bytes:
                    break
                group.append(self._queue.popleft())
        return group

    def _store_group(self, group: "list[_Entry[Item, Result]]") -> None:
        """Hands over to the next writer and wakes the callers of the group, whatever happens."""
        try:
            self._store(group)
            self._observe(len(group))
        finally:
            with self._lock:
                self._has_writer = bool(self._queue)
                if self._queue:
                    self._queue[0].is_writer = True
                    self._queue[0].is_ready.release()
            for entry in group[1:]:
                entry.is_ready.release()

    def _store(self, entries: "list[_Entry[Item, Result]]") -> None:
        try:
            with self._database.autocommit() as conn:
                results = self._write(conn, [entry.item for entry in entries])
        except UnavailableError as error:
            _refuse(entries, error)
        except (AppError, DatabaseError) as error:
            if len(entries) == 1:
                entries[0].error = error
                return
            middle = len(entries) // 2
            self._store(entries[:middle])
            self._store(entries[middle:])
        else:
            for entry, result in zip(entries, results, strict=True):
                entry.result, entry.is_stored = result, True


class _Entry(Generic[Item, Result]):
    """Its caller waits for `is_ready`, which is released once: for the result, or for writing."""

    __slots__ = ("error", "is_ready", "is_stored", "is_writer", "item", "result")
    result: Result

    def __init__(self, item: Item) -> None:
        self.item, self.is_writer, self.is_stored = item, False, False
        self.error: Exception | None = None
        self.is_ready = threading.Lock()
        self.is_ready.acquire()


def _refuse(entries: "Sequence[_Entry[Item, Result]]", error: UnavailableError) -> None:
    """Each caller gets an error of its own, because routes add headers to it."""
    state = error.sqlstate if isinstance(error, DatabaseUnavailable) else ""
    for entry in entries:
        entry.error = DatabaseUnavailable(state)


def _build_busy_error() -> UnavailableError:
    return UnavailableError("The service is busy. Try again.")
