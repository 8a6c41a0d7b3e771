"""One query at a time for each metric source, of the threads of a process."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from sigservice.concurrency import wait_budget
from sigservice.concurrency.quotas import Quotas
from sigservice.db import Row

MARGIN_SECONDS = 5


class SourceLocks:
    """The locks of one process. `places` limits how many requests hold or await a source."""

    def __init__(self, places: Quotas) -> None:
        self.places, self._locks = places, dict[str, threading.Lock]()

    @contextmanager
    def hold(self, source: Row) -> Iterator[bool]:
        """Waits for the source, a little longer than its timeout, or as long as the request may
        wait. Yields whether it is free."""
        lock = self._locks.setdefault(source["name"], threading.Lock())
        is_free = wait_budget.wait(lock.acquire, source["timeout_seconds"] + MARGIN_SECONDS)
        try:
            yield is_free
        finally:
            if is_free:
                lock.release()

    @contextmanager
    def hold_for_request(self, source: Row) -> Iterator[bool]:
        """Like `hold`; yields False at once if there is no place."""
        if not self.places.acquire(source["name"]):
            yield False
            return
        try:
            with self.hold(source) as is_free:
                yield is_free
        finally:
            self.places.release(source["name"])
