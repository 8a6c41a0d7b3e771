"""Counts amounts in use, such as open connections."""

import threading
from collections.abc import Hashable


class Quotas:
    """Bounds the amount in use, `total` overall and `per_key` for each key; 0 means unlimited."""

    def __init__(self, *, total: int = 0, per_key: int = 0) -> None:
        self._total, self._per_key = total, per_key
        self._amounts: dict[Hashable, int] = {}
        self._sum = 0
        self._lock = threading.Lock()

    def acquire(self, key: Hashable, amount: int = 1) -> bool:
        """Whether both limits allow `amount` more; if not, nothing changes."""
        with self._lock:
            total = self._amounts.get(key, 0) + amount
            if self._per_key and total > self._per_key:
                return False
            if self._total and self._sum + amount > self._total:
                return False
            self._amounts[key] = total
            self._sum += amount
            return True

    def release(self, key: Hashable, amount: int = 1) -> None:
        with self._lock:
            rest = self._amounts.get(key, 0) - amount
            self._sum -= amount
            if rest > 0:
                self._amounts[key] = rest
            else:
                self._amounts.pop(key, None)
