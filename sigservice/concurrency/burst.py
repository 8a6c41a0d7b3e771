"""Bursts of changes, which background work should not slow down."""

import threading
from collections.abc import Callable

MAX_SECONDS = 20.0


class Burst:
    """Lasts at most MAX_SECONDS, so endless changes don't hold up the work forever."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._began_at: float | None = None
        self._is_over = threading.Event()
        self._is_over.set()

    @property
    def lasts(self) -> bool:
        return not self._is_over.is_set()

    def observe(self, is_burst: bool) -> None:
        """Begins, continues or ends the burst, by a look at the latest changes."""
        now = self._monotonic()
        if not is_burst:
            self._began_at = None
        elif self._began_at is None:
            self._began_at = now
        if self._began_at is None or now - self._began_at > MAX_SECONDS:
            self._is_over.set()
        else:
            self._is_over.clear()

    def wait(self, seconds: float) -> None:
        """Waits until the burst is over, for at most `seconds`."""
        self._is_over.wait(seconds)
