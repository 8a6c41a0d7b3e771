"""Counters and histograms with labels that are bounded in number, under exactly their names.

Why not prometheus-client's own: docs/decisions/0013-metrics.md.
"""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import accumulate
from typing import Protocol, TypeVar

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


C = TypeVar("C", bound=Collector)


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


class _Labelled:
    """`loose` are the labels that clients fill: those that are left empty when there are too many
    label sets."""

    enabled = True

    def __init__(
        self, name: str, text: str, labels: Sequence[str] = (), loose: Sequence[str] = ()
    ) -> None:
        self.name, self.text, self.labels = name, text, tuple(labels)
        self._loose, self._lock = frozenset(loose), threading.Lock()

    def _bounded(self, labels: Labels, known: Mapping[Labels, object]) -> Labels:
        if labels in known or len(known) < MOST_SERIES or not self._loose:
            return labels
        pairs = zip(self.labels, labels, strict=True)
        return tuple("" if name in self._loose else text for name, text in pairs)


class Counter(_Labelled):
    """Its name in the answer is exactly `name`."""

    def __init__(
        self, name: str, text: str, labels: Sequence[str] = (), loose: Sequence[str] = ()
    ) -> None:
        super().__init__(name, text, labels, loose)
        self._values: dict[Labels, float] = {} if labels else {(): 0.0}

    def inc(self, *labels: str, amount: float = 1) -> None:
        if not self.enabled:
            return
        with self._lock:
            if labels not in self._values:
                labels = self._bounded(labels, self._values)
                self._values.setdefault(labels, 0.0)
            self._values[labels] += amount

    def values(self) -> dict[Labels, float]:
        with self._lock:
            return dict(self._values)

    def family(self, values: Mapping[Labels, float]) -> Metric:
        family = Metric(self.name, self.text, "counter")
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


class Histogram(_Labelled):
    def __init__(
        self,
        name: str,
        text: str,
        labels: Sequence[str] = (),
        loose: Sequence[str] = (),
        *,
        bounds: Sequence[float],
    ) -> None:
        super().__init__(name, text, labels, loose)
        self._bounds = tuple(bounds)
        self._series: dict[Labels, Series] = {} if labels else {(): Series(self._bounds)}

    def at(self, *labels: str) -> Series:
        """For those who keep it."""
        with self._lock:
            key = self._bounded(labels, self._series)
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
        family = HistogramMetricFamily(self.name, self.text, labels=self.labels)
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
    """Those of one app, in a registry of its own, so that two apps fit into one process."""

    def __init__(self, enabled: bool) -> None:
        self.enabled = enabled
        self.registry = CollectorRegistry()
        if enabled:
            ProcessCollector(registry=self.registry)
            PlatformCollector(registry=self.registry)
            GCCollector(registry=self.registry)

    def add(self, collector: C) -> C:
        """Shows it; where metrics are off it counts nothing instead."""
        if self.enabled:
            self.registry.register(collector)
        elif isinstance(collector, _Labelled):
            collector.enabled = False
        return collector
