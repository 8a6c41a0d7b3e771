"""When, from where and how often tokens of signal endpoints are used: counted in memory, written by
a job once a minute. A kill loses the uses of the last minute."""

import threading
from datetime import datetime


class TokenUses:
    """Thread-safe; `drain` returns (last use, its address, number of uses) by token ID."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._uses: dict[int, tuple[datetime, str, int]] = {}

    def record(self, token_id: int, address: str, now: datetime) -> None:
        with self._lock:
            _, _, count = self._uses.get(token_id, (now, address, 0))
            self._uses[token_id] = (now, address, count + 1)

    def drain(self) -> dict[int, tuple[datetime, str, int]]:
        """Returns and removes the uses since the last call."""
        with self._lock:
            uses, self._uses = self._uses, {}
        return uses
