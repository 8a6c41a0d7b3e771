"""A read that many threads share, without a stale answer for any of them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

from sigservice.concurrency import wait_budget
from sigservice.concurrency.workers import release_turn
from sigservice.errors import build_busy_error, copy_error

# A reader that waits longer for the read before its own gets an error: while the database hangs,
# waiting readers would occupy all workers.
WAIT_SECONDS = 1.0

Answer = TypeVar("Answer")


class CoalescedRead(Generic[Answer]):
    """`get()` returns what `read()` returns, from a read that began after `get` was called, or
    after the request of the caller arrived.

    A caller that comes while a read runs waits for the next one, together with all other waiting
    callers. So one read serves many under load, and no change is missed.
    """

    def __init__(
        self, read: Callable[[], Answer], seconds: Callable[[], float] = time.monotonic
    ) -> None:
        self._read, self._seconds = read, seconds
        self._last: tuple[float, Answer] | None = None  # when the last read began, and its answer
        self._reading = threading.Lock()
        self._lock = threading.Lock()
        self._next: _SharedRead[Answer] | None = None

    def get(self, arrived_at: float | None = None) -> Answer:
        """`arrived_at` is when the request arrived (time.monotonic()). The last answer is enough if
        its read began later, which is so for requests that waited for a worker.

        Raises what `read` raises, a copy in each thread that shares it, and UnavailableError after
        WAIT_SECONDS.
        """
        last = self._last
        if arrived_at is not None and last is not None and last[0] > arrived_at:
            return last[1]
        with self._lock:
            shared = self._next
            if is_leader := shared is None:
                shared = self._next = _SharedRead()
        if is_leader:
            self._run(shared)
            return shared.answer
        release_turn()
        if not wait_budget.wait(shared.done.wait, WAIT_SECONDS):
            raise build_busy_error()
        if shared.error is not None:
            raise copy_error(shared.error)
        return shared.answer

    def _run(self, shared: _SharedRead[Answer]) -> None:
        can_read = self._reading.acquire(blocking=False)
        if not can_read:
            release_turn()
            can_read = wait_budget.wait(self._reading.acquire, WAIT_SECONDS)
        with self._lock:
            self._next = None  # callers from here on may expect a later change
        try:
            if not can_read:
                raise build_busy_error()
            began_at = self._seconds()
            shared.answer = self._read()
            self._last = began_at, shared.answer
        except BaseException as error:
            shared.error = copy_error(error)
            raise
        finally:
            if can_read:
                self._reading.release()
            shared.done.set()


class _SharedRead(Generic[Answer]):
    answer: Answer

    def __init__(self) -> None:
        self.done = threading.Event()
        self.error: BaseException | None = None
