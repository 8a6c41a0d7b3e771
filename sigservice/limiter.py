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

MAX_EVICTIONS = 1000


@dataclass(frozen=True)
class BucketState:
    """`remaining` is a number of whole tokens; `reset_seconds` pass until the next one is there."""

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
        self._levels: OrderedDict[Hashable, tuple[float, float]] = OrderedDict()
        self._lock = threading.Lock()

    def consume(self, key: Hashable) -> BucketState:
        """Takes one token if there is one."""
        return self._update(key, 1.0)

    def peek(self, key: Hashable) -> BucketState:
        return self._update(key, 0.0)

    def refund(self, key: Hashable) -> None:
        """Returns the token of a request that failed through no fault of the client."""
        self._update(key, -1.0)

    def __len__(self) -> int:
        return len(self._levels)

    def _update(self, key: Hashable, cost: float) -> BucketState:
        with self._lock:
            now = self._monotonic()
            level, updated_at = self._levels.get(key, (self.burst, now))
            level = min(self.burst, level + (now - updated_at) * self.rate)
            is_allowed = level >= 1.0
            if is_allowed or cost < 0:
                level = min(self.burst, level - cost)
            if cost:
                self._levels[key] = (level, now)
                self._levels.move_to_end(key)
                self._evict(now)
        if level >= 1.0:
            wait = 0.0
        elif self.rate > 0:
            wait = (1.0 - level) / self.rate
        else:
            wait = 3600.0
        remaining = max(0, math.floor(level))
        return BucketState(is_allowed, math.floor(self.burst), remaining, math.ceil(wait))

    def _evict(self, now: float) -> None:
        """Removes buckets that are full again. A few at a time, because the lock is held."""
        for _ in range(min(len(self._levels), MAX_EVICTIONS)):
            level, updated_at = next(iter(self._levels.values()))
            is_full = level + (now - updated_at) * self.rate >= self.burst
            if len(self._levels) <= self._capacity and not is_full:
                return
            self._levels.popitem(last=False)


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
        # A policy states how many requests in which time; a larger burst takes longer to refill.
        self._windows[name] = max(window, math.ceil(burst * window / amount) if amount else 0)

    def consume(self, name: str, key: Hashable) -> tuple[bool, dict[str, str]]:
        """Whether the request is allowed, and the RateLimit headers."""
        state = self.buckets[name].consume(key)
        return state.is_allowed, state.to_headers(self._windows[name])

    def peek(self, name: str, key: Hashable) -> tuple[bool, dict[str, str]]:
        """What `consume` would return; takes no token."""
        state = self.buckets[name].peek(key)
        return state.is_allowed, state.to_headers(self._windows[name])

    def refund(self, name: str, key: Hashable) -> None:
        self.buckets[name].refund(key)

    def list_rates(self) -> dict[str, float]:
        """Requests per minute by limit, for the `rate_limits` gauge."""
        return {name: buckets.rate * 60 for name, buckets in self.buckets.items()}
