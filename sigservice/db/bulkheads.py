"""Bulkheads: classes of work that each have a small share of the pool's connections.

A flood of such work can't block the rest. The number of waiting callers is limited too, because
each of them occupies a worker of the listener.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from sigservice.concurrency import wait_budget
from sigservice.errors import build_busy_error


@dataclass(frozen=True)
class Share:
    """A bulkhead has one of every `part` connections of the pool, but at least one. Up to `waiting`
    callers wait for a connection, each for up to `wait_seconds`."""

    part: int
    waiting: int
    wait_seconds: float

    def count_connections(self, pool_size: int) -> int:
        return max(1, pool_size // self.part)


# Workers of the listener besides the ones for bulkheads. Password hashing uses at most three of
# them.
FREE_WORKERS = 8
# Callers that wait for one group commit (db/group_commit.py): senders of signals, or SDKs that
# report; and SDKs that report with public tokens, so that these keep no others waiting.
MAX_WAITING, MAX_FRONTEND_WAITING = 64, 32
# Files that are sent while they are read from the database (web/streamed_files.py). Each occupies a
# worker as long as its client reads.
MAX_STREAMED_FILES = 4
# Requests that query a metric source or wait until it is free (services/rules/source_locks.py), at
# most for its timeout. A source that hangs occupies at most half of them.
MAX_SOURCE_QUERIES = 6
# Tests of integrations, which wait up to 30 s for their receivers.
MAX_INTEGRATION_TESTS = 4
SHARES = {
    # Slow reads of users and tools: searches in events and signals, exports.
    "search": Share(part=4, waiting=2, wait_seconds=2.0),
}


def count_workers(pool_size: int) -> int:
    """The number of threads for requests: as many as bulkheads, group commits, files, metric
    sources and tests of integrations can occupy, and some for other requests."""
    occupied = sum(share.count_connections(pool_size) + share.waiting for share in SHARES.values())
    occupied += MAX_WAITING + MAX_FRONTEND_WAITING
    occupied += MAX_STREAMED_FILES + MAX_SOURCE_QUERIES + MAX_INTEGRATION_TESTS
    return max(occupied + FREE_WORKERS, pool_size * 2)


class Bulkhead:
    def __init__(self, share: Share, pool_size: int) -> None:
        self.connections = share.count_connections(pool_size)
        self._wait_seconds = share.wait_seconds
        self._running = threading.BoundedSemaphore(self.connections)
        self._admitted = threading.BoundedSemaphore(self.connections + share.waiting)

    @contextmanager
    def enter(self) -> Iterator[None]:
        """Runs the block when a connection is free. Raises UnavailableError: at once if too many
        callers wait, otherwise after the wait."""
        if not self._admitted.acquire(blocking=False):
            raise build_busy_error()
        try:
            if not wait_budget.wait(self._running.acquire, self._wait_seconds):
                raise build_busy_error()
            try:
                yield
            finally:
                self._running.release()
        finally:
            self._admitted.release()
