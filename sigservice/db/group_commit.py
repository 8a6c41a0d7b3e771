"""Group commit: concurrent requests share one statement, one commit and one connection.

There is no thread of its own and no timer: see docs/decisions/0017-threads-and-group-commits.md.
"""

import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Generic, Protocol, TypeVar

from sigservice.concurrency import wait_budget
from sigservice.concurrency.workers import Wait, release_turn, yield_turn
from sigservice.db.errors import DatabaseError, DatabaseUnavailable
from sigservice.db.pool import Connection, Database
from sigservice.errors import AppError, UnavailableError, build_busy_error


class Sized(Protocol):
    @property
    def size(self) -> int:
        """The size in bytes, which limits how much one statement stores."""


Item = TypeVar("Item", bound=Sized)
Result = TypeVar("Result")


class GroupCommit(Generic[Item, Result]):
    """`store(item)` returns the item's result after its commit.

    One caller at a time is the writer: it stores its item together with all that wait, wakes their
    callers, and the first of those that came meanwhile is the next writer. A single caller doesn't
    wait: the first writer only lets the requests go on that have arrived.

    `write(conn, items)` executes statements on a connection in autocommit and returns a result for
    each item, in their order. It can be repeated after an error; then the halves of the group are
    stored separately, until only the caller whose item can't be stored gets the error.
    UnavailableError is not retried, because the outcome of a lost connection is unknown: all
    callers of the group get one.
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
        """At most `max_waiting` callers wait for a result. A caller is refused if the writing of
        its item hasn't begun after `wait_seconds`. A group has at most `max_bytes`, or one item.
        `observe` gets the number of items of each commit."""
        self._database, self._write, self._observe = database, write, observe
        self._max_waiting, self._max_bytes = max_waiting, max_bytes
        self._wait_seconds = wait_seconds
        self._lock = threading.Lock()
        self._queue: deque[_Entry[Item, Result]] = deque()
        self._has_writer = False
        self._waiting = 0

    @property
    def waiting(self) -> int:
        """The number of callers that wait for their result."""
        return self._waiting

    def store(self, item: Item) -> Result:
        """Raises UnavailableError, and what `write` raises for this item alone."""
        entry: _Entry[Item, Result] = _Entry(item)
        with self._lock:
            if self._waiting >= self._max_waiting:
                raise build_busy_error()
            self._waiting += 1
            self._queue.append(entry)
            entry.is_writer, self._has_writer = not self._has_writer, True
        try:
            if entry.is_writer:
                with wait_budget.count():
                    yield_turn()  # to requests that have arrived, so that they join the group
            else:
                release_turn()
                self._wait(entry)
            if entry.is_writer:
                self._store_group(entry)
        finally:
            with self._lock:
                self._waiting -= 1
        if not entry.is_stored:
            raise entry.error or DatabaseUnavailable()  # its writer failed in another way
        return entry.result

    def _wait(self, entry: "_Entry[Item, Result]") -> None:
        """Returns when a writer has stored the entry, or when its caller is the writer."""
        if wait_budget.wait(entry.wait.wait, self._wait_seconds):
            return
        with self._lock:
            if not entry.is_writer and entry in self._queue:
                self._queue.remove(entry)
                raise build_busy_error()
        entry.wait.wait()  # a writer is storing its group, or has just made it the writer

    def _store_group(self, own: "_Entry[Item, Result]") -> None:
        """Stores the oldest entries, first the caller's own, and makes the caller of the next one
        the writer."""
        release_turn()  # a caller that has waited has it
        group = self._take_group()
        wait_budget.adopt_start(min(entry.start for entry in group))
        try:
            self._write_entries(group)
        finally:
            for entry in reversed(group):
                entry.wait.end()
            with self._lock:
                self._has_writer = bool(self._queue)
                if self._queue:
                    self._queue[0].is_writer = True
                    self._queue[0].wait.end()
            own.wait.wait()

    def _take_group(self) -> "list[_Entry[Item, Result]]":
        """The oldest entries."""
        group: list[_Entry[Item, Result]] = []
        size = 0
        with self._lock:
            while self._queue:
                size += self._queue[0].size
                if group and size > self._max_bytes:
                    break
                group.append(self._queue.popleft())
        return group

    def _write_entries(self, entries: "list[_Entry[Item, Result]]") -> None:
        try:
            with self._database.autocommit(is_write=True) as conn:
                results = self._write(conn, [entry.item for entry in entries])
        except UnavailableError as error:
            _refuse(entries, error)
        except (AppError, DatabaseError) as error:
            if len(entries) == 1:
                entries[0].error = error
                return
            middle = len(entries) // 2
            self._write_entries(entries[:middle])
            self._write_entries(entries[middle:])
        else:
            for entry, result in zip(entries, results, strict=True):
                entry.result, entry.is_stored = result, True
            self._observe(len(entries))


class _Entry(Generic[Item, Result]):
    """`wait` ends when the item is stored or refused, and when the caller is the writer."""

    __slots__ = ("error", "is_stored", "is_writer", "item", "result", "size", "start", "wait")
    result: Result

    def __init__(self, item: Item) -> None:
        self.item, self.is_stored, self.is_writer = item, False, False
        self.size, self.wait = item.size, Wait()
        self.start = wait_budget.get_start()
        self.error: Exception | None = None


def _refuse(entries: "Sequence[_Entry[Item, Result]]", error: UnavailableError) -> None:
    """Each caller gets an error of its own, because routes add headers to it."""
    state = error.sqlstate if isinstance(error, DatabaseUnavailable) else ""
    for entry in entries:
        entry.error = DatabaseUnavailable(state)
