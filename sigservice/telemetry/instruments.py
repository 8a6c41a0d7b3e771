"""Counters and histograms with labels, bounded in number, and cheap where requests pass.

prometheus-client's own take a lock for each bucket and add `_total` to names that tools of the
field know without.
"""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import accumulate
from typing import Protocol

from prometheus_client import CollectorRegistry, GCCollector, PlatformCollector
from prometheus_client.core import GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.process_collector import ProcessCollector

MOST_SERIES = 5000  # of one metric, before labels that clients make up are left empty
MOST_NAMES = 1000
LONGEST_NAME = 100

Labels = tuple[str, ...]
Reading = Callable[[], Iterable[tuple[Sequence[str], float]]]


class Collector(Protocol):
    def collect(self) -> Iterable[Metric]: ...


class Names:
    """Names that clients make up: cut, and "" for those that come when `most` are known."""

    def __init__(self, most: int = MOST_NAMES) -> None:
        self._most = most
        self._known: dict[str, None] = {}

    def bounded(self, text: str) -> str:
        text = text[:LONGEST_NAME]
        if text in self._known:
            return text
        if len(self._known) >= self._most:
            return ""
        self._known[text] = None
        return text

    def known(self) -> list[str]:
        return list(self._known)


class Counter:
    """Its name in the answer is exactly `name`. `loose` are the labels that clients fill."""

    def __init__(
        self, name: str, text: str, labels: Sequence[str] = (), loose: Sequence[str] = ()
    ) -> None:
        self.name, self._text, self.labels = name, text, tuple(labels)
        self._loose = frozenset(loose)
        self._lock = threading.Lock()
        self._values: dict[Labels, float] = {} if labels else {(): 0.0}
        self.enabled = True

    def inc(self, *labels: str, amount: float = 1) -> None:
        if not self.enabled:
            return
        with self._lock:
            if labels not in self._values:
                labels = _room(labels, self._values, self.labels, self._loose)
                self._values.setdefault(labels, 0.0)
            self._values[labels] += amount

    def values(self) -> dict[Labels, float]:
        with self._lock:
            return dict(self._values)

    def family(self, values: Mapping[Labels, float]) -> Metric:
        family = Metric(self.name, self._text, "counter")
        for labels, value in values.items():
            family.add_sample(self.name, dict(zip(self.labels, labels, strict=True)), value)
        return family

    def collect(self) -> Iterable[Metric]:
        return [self.family(self.values())]


class Series:
    """One label set of a histogram; `observe` is all that a hot path does."""

    __slots__ = ("_bounds", "_counts", "_lock", "_sum")

    def __init__(self, bounds: Sequence[float]) -> None:
        self._bounds, self._lock = bounds, threading.Lock()
        self._counts, self._sum = [0] * (len(bounds) + 1), 0.0

    def observe(self, value: float) -> None:
        place = bisect_left(self._bounds, value)
        with self._lock:
            self._counts[place] += 1
            self._sum += value

    def read(self) -> tuple[list[int], float]:
        with self._lock:
            return list(self._counts), self._sum


class Histogram:
    def __init__(
        self,
        name: str,
        text: str,
        labels: Sequence[str] = (),
        loose: Sequence[str] = (),
        *,
        bounds: Sequence[float],
    ) -> None:
        self.name, self._text, self.labels = name, text, tuple(labels)
        self._loose, self._bounds = frozenset(loose), tuple(bounds)
        self._lock = threading.Lock()
        self._series: dict[Labels, Series] = {} if labels else {(): Series(self._bounds)}
        self.enabled = True

    def at(self, *labels: str) -> Series:
        """For those who keep it."""
        with self._lock:
            key = _room(labels, self._series, self.labels, self._loose)
            if key not in self._series:
                self._series[key] = Series(self._bounds)
            return self._series[key]

    def observe(self, value: float, *labels: str) -> None:
        if self.enabled:
            (self._series.get(labels) or self.at(*labels)).observe(value)

    def items(self) -> list[tuple[Labels, Series]]:
        with self._lock:
            return list(self._series.items())

    @staticmethod
    def buckets(bounds: Sequence[float], counts: Sequence[int]) -> list[tuple[str, float]]:
        """Each of them has what the smaller ones have."""
        names = [f"{bound:g}" for bound in bounds] + ["+Inf"]
        return list(zip(names, map(float, accumulate(counts)), strict=True))

    def collect(self) -> Iterable[Metric]:
        family = HistogramMetricFamily(self.name, self._text, labels=self.labels)
        for labels, series in self.items():
            counts, total = series.read()
            family.add_metric(labels, self.buckets(self._bounds, counts), total)
        return [family]


class Gauge:
    """Read when it is asked for."""

    def __init__(self, name: str, text: str, labels: Sequence[str], read: Reading) -> None:
        self._name, self._text, self._labels, self._read = name, text, labels, read

    def collect(self) -> Iterable[Metric]:
        family = GaugeMetricFamily(self._name, self._text, labels=self._labels)
        for labels, value in self._read():
            family.add_metric(labels, value)
        return [family]


class Instruments:
    """Makes the instruments of one app, in a registry of its own, so that two apps fit into one
    process. `enabled` false makes them count nothing."""

    def __init__(self, enabled: bool) -> None:
        self._enabled = enabled
        self.registry = CollectorRegistry()
        if enabled:
            ProcessCollector(registry=self.registry)
            PlatformCollector(registry=self.registry)
            GCCollector(registry=self.registry)

    def counter(
        self, name: str, text: str, labels: Sequence[str] = (), loose: Sequence[str] = ()
    ) -> Counter:
        made = Counter(name, text, labels, loose)
        made.enabled = self._enabled
        self.add(made)
        return made

    def histogram(
        self,
        name: str,
        text: str,
        labels: Sequence[str] = (),
        loose: Sequence[str] = (),
        *,
        bounds: Sequence[float],
    ) -> Histogram:
        made = Histogram(name, text, labels, loose, bounds=bounds)
        made.enabled = self._enabled
        self.add(made)
        return made

    def gauge(self, name: str, text: str, labels: Sequence[str], read: Reading) -> None:
        self.add(Gauge(name, text, labels, read))

    def add(self, collector: Collector) -> None:
        if self._enabled:
            self.registry.register(collector)


def _room(
    labels: Labels,
    known: Mapping[Labels, object],
    names: Labels,
    loose: frozenset[str],
) -> Labels:
    """The label set itself, or one whose loose labels are empty once there are too many."""
    if labels in known or len(known) < MOST_SERIES or not loose:
        return labels
    pairs = zip(names, labels, strict=True)
    return tuple("" if name in loose else text for name, text in pairs)
