"""Prometheus metrics: one file for each concept, assembled here."""

import threading
from collections.abc import Callable, Mapping
from typing import Any

from sigservice.shared_body import SharedBody
from sigservice.telemetry import exposition
from sigservice.telemetry.counts import Counts
from sigservice.telemetry.deliveries import Deliveries
from sigservice.telemetry.exposition import CONTENT_TYPE
from sigservice.telemetry.flags import Flags
from sigservice.telemetry.instruments import MAX_NAMES, Gauge, Instruments, Names, Reading
from sigservice.telemetry.internals import Internals
from sigservice.telemetry.requests import Requests
from sigservice.telemetry.sign_ins import SignIns
from sigservice.telemetry.signals import Signals

LONG_SECONDS = 0.2
CACHE_FACTOR = 10  # the cache lives so many times as long as writing took
RECENT_SECONDS = 1.0


class Telemetry:
    """The metrics of a service. If `enabled` is false, calls have no effect.

    If `with_app_names` is false, labels with application names are empty. `count(feature_names)`
    counts all resources; the names are flags that SDKs reported and that may not exist.
    """

    def __init__(
        self,
        *,
        enabled: bool,
        with_app_names: bool,
        version: str,
        monotonic: Callable[[], float],
        count: Callable[[list[str]], Mapping[str, Any]],
    ) -> None:
        self.enabled, self._monotonic = enabled, monotonic
        self._writing, self._cached = threading.Lock(), SharedBody(b"")
        self._cached_until = self._recent_until = 0.0
        self._instruments = Instruments(enabled)
        app_names = Names(MAX_NAMES if with_app_names else 0)
        self.counts = Counts(lambda: count(self.flags.unknown.read()), monotonic, version)
        self.requests = Requests(self._instruments, app_names)
        self.flags = Flags(self._instruments, app_names, self.counts.environment_types)
        self.signals = Signals(self._instruments)
        self.deliveries = Deliveries(self._instruments)
        self.sign_ins = SignIns(self._instruments)
        self.internals = Internals(self._instruments)
        self._instruments.add(self.counts)

    def add_gauge(self, name: str, text: str, labels: list[str], read: Reading) -> None:
        """Adds a gauge that is read at each scrape."""
        self._instruments.add(Gauge(name, text, labels, read))

    def write_exposition(self) -> SharedBody:
        """The metrics as text. One caller writes at a time; others get the cached text or wait, so
        that a flood of requests without a token can't block all workers. Text that takes long to
        write, because clients reported many names, is cached longer."""
        if not self._writing.acquire(blocking=False):
            if self._monotonic() < self._recent_until:
                return self._cached
            self._writing.acquire()
        try:
            started_at = self._monotonic()
            if started_at >= self._cached_until:
                self._cached = SharedBody(exposition.write(self._instruments.registry))
                ended_at = self._monotonic()
                seconds = ended_at - started_at
                self._cached_until = started_at + (
                    seconds * CACHE_FACTOR if seconds > LONG_SECONDS else 0
                )
                self._recent_until = ended_at + max(RECENT_SECONDS, seconds * CACHE_FACTOR * 2)
            return self._cached
        finally:
            self._writing.release()


__all__ = ["CONTENT_TYPE", "Telemetry"]
