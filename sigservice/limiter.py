"""Token buckets in memory, bounded, with an injected clock.

Limits hold for one process: several processes on one database count each for itself.
A bucket grants `burst` at once and `rate` a second afterwards, so never more than
burst + rate * seconds.
"""

from __future__ import annotations

import math
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass

FORGOTTEN_AT_ONCE = 1000


@dataclass(frozen=True)
class Verdict:
    """One request's standing: `remaining` whole grants, seconds until the next one is there."""

    allowed: bool
    limit: int
    remaining: int
    retry_after: int

    def headers(self, window: int) -> dict[str, str]:
        """The RateLimit header fields (draft-ietf-httpapi-ratelimit-headers-06)."""
        fields = {
            "RateLimit-Policy": f"{self.limit};w={window}",
            "RateLimit-Limit": str(self.limit),
            "RateLimit-Remaining": str(self.remaining),
            "RateLimit-Reset": str(self.retry_after),
        }
        if not self.allowed:
            fields["Retry-After"] = str(max(1, self.retry_after))
        return fields


class Buckets:
    """The buckets of one limit, by key: those that are not full, and `capacity` at most; the
    longest unused is dropped."""

    def __init__(
        self, rate: float, burst: float, monotonic: Callable[[], float], capacity: int = 100_000
    ) -> None:
        self.rate = rate
        self.burst = burst
        self._monotonic = monotonic
        self._capacity = capacity
        self._levels: OrderedDict[Hashable, tuple[float, float]] = OrderedDict()
        self._lock = threading.Lock()

    def take(self, key: Hashable) -> Verdict:
        """Takes one grant if there is one."""
        return self._ask(key, 1.0)

    def peek(self, key: Hashable) -> Verdict:
        """Tells without taking."""
        return self._ask(key, 0.0)

    def give_back(self, key: Hashable) -> None:
        """Undoes a take that led to nothing, through no fault of the client's."""
        self._ask(key, -1.0)

    def __len__(self) -> int:
        return len(self._levels)

    def _ask(self, key: Hashable, cost: float) -> Verdict:
        with self._lock:
            now = self._monotonic()
            level, then = self._levels.get(key, (self.burst, now))
            level = min(self.burst, level + (now - then) * self.rate)
            allowed = level >= 1.0
            if allowed or cost < 0:
                level = min(self.burst, level - cost)
            if cost:
                self._levels[key] = (level, now)
                self._levels.move_to_end(key)
                self._forget(now)
        if level >= 1.0:
            wait = 0.0
        elif self.rate > 0:
            wait = (1.0 - level) / self.rate
        else:
            wait = 3600.0
        return Verdict(allowed, math.floor(self.burst), max(0, math.floor(level)), math.ceil(wait))

    def _forget(self, now: float) -> None:
        """A bucket that is full again is as good as none. A few at a time: all others wait."""
        for _ in range(min(len(self._levels), FORGOTTEN_AT_ONCE)):
            level, then = next(iter(self._levels.values()))
            if (
                len(self._levels) <= self._capacity
                and level + (now - then) * self.rate < self.burst
            ):
                return
            self._levels.popitem(last=False)


class Limiter:
    """All limits of one service, by name. `add` once at start, `take` on each request."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self.buckets: dict[str, Buckets] = {}
        self._windows: dict[str, int] = {}

    def add(self, name: str, *, amount: float, window: int, burst: float | None = None) -> None:
        """`amount` grants in `window` seconds; the burst is the amount unless given."""
        buckets = Buckets(amount / window, amount if burst is None else burst, self._monotonic)
        self.buckets[name] = buckets
        # A policy says how many in which time: a larger burst takes longer to come back.
        self._windows[name] = max(
            window, math.ceil(buckets.burst * window / amount) if amount else 0
        )

    def take(self, name: str, key: Hashable) -> tuple[Verdict, dict[str, str]]:
        verdict = self.buckets[name].take(key)
        return verdict, verdict.headers(self._windows[name])

    def peek(self, name: str, key: Hashable) -> tuple[Verdict, dict[str, str]]:
        verdict = self.buckets[name].peek(key)
        return verdict, verdict.headers(self._windows[name])

    def give_back(self, name: str, key: Hashable) -> None:
        self.buckets[name].give_back(key)

    def per_minute(self) -> dict[str, float]:
        """What each limit grants a minute, for the `rate_limits` gauge."""
        return {name: buckets.rate * 60 for name, buckets in self.buckets.items()}


class RecentKeys:
    """Keys that were good lately, bounded: they are not held up by somebody else's failures."""

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


class Shares:
    """How much of something each key holds at the moment: `total` together at most and `each`
    for one key; 0 is no limit."""

    def __init__(self, *, total: int = 0, each: int = 0) -> None:
        self._total, self._each = total, each
        self._held: dict[Hashable, int] = {}
        self._sum = 0
        self._lock = threading.Lock()

    def take(self, key: Hashable, amount: int = 1) -> bool:
        """Whether `amount` more is within both limits; if not, nothing is taken."""
        with self._lock:
            held = self._held.get(key, 0) + amount
            if self._each and held > self._each:
                return False
            if self._total and self._sum + amount > self._total:
                return False
            self._held[key] = held
            self._sum += amount
            return True

    def release(self, key: Hashable, amount: int = 1) -> None:
        with self._lock:
            left = self._held.get(key, 0) - amount
            self._sum -= amount
            if left > 0:
                self._held[key] = left
            else:
                self._held.pop(key, None)
