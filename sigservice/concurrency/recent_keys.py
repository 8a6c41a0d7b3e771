"""Remembers recent keys in memory."""

import threading
from collections import OrderedDict
from collections.abc import Hashable


class RecentKeys:
    """The keys of recent successes, bounded. Failures of other clients don't block these keys."""

    def __init__(self, capacity: int = 10_000) -> None:
        self._keys: OrderedDict[Hashable, None] = OrderedDict()
        self._capacity = capacity
        self._lock = threading.Lock()

    def add(self, key: Hashable) -> None:
        with self._lock:
            self._keys[key] = None
            self._keys.move_to_end(key)
            while len(self._keys) > self._capacity:
                self._keys.popitem(last=False)

    def discard(self, key: Hashable) -> None:
        with self._lock:
            self._keys.pop(key, None)

    def __contains__(self, key: Hashable) -> bool:
        return key in self._keys
