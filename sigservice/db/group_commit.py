"""Group commit: concurrent requests share one statement, one commit and one connection.

There is no thread of its own and no timer: see docs/decisions/0017-group-commit.md.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Generic, Protocol, TypeVar

from sigservice.concurrency import wait_budget
from sigservice.concurrency.workers import release_turn, resume_turn, run_similar_tasks
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

    One caller at a time is the writer: it stores its item together with all waiting items. Callers
    that arrive meanwhile wait, and one of them is the next writer. So a single caller doesn't wait.
    Before a worker of the listener writes or waits, it runs the requests of the same kind that have
    arrived, so that their items join the group without a thread of their own.

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
        its item hasn't begun after `wait_seconds`, in which it may have run other requests. A group
        has at most `max_bytes`, or one item. `observe` gets the number of items of each commit."""
        self._database, self._write, self._observe = database, write, observe
        self._max_waiting, self._max_bytes = max_waiting, max_bytes
        self._wait_seconds = wait_seconds
        self._lock = threading.Lock()
        self._queue: deque[_Entry[Item, Result]] = deque()
        self._has_writer, self._may_go_on = False, threading.Condition(self._lock)
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
        try:
            give_up_at = time.monotonic() + wait_budget.limit(self._wait_seconds)
            with wait_budget.count():
                run_similar_tasks(lambda: entry.is_done or time.monotonic() > give_up_at)
            while not entry.is_done:
                self._write_or_wait(entry, give_up_at)
                resume_turn()
        finally:
            with self._lock:
                self._waiting -= 1
                # The caller failed while it wrote other items.
                if not entry.is_done and entry in self._queue:
                    self._queue.remove(entry)
        if not entry.is_stored:
            raise entry.error or DatabaseUnavailable()  # its writer failed in another way
        return entry.result

    def _write_or_wait(self, entry: "_Entry[Item, Result]", give_up_at: float) -> None:
        """Stores the oldest items, unless another writer has stored this item meanwhile."""
        release_turn()
        with self._lock:
            while self._has_writer and not entry.is_done:
                seconds = max(0.0, give_up_at - time.monotonic())
                if wait_budget.wait(self._may_go_on.wait, seconds) or entry.is_done:
                    continue
                if entry in self._queue:
                    self._queue.remove(entry)
                    raise build_busy_error()
                self._may_go_on.wait()  # a writer is storing its group
            if entry.is_done:
                return
            self._has_writer = True
        try:
            self._store_group(self._take_group())
        finally:
            with self._lock:
                self._has_writer = False
                self._may_go_on.notify_all()

    def _take_group(self) -> "list[_Entry[Item, Result]]":
        """The oldest entries."""
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
        wait_budget.adopt_start(min(entry.start for entry in group))
        try:
            self._write_entries(group)
        finally:
            for entry in group:
                entry.is_done = True

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
    __slots__ = ("error", "is_done", "is_stored", "item", "result", "start")
    result: Result

    def __init__(self, item: Item) -> None:
        self.item, self.is_stored, self.is_done = item, False, False
        self.start = wait_budget.get_start()
        self.error: Exception | None = None


def _refuse(entries: "Sequence[_Entry[Item, Result]]", error: UnavailableError) -> None:
    """Each caller gets an error of its own, because routes add headers to it."""
    state = error.sqlstate if isinstance(error, DatabaseUnavailable) else ""
    for entry in entries:
        entry.error = DatabaseUnavailable(state)
