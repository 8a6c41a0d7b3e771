"""Text of metrics that is written once for concurrent scrapes."""

import threading
from collections.abc import Callable

from sigservice.concurrency.shared_body import SharedBody
from sigservice.concurrency.workers import release_turn

LONG_SECONDS = 0.2
CACHE_FACTOR = 10  # the cache lives so many times as long as writing took
RECENT_SECONDS = 1.0


class CachedExposition:
    """One caller writes at a time; others get the cached text or wait, so that a flood of requests
    without a token can't block all workers. Text that takes long to write, because clients reported
    many names, is cached longer."""

    def __init__(self, write: Callable[[], bytes], monotonic: Callable[[], float]) -> None:
        self._write, self._monotonic = write, monotonic
        self._writing, self._cached = threading.Lock(), SharedBody(b"")
        self._cached_until = self._recent_until = 0.0

    def read(self) -> SharedBody:
        """Raises what `write` raises."""
        if not self._writing.acquire(blocking=False):
            if self._monotonic() < self._recent_until:
                return self._cached
            release_turn()
            self._writing.acquire()
        try:
            started_at = self._monotonic()
            if started_at >= self._cached_until:
                self._cached = SharedBody(self._write())
                ended_at = self._monotonic()
                seconds = ended_at - started_at
                self._cached_until = started_at + (
                    seconds * CACHE_FACTOR if seconds > LONG_SECONDS else 0
                )
                self._recent_until = ended_at + max(RECENT_SECONDS, seconds * CACHE_FACTOR * 2)
            return self._cached
        finally:
            self._writing.release()
