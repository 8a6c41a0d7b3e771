"""Prometheus metrics: one file for each concept, assembled here."""

from collections.abc import Callable, Mapping
from typing import Any

from sigservice.concurrency.shared_body import SharedBody
from sigservice.telemetry import exposition
from sigservice.telemetry.counts import Counts
from sigservice.telemetry.deliveries import Deliveries
from sigservice.telemetry.exposition import CONTENT_TYPE, CachedExposition
from sigservice.telemetry.flags import Flags
from sigservice.telemetry.instruments import MAX_NAMES, Gauge, Instruments, Names, Reading
from sigservice.telemetry.internals import Internals
from sigservice.telemetry.requests import Requests
from sigservice.telemetry.sign_ins import SignIns
from sigservice.telemetry.signal_metrics import RuleMetrics, SignalMetrics


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
        self.enabled = enabled
        self._instruments = Instruments(enabled)
        app_names = Names(MAX_NAMES if with_app_names else 0)
        self.counts = Counts(lambda: count(self.flags.unknown.read()), monotonic, version)
        self.requests = Requests(self._instruments, app_names)
        self.flags = Flags(self._instruments, app_names, self.counts.environment_types)
        self.signals = SignalMetrics(self._instruments)
        self.rules = RuleMetrics(self._instruments)
        self.deliveries = Deliveries(self._instruments)
        self.sign_ins = SignIns(self._instruments)
        self.internals = Internals(self._instruments)
        self._instruments.add(self.counts)
        self._exposition = CachedExposition(
            lambda: exposition.write(self._instruments.collect()), monotonic
        )

    def add_gauge(self, name: str, text: str, labels: list[str], read: Reading) -> None:
        """Adds a gauge that is read at each scrape."""
        self._instruments.add(Gauge(name, text, labels, read))

    def write_exposition(self) -> SharedBody:
        """The metrics as text, cached if it takes long to write."""
        return self._exposition.read()


__all__ = ["CONTENT_TYPE", "CachedExposition", "Telemetry"]
