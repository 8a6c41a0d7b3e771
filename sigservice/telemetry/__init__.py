"""Prometheus metrics: one concept a file, put together here for one app."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sigservice.telemetry import exposition
from sigservice.telemetry.counts import Counts
from sigservice.telemetry.exposition import CONTENT_TYPE
from sigservice.telemetry.flags import Flags
from sigservice.telemetry.instruments import MOST_NAMES, Gauge, Instruments, Names, Reading
from sigservice.telemetry.messages import Messages
from sigservice.telemetry.requests import Requests
from sigservice.telemetry.signals import Signals
from sigservice.telemetry.work import Work


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
        self.enabled = enabled
        self._make = Instruments(enabled)
        app_names = Names(MOST_NAMES if with_app_names else 0)
        self.counts = Counts(lambda: count(self.flags.reported.known()), monotonic, version)
        self.requests = Requests(self._make, app_names)
        self.flags = Flags(self._make, app_names, self.counts.environment_types)
        self.signals = Signals(self._make)
        self.messages = Messages(self._make)
        self.work = Work(self._make)
        self._make.add(self.counts)

    def gauge(self, name: str, text: str, labels: list[str], read: Reading) -> None:
        """A gauge that is read when it is asked for."""
        self._make.add(Gauge(name, text, labels, read))

    def exposition(self) -> bytes:
        return exposition.write(self._make.registry)


__all__ = ["CONTENT_TYPE", "Telemetry"]
