"""Counters and histograms with a limited number of label sets, and with exactly their names.

Why not prometheus-client's own: docs/decisions/0013-metrics.md.
"""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import accumulate
from typing import Protocol, TypeVar

from sigservice.late import prometheus_client, prometheus_core

MAX_SERIES = 5000  # of one metric; then labels from clients are left empty
MAX_NAMES = 1000
MAX_NAME_LENGTH = 100

Labels = tuple[str, ...]
Reading = Callable[[], Iterable[tuple[Sequence[str], float]]]


class Collector(Protocol):
    def collect(self) -> Iterable[prometheus_core.Metric]: ...


C = TypeVar("C", bound=Collector)


class Names:
    """Names from clients, limited in length and number; further names become ""."""

    def __init__(self, max_names: int = MAX_NAMES) -> None:
        self._max_names = max_names
        self._names: dict[str, None] = {}

    def limit(self, text: str) -> str:
        text = text[:MAX_NAME_LENGTH]
        if text in self._names:
            return text
        if len(self._names) >= self._max_names:
            return ""
        self._names[text] = None
        return text

    def read(self) -> list[str]:
        return [*self._names]


class _Labelled:
    """`client_labels` are labels with values from clients, left empty after MAX_SERIES label
    sets."""

    enabled = True

    def __init__(
        self, name: str, text: str, labels: Sequence[str] = (), client_labels: Sequence[str] = ()
    ) -> None:
        self.name, self.text, self.labels = name, text, tuple(labels)
        self._client_labels, self._lock = frozenset(client_labels), threading.Lock()

    def _limit_labels(self, labels: Labels, existing: Mapping[Labels, object]) -> Labels:
        if labels in existing or len(existing) < MAX_SERIES or not self._client_labels:
            return labels
        pairs = zip(self.labels, labels, strict=True)
        return tuple("" if name in self._client_labels else text for name, text in pairs)


class Counter(_Labelled):
    """A counter whose name in the response is exactly `name`."""

    def __init__(
        self, name: str, text: str, labels: Sequence[str] = (), client_labels: Sequence[str] = ()
    ) -> None:
        super().__init__(name, text, labels, client_labels)
        self._values: dict[Labels, float] = {} if labels else {(): 0.0}

    def inc(self, *labels: str, amount: float = 1) -> None:
        if not self.enabled:
            return
        with self._lock:
            if labels not in self._values:
                labels = self._limit_labels(labels, self._values)
                self._values.setdefault(labels, 0.0)
            self._values[labels] += amount

    def values(self) -> dict[Labels, float]:
        with self._lock:
            return dict(self._values)

    def family(self, values: Mapping[Labels, float]) -> prometheus_core.Metric:
        family = prometheus_core.Metric(self.name, self.text, "counter")
        for labels, value in values.items():
            family.add_sample(self.name, dict(zip(self.labels, labels, strict=True)), value)
        return family

    def collect(self) -> Iterable[prometheus_core.Metric]:
        return [self.family(self.values())]


class Series:
    """One label set of a histogram. A hot path only calls `observe`."""

    __slots__ = ("_bounds", "_counts", "_lock", "_sum")

    def __init__(self, bounds: Sequence[float]) -> None:
        self._bounds, self._lock = bounds, threading.Lock()
        self._counts, self._sum = [0] * (len(bounds) + 1), 0.0

    def observe(self, value: float) -> None:
        index = bisect_left(self._bounds, value)
        with self._lock:
            self._counts[index] += 1
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
        client_labels: Sequence[str] = (),
        *,
        bounds: Sequence[float],
    ) -> None:
        super().__init__(name, text, labels, client_labels)
        self._bounds = tuple(bounds)
        self._series: dict[Labels, Series] = {} if labels else {(): Series(self._bounds)}

    def find_series(self, *labels: str) -> Series:
        """The series of these labels, which the caller may cache."""
        with self._lock:
            key = self._limit_labels(labels, self._series)
            if key not in self._series:
                self._series[key] = Series(self._bounds)
            return self._series[key]

    def observe(self, value: float, *labels: str) -> None:
        if self.enabled:
            (self._series.get(labels) or self.find_series(*labels)).observe(value)

    def items(self) -> list[tuple[Labels, Series]]:
        with self._lock:
            return list(self._series.items())

    @staticmethod
    def buckets(bounds: Sequence[float], counts: Sequence[int]) -> list[tuple[str, float]]:
        """The cumulative buckets."""
        names = [f"{bound:g}" for bound in bounds] + ["+Inf"]
        return list(zip(names, map(float, accumulate(counts)), strict=True))

    def collect(self) -> Iterable[prometheus_core.Metric]:
        family = prometheus_core.HistogramMetricFamily(self.name, self.text, labels=self.labels)
        for labels, series in self.items():
            counts, total = series.read()
            family.add_metric(labels, self.buckets(self._bounds, counts), total)
        return [family]


class Gauge:
    """A gauge that is read at each scrape."""

    def __init__(self, name: str, text: str, labels: Sequence[str], read: Reading) -> None:
        self._name, self._text, self._labels, self._read = name, text, labels, read

    def collect(self) -> Iterable[prometheus_core.Metric]:
        family = prometheus_core.GaugeMetricFamily(self._name, self._text, labels=self._labels)
        for labels, value in self._read():
            family.add_metric(labels, value)
        return [family]


class Instruments:
    """The instruments of one service, kept apart, so that a process can have several."""

    def __init__(self, enabled: bool) -> None:
        self.enabled = enabled
        self._collectors: list[Collector] = []

    def collect(self) -> Iterable[prometheus_core.Metric]:
        """The metrics of the process, then those of the instruments."""
        if self.enabled:
            yield from self._process_metrics.collect()
        for collector in self._collectors:
            yield from collector.collect()

    @cached_property
    def _process_metrics(self) -> prometheus_client.CollectorRegistry:
        registry = prometheus_client.CollectorRegistry()
        prometheus_client.ProcessCollector(registry=registry)
        prometheus_client.PlatformCollector(registry=registry)
        prometheus_client.GCCollector(registry=registry)
        return registry

    def add_counter(self, name: str, text: str, *labels: Sequence[str]) -> Counter:
        return self.add(Counter(name, text, *labels))

    def add_histogram(
        self, name: str, text: str, *labels: Sequence[str], bounds: Sequence[float]
    ) -> Histogram:
        return self.add(Histogram(name, text, *labels, bounds=bounds))

    def add(self, collector: C) -> C:
        """Adds the collector, or disables it if metrics are off."""
        if self.enabled:
            self._collectors.append(collector)
        elif isinstance(collector, _Labelled):
            collector.enabled = False
        return collector
