"""Rows and counts of the database that this process keeps for seconds, so that repeated reports
cost little."""

from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

from sigservice.db import Connection
from sigservice.repository.usage import reports

MAX_ROWS = 10_000  # then it forgets earlier
COUNT_SECONDS = 1

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value", bound=Hashable)


class RecentRows:
    """The rows, by key, that were stored in the last `seconds`, or at most twice as long ago.

    A row that an admin or another process deletes stays missing for that time, even if it is
    reported.
    """

    def __init__(self, monotonic: Callable[[], float], seconds: float) -> None:
        self._monotonic, self._seconds = monotonic, seconds
        self._started_at = monotonic()
        # Hashes take a tenth of the memory. Nobody can predict the hash of a text.
        self._new: dict[int, int] = {}
        self._old: dict[int, int] = {}

    def list_others(self, rows: Iterable[tuple[Key, Value]]) -> list[tuple[Key, Value]]:
        """The rows that were not stored with this value recently; the value None matches any."""
        periods = (self._monotonic() - self._started_at) // self._seconds
        if periods or len(self._new) >= MAX_ROWS:
            self._old, self._new = (self._new if periods <= 1 else {}), {}
            self._started_at += periods * self._seconds
        return [(key, value) for key, value in rows if not self._has(hash(key), value)]

    def _has(self, key: int, value: Hashable) -> bool:
        recent = self._new.get(key, self._old.get(key))
        return recent is not None and (value is None or recent == hash(value))

    def add(self, rows: Iterable[tuple[Hashable, Hashable]]) -> None:
        self._new.update((hash(key), hash(value)) for key, value in rows)


class InstanceCounts:
    """The number of instances in each environment: of the SDK type `frontend`, and of all others.

    Counting takes longer than storing a group of reports, so a count is used for a second. It
    includes what this process stores, but not what others store and delete in that second.
    """

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._counts: dict[tuple[str, bool], tuple[int, float]] = {}

    def find(self, conn: Connection, environment: str, is_frontend: bool) -> int:
        count, expires_at = self._counts.get((environment, is_frontend), (0, 0.0))
        if self._monotonic() >= expires_at:
            count = reports.count_instances(conn, environment, is_frontend=is_frontend)
            expires_at = self._monotonic() + COUNT_SECONDS
            self._counts[environment, is_frontend] = count, expires_at
        return count

    def add(self, environment: str, is_frontend: bool) -> None:
        """Counts an instance that was stored after `find`."""
        count, expires_at = self._counts[environment, is_frontend]
        self._counts[environment, is_frontend] = count + 1, expires_at
