"""One builds, all others who need the same wait for it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class SingleFlight(Generic[Key, Value]):
    """No lock is held while something is built; what has been built is not kept here."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._flights: dict[Key, _Flight[Value]] = {}

    def get(self, key: Key, build: Callable[[], Value]) -> Value:
        """What `build` returns, or what it returns to the caller that builds for this key now.

        Raises what that `build` raises, for all who waited for it.
        """
        with self._lock:
            flight = self._flights.get(key)
            if is_builder := flight is None:
                flight = self._flights[key] = _Flight()
        if is_builder:
            self._build(key, flight, build)
        else:
            flight.done.wait()
        if flight.error is not None:
            raise flight.error
        return flight.value

    def _build(self, key: Key, flight: _Flight[Value], build: Callable[[], Value]) -> None:
        try:
            flight.value = build()
        except BaseException as error:  # noqa: BLE001  raised again by each who waits
            flight.error = error
        finally:
            with self._lock:
                del self._flights[key]
            flight.done.set()


class _Flight(Generic[Value]):
    value: Value

    def __init__(self) -> None:
        self.done = threading.Event()
        self.error: BaseException | None = None
