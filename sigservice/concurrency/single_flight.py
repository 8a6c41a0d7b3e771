"""One thread builds a value; the others that need the same value wait for it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from sigservice.concurrency import wait_budget
from sigservice.concurrency.workers import release_turn
from sigservice.errors import build_busy_error, copy_error

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class SingleFlight(Generic[Key, Value]):
    """Holds no lock while a value is built, and doesn't cache values."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._flights: dict[Key, _Flight[Value]] = {}

    def get(self, key: Key, build: Callable[[], Value]) -> Value:
        """Returns what `build` returns, or what it returns to a caller that is already building
        for this key. Raises what that `build` raises, a copy in each waiting thread, and
        UnavailableError if the request has waited too long."""
        with self._lock:
            flight = self._flights.get(key)
            if is_builder := flight is None:
                flight = self._flights[key] = _Flight()
        if is_builder:
            self._build(key, flight, build)
            return flight.value
        release_turn()
        if not wait_budget.wait(flight.done.wait):
            raise build_busy_error()
        if flight.error is not None:
            raise copy_error(flight.error)
        return flight.value

    def _build(self, key: Key, flight: _Flight[Value], build: Callable[[], Value]) -> None:
        try:
            flight.value = build()
        except BaseException as error:
            flight.error = copy_error(error)
            raise
        finally:
            with self._lock:
                del self._flights[key]
            flight.done.set()


class _Flight(Generic[Value]):
    value: Value

    def __init__(self) -> None:
        self.done = threading.Event()
        self.error: BaseException | None = None
