"""What requests count or note in memory, until a job writes it. A kill loses what isn't written."""

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


class Buffer(Generic[Key, Value]):
    """Thread-safe; has at most `max_keys` keys."""

    def __init__(self, max_keys: int) -> None:
        self._max_keys, self._lock = max_keys, threading.Lock()
        self._values: dict[Key, Value] = {}

    def get(self, key: Key) -> Value | None:
        return self._values.get(key)

    def add(self, key: Key, change: Callable[[Value | None], Value]) -> bool:
        """Replaces the value by `change(value)`; None is that of a new key. False if there are too
        many keys for a new one."""
        with self._lock:
            value = self._values.get(key)
            if value is None and len(self._values) >= self._max_keys:
                return False
            self._values[key] = change(value)
            return True

    def drain(self) -> dict[Key, Value]:
        """Returns and removes the values since the last call."""
        with self._lock:
            values, self._values = self._values, {}
        return values

    def store(self, write: Callable[[dict[Key, Value]], object]) -> None:
        """Removes the values when `write` has written them, except those that changed meanwhile.
        For values whose repetition does no harm: an error keeps them."""
        with self._lock:
            values = dict(self._values)
        if not values:
            return
        write(values)
        with self._lock:
            for key, value in values.items():
                if self._values[key] is value:
                    del self._values[key]
