"""Token buckets in memory, bounded, with an injected clock.

Limits apply to one process: several processes on one database each count their own requests.
A bucket allows `burst` requests at once and `rate` per second afterwards, so never more than
burst + rate * seconds.
"""

import math
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import NamedTuple

MAX_EVICTIONS = 1000


@dataclass(frozen=True)
class BucketState:
    """`remaining` is a number of whole tokens; `reset_seconds` is the time until the next one."""

    is_allowed: bool
    limit: int
    remaining: int
    reset_seconds: int

    def to_headers(self, window: int) -> dict[str, str]:
        """The RateLimit headers (draft-ietf-httpapi-ratelimit-headers-06)."""
        headers = {
            "RateLimit-Policy": f"{self.limit};w={window}",
            "RateLimit-Limit": str(self.limit),
            "RateLimit-Remaining": str(self.remaining),
            "RateLimit-Reset": str(self.reset_seconds),
        }
        if not self.is_allowed:
            headers["Retry-After"] = str(max(1, self.reset_seconds))
        return headers


class _Bucket(NamedTuple):
    level: float
    updated_at: float
    rate: float
    burst: float


class TokenBuckets:
    """The buckets of one limit, by key. Only buckets that aren't full are stored, at most
    `capacity`; the least recently used is evicted first."""

    def __init__(
        self, rate: float, burst: float, monotonic: Callable[[], float], capacity: int = 100_000
    ) -> None:
        self.rate = rate
        self.burst = burst
        self._monotonic = monotonic
        self._capacity = capacity
        self._buckets: OrderedDict[Hashable, _Bucket] = OrderedDict()
        self._lock = threading.Lock()

    def consume(
        self, key: Hashable, rate: float | None = None, burst: float | None = None
    ) -> BucketState:
        """Takes one token if there is one. `rate` and `burst` replace the limit's."""
        return self._update(key, 1.0, rate, burst)

    def peek(self, key: Hashable) -> BucketState:
        return self._update(key, 0.0)

    def refund(self, key: Hashable) -> None:
        """Returns the token of a request that failed through no fault of the client."""
        self._update(key, -1.0)

    def __len__(self) -> int:
        return len(self._buckets)

    def _update(
        self, key: Hashable, cost: float, rate: float | None = None, burst: float | None = None
    ) -> BucketState:
        with self._lock:
            now = self._monotonic()
            bucket = self._buckets.get(key)
            if bucket is None:
                bucket = _Bucket(self.burst if burst is None else burst, now, self.rate, self.burst)
            new_rate = bucket.rate if rate is None else rate
            new_burst = bucket.burst if burst is None else burst
            level = min(new_burst, bucket.level + (now - bucket.updated_at) * new_rate)
            is_allowed = level >= 1.0
            if is_allowed or cost < 0:
                level = min(new_burst, level - cost)
            if cost:
                self._buckets[key] = _Bucket(level, now, new_rate, new_burst)
                self._buckets.move_to_end(key)
                self._evict(now)
        if level >= 1.0:
            wait = 0.0
        elif new_rate > 0:
            wait = (1.0 - level) / new_rate
        else:
            wait = 3600.0
        remaining = max(0, math.floor(level))
        return BucketState(is_allowed, math.floor(new_burst), remaining, math.ceil(wait))

    def _evict(self, now: float) -> None:
        """Removes buckets that are full again. A few at a time, because the lock is held."""
        for _ in range(min(len(self._buckets), MAX_EVICTIONS)):
            bucket = next(iter(self._buckets.values()))
            is_full = bucket.level + (now - bucket.updated_at) * bucket.rate >= bucket.burst
            if len(self._buckets) <= self._capacity and not is_full:
                return
            self._buckets.popitem(last=False)


class Limiter:
    """All rate limits of the service, by name. `add` is called at start, `consume` by requests."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self.buckets: dict[str, TokenBuckets] = {}
        self._windows: dict[str, int] = {}

    def add(self, name: str, *, amount: float, window: int, burst: float | None = None) -> None:
        """Allows `amount` requests in `window` seconds; the default of `burst` is `amount`."""
        rate, burst = amount / window, amount if burst is None else burst
        self.buckets[name] = TokenBuckets(rate, burst, self._monotonic)
        self._windows[name] = _find_window(rate, burst, window)

    def consume(
        self, name: str, key: Hashable, *, rate: float | None = None, burst: float | None = None
    ) -> tuple[bool, dict[str, str]]:
        """Whether the request is allowed, and the RateLimit headers. `rate` (per second) and
        `burst` replace the limit's for this key."""
        buckets, window = self.buckets[name], self._windows[name]
        state = buckets.consume(key, rate, burst)
        if rate is not None or burst is not None:
            window = _find_window(buckets.rate if rate is None else rate, state.limit, 1)
        return state.is_allowed, state.to_headers(window)

    def peek(self, name: str, key: Hashable) -> tuple[bool, dict[str, str]]:
        """The result that `consume` would have; takes no token."""
        state = self.buckets[name].peek(key)
        return state.is_allowed, state.to_headers(self._windows[name])

    def refund(self, name: str, key: Hashable) -> None:
        self.buckets[name].refund(key)

    def list_rates(self) -> dict[str, float]:
        """Requests per minute by limit, for the `rate_limits` gauge."""
        return {name: buckets.rate * 60 for name, buckets in self.buckets.items()}


def _find_window(rate: float, burst: float, window: int) -> int:
    """The window of a policy in seconds. It is longer for a burst that takes longer to refill."""
    return max(window, math.ceil(round(burst / rate, 6)) if rate else 0)


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
