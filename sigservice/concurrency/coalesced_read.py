"""A read that many threads share, without a stale answer for any of them."""

import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

from sigservice.concurrency import wait_budget
from sigservice.concurrency.shared_result import SharedResult
from sigservice.concurrency.workers import release_turn
from sigservice.errors import build_busy_error

# A reader that waits longer for the read before its own gets an error: while the database hangs,
# waiting readers would occupy all workers.
WAIT_SECONDS = 1.0

Answer = TypeVar("Answer")


class CoalescedRead(Generic[Answer]):
    """`get()` returns what `read()` returns, from a read that began after `get` was called, or
    after the request of the caller arrived.

    A caller that comes while a read runs waits for the next one, together with all other waiting
    callers. So under load one read serves many callers, and none misses a change.
    """

    def __init__(
        self, read: Callable[[], Answer], seconds: Callable[[], float] = time.monotonic
    ) -> None:
        self._read, self._seconds = read, seconds
        self._last: tuple[float, Answer] | None = None  # when the last read began, and its answer
        self._reading = threading.Lock()
        self._lock = threading.Lock()
        self._next: SharedResult[Answer] | None = None

    def get(self, arrived_at: float | None = None) -> Answer:
        """`arrived_at` is when the request arrived (time.monotonic()). The last answer is enough if
        its read began later, as for requests that waited for a worker.

        Raises what `read` raises, a copy in each thread that shares it, and UnavailableError after
        WAIT_SECONDS.
        """
        last = self._last
        if arrived_at is not None and last is not None and last[0] > arrived_at:
            return last[1]
        with self._lock:
            shared = self._next
            if is_leader := shared is None:
                shared = self._next = SharedResult()
        if is_leader:
            return shared.compute(self._read_next)
        return shared.wait(WAIT_SECONDS)

    def _read_next(self) -> Answer:
        can_read = self._reading.acquire(blocking=False)
        if not can_read:
            release_turn()
            can_read = wait_budget.wait(self._reading.acquire, WAIT_SECONDS)
        with self._lock:
            self._next = None  # callers from here on may expect a later change
        if not can_read:
            raise build_busy_error()
        try:
            began_at = self._seconds()
            answer = self._read()
            self._last = began_at, answer
            return answer
        finally:
            self._reading.release()
