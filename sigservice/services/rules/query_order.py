"""The order in which a process asks the queries of a metric source, so that none keeps it from the
others.

Queries that took long the last time, such as one that got no answer, come last, and the one that
was not asked for the longest time first among them: a round that ends early goes on where it ended.
Guards come before alert rules, unless a rule was asked a minute longer ago.
"""

from collections.abc import Mapping
from typing import NamedTuple

SLOW_SECONDS = 0.5
LAG_SECONDS = 60.0  # of alert rules behind guards
KEPT_SECONDS = 7200.0  # longer than the longest interval of a rule


class _Last(NamedTuple):
    asked_at: float
    seconds: float


_NEVER = _Last(0, SLOW_SECONDS)


class QueryOrder:
    """One for each process. One thread at a time asks a source. Times are monotonic."""

    def __init__(self) -> None:
        self._sources: dict[str, dict[str, _Last]] = {}

    def sort(self, source: str, queries: Mapping[str, bool], now: float) -> list[str]:
        """`queries` says of each query whether a guard needs it."""
        last = {
            query: item
            for query, item in self._sources.get(source, {}).items()
            if now - item.asked_at < KEPT_SECONDS
        }
        self._sources[source] = last

        def find_place(query: str) -> tuple[bool, float, str]:
            asked_at, seconds = last.get(query, _NEVER)
            lag = 0 if queries[query] else LAG_SECONDS
            return seconds >= SLOW_SECONDS, asked_at + lag, query

        return sorted(queries, key=find_place)

    def record(self, source: str, query: str, asked_at: float, now: float) -> None:
        """The answer is there, or the source gave none."""
        self._sources[source][query] = _Last(asked_at, now - asked_at)
