"""Bulkheads: classes of work that each have a small share of the pool's connections.

A flood of such work can't hold up the rest. The callers that wait are bounded in number too,
because each of them holds a worker of the listener.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from sigservice.errors import UnavailableError


@dataclass(frozen=True)
class Share:
    """One in `part` connections of the pool, at least one; for each of them `waiting` callers may
    wait, each at most `wait_seconds`."""

    part: int
    waiting: int
    wait_seconds: float


# With the least number of workers, 8, `usage` can hold 6 of them.
SHARES = {
    # What SDKs report: metrics and registrations. Public tokens may send these.
    "usage": Share(part=4, waiting=5, wait_seconds=0.5),
    # Slow reads of signed-in people and tools: searches in events and signals, exports.
    "search": Share(part=4, waiting=2, wait_seconds=2.0),
}


class Bulkhead:
    def __init__(self, share: Share, pool_size: int) -> None:
        self.connections = max(1, pool_size // share.part)
        self._wait_seconds = share.wait_seconds
        self._running = threading.BoundedSemaphore(self.connections)
        self._admitted = threading.BoundedSemaphore(self.connections * (1 + share.waiting))

    @contextmanager
    def enter(self) -> Iterator[None]:
        """Raises UnavailableError: at once when enough callers wait, else after the wait."""
        if not self._admitted.acquire(blocking=False):
            raise _busy()
        try:
            if not self._running.acquire(timeout=self._wait_seconds):
                raise _busy()
            try:
                yield
            finally:
                self._running.release()
        finally:
            self._admitted.release()


def _busy() -> UnavailableError:
    return UnavailableError("The service is busy. Try again.")
