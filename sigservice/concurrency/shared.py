"""A value that one caller builds and the others that need it wait for: docs/decisions/0008."""

import threading
import time
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from sigservice.concurrency import wait_budget
from sigservice.concurrency.workers import release_turn
from sigservice.errors import build_busy_error, copy_error

# A request that waits longer for a read of the database gets an error: while the database hangs,
# waiting requests would occupy all workers.
READ_WAIT_SECONDS = 1.0

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class Shared(Generic[Key, Value]):
    """`get` returns a value whose build began after the caller's `not_before`, if it has one. For
    each key one build runs at a time, without a lock; callers that it comes too early for share the
    next one. `keeps` the last value of each key, for keys that are few."""

    def __init__(
        self, *, keeps: bool = False, seconds: Callable[[], float] = time.monotonic
    ) -> None:
        self._keeps, self._seconds = keeps, seconds
        self._lock = threading.Lock()
        self._last: dict[Key, tuple[float, Value]] = {}  # when its build began, and the value
        self._running: dict[Key, _Build[Value]] = {}
        self._next: dict[Key, _Build[Value]] = {}

    def get(
        self,
        key: Key,
        build: Callable[[], Value],
        *,
        not_before: float | None = None,
        max_age: float = 0.0,
        wait: float = threading.TIMEOUT_MAX,
    ) -> Value:
        """The value of `build()`, or of a caller that builds for the same key. A kept value is
        enough if its build began after `not_before`, or less than `max_age` seconds ago.

        Raises what the build raises, a copy in each thread that shares it, and UnavailableError
        after `wait` seconds or when the request has waited too long for another thread.
        """
        last = self._last.get(key)
        if last is not None and (
            (not_before is not None and last[0] > not_before)
            or (max_age and self._seconds() - last[0] < max_age)
        ):
            return last[1]
        with self._lock:
            running = self._running.get(key)
            shared = running
            if running is not None and not running.serves(not_before):
                shared = self._next.get(key)
            if is_builder := shared is None:
                shared = _Build()
                (self._running if running is None else self._next)[key] = shared
            awaited = running if is_builder else shared
            if awaited is not None and awaited.ended is None:
                awaited.ended = threading.Event()
        assert shared is not None
        if not is_builder:
            return shared.wait(wait)
        return self._run(key, shared, build, running, wait)

    def _run(
        self,
        key: Key,
        shared: "_Build[Value]",
        build: Callable[[], Value],
        before: "_Build[Value] | None",
        wait: float,
    ) -> Value:
        """Builds when the build `before` has ended."""
        try:
            if before is not None and not before.wait_for_end(wait):
                raise build_busy_error()
            with self._lock:  # callers from here on may expect a later change
                began_at = shared.began_at = self._seconds()
            value = shared.value = build()
            if self._keeps:
                self._last[key] = began_at, value
            return value
        except BaseException as error:
            shared.error = copy_error(error)
            raise
        finally:
            with self._lock:
                if self._next.get(key) is shared:  # it never began
                    del self._next[key]
                elif (following := self._next.pop(key, None)) is not None:
                    self._running[key] = following
                else:
                    del self._running[key]
            if shared.ended is not None:
                shared.ended.set()


class _Build(Generic[Value]):
    """`began_at` is None before it has begun, `ended` while no caller waits for it."""

    __slots__ = ("began_at", "ended", "error", "value")
    value: Value

    def __init__(self) -> None:
        self.ended: threading.Event | None = None
        self.began_at: float | None = None
        self.error: BaseException | None = None

    def serves(self, not_before: float | None) -> bool:
        return not_before is None or self.began_at is None or self.began_at > not_before

    def wait_for_end(self, seconds: float) -> bool:
        assert self.ended is not None
        release_turn()
        return wait_budget.wait(self.ended.wait, seconds)

    def wait(self, seconds: float) -> Value:
        if not self.wait_for_end(seconds):
            raise build_busy_error()
        if self.error is not None:
            raise copy_error(self.error)
        return self.value
