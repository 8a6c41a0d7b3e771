"""One thread builds a value; the others that need the same value wait for it."""

import threading
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from sigservice.concurrency.shared_result import SharedResult

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class SingleFlight(Generic[Key, Value]):
    """Holds no lock while a value is built, and doesn't cache values."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._flights: dict[Key, SharedResult[Value]] = {}

    def get(self, key: Key, build: Callable[[], Value]) -> Value:
        """Returns the result of `build`, or the result of a caller that is already building for
        this key. Raises what that `build` raises, a copy in each waiting thread, and
        UnavailableError if the request has waited too long."""
        with self._lock:
            flight = self._flights.get(key)
            if is_builder := flight is None:
                flight = self._flights[key] = SharedResult()
        if is_builder:
            return flight.compute(lambda: self._build(key, build))
        return flight.wait()

    def _build(self, key: Key, build: Callable[[], Value]) -> Value:
        try:
            return build()
        finally:
            with self._lock:
                del self._flights[key]
