"""Prometheus metrics: one concept a file, put together here for one app."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any

from sigservice.shared_body import SharedBody
from sigservice.telemetry import exposition
from sigservice.telemetry.counts import Counts
from sigservice.telemetry.deliveries import Messages
from sigservice.telemetry.exposition import CONTENT_TYPE
from sigservice.telemetry.flags import Flags
from sigservice.telemetry.instruments import MOST_NAMES, Gauge, Instruments, Names, Reading
from sigservice.telemetry.requests import Requests
from sigservice.telemetry.sign_ins import SignIns
from sigservice.telemetry.signals import Signals
from sigservice.telemetry.work import Work

LONG_SECONDS = 0.2
REST = 10  # times as long as it took
RECENT_SECONDS = 1.0


class Telemetry:
    """What the service counts. `enabled` false makes each call free and the page absent.

    `with_app_names` false empties the labels that hold names of applications. `count` is given
    the names of flags that SDKs have reported and reads how much there is of everything.
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
        self._writing, self._written = threading.Lock(), SharedBody(b"")
        self._again_until = self._recent_until = 0.0
        self._make = Instruments(enabled)
        app_names = Names(MOST_NAMES if with_app_names else 0)
        self.counts = Counts(lambda: count(self.flags.unknown.known()), monotonic, version)
        self.requests = Requests(self._make, app_names)
        self.flags = Flags(self._make, app_names, self.counts.environment_types)
        self.signals = Signals(self._make)
        self.messages = Messages(self._make)
        self.sign_ins = SignIns(self._make)
        self.work = Work(self._make)
        self._make.add(self.counts)

    def add_gauge(self, name: str, text: str, labels: list[str], read: Reading) -> None:
        """A gauge that is read when it is asked for."""
        self._make.add(Gauge(name, text, labels, read))

    def write_exposition(self) -> SharedBody:
        """Written by one caller at a time. The others get what was written a moment ago, or wait:
        nobody needs a token, and a flood of requests must not hold every worker. What takes long to
        write, because clients made many names up, is returned again for a while."""
        if not self._writing.acquire(blocking=False):
            if self._monotonic() < self._recent_until:
                return self._written
            self._writing.acquire()
        try:
            began = self._monotonic()
            if began >= self._again_until:
                self._written = SharedBody(exposition.write(self._make.registry))
                ended = self._monotonic()
                seconds = ended - began
                self._again_until = began + (seconds * REST if seconds > LONG_SECONDS else 0)
                self._recent_until = ended + max(RECENT_SECONDS, seconds * REST * 2)
            return self._written
        finally:
            self._writing.release()


__all__ = ["CONTENT_TYPE", "Telemetry"]
