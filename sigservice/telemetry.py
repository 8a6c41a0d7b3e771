"""Prometheus metrics in a registry of the app's own, so that two apps fit into one process."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.process_collector import ProcessCollector

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_MILLISECONDS = (1, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000)


class Telemetry:
    """What the service counts. `enabled` false makes each call free and the page absent."""

    def __init__(self, enabled: bool) -> None:
        self.enabled = enabled
        self._registry = CollectorRegistry()
        if not enabled:
            return
        ProcessCollector(registry=self._registry)
        self._requests = Histogram(
            "http_request_duration_milliseconds",
            "Time to answer a request, by route.",
            ["path", "method", "status"],
            buckets=_MILLISECONDS,
            registry=self._registry,
        )
        self._signals = Counter(
            "signals_received",
            "Signals by endpoint and result.",
            ["endpoint", "result"],
            registry=self._registry,
        )
        self._payload = Histogram(
            "signal_payload_bytes",
            "Size of accepted payloads.",
            buckets=(100, 1_000, 10_000, 100_000, 1_000_000),
            registry=self._registry,
        )

        self._engines = Counter(
            "frontend_engine_builds",
            "Times that the flags of an environment were compiled for the frontend API.",
            registry=self._registry,
        )
        self._runs = Counter(
            "action_runs",
            "Runs of action sets, by how they ended.",
            ["state"],
            registry=self._registry,
        )
        self._reaction = Histogram(
            "action_reaction_seconds",
            "From a signal's commit to the end of its run.",
            buckets=(0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 5, 60),
            registry=self._registry,
        )
        self._notifications = Counter(
            "notifications_sent",
            "Attempts to tell people of runs, by channel and result.",
            ["type", "result"],
            registry=self._registry,
        )
        self._mails = Counter(
            "mails_sent",
            "Attempts to send mails to users, by kind and result.",
            ["kind", "result"],
            registry=self._registry,
        )
        self._filled = Counter(
            "event_created_by_migration_count",
            "Past events given a user id.",
            registry=self._registry,
        )

    def run_ended(self, state: str, reaction: float | None) -> None:
        """`reaction` is the seconds from a signal's commit to the end of its run."""
        if self.enabled:
            self._runs.labels(state).inc()
            if reaction is not None:
                self._reaction.observe(reaction)

    def notification(self, type: str, result: str) -> None:
        """`result` is sent, failed (it will be tried again) or given up."""
        if self.enabled:
            self._notifications.labels(type, result).inc()

    def mail(self, kind: str, result: str) -> None:
        """`result` as of a notification."""
        if self.enabled:
            self._mails.labels(kind, result).inc()

    def request(self, path: str, method: str, status: int, seconds: float) -> None:
        """`path` is the route's pattern, never what a client made up."""
        if self.enabled:
            self._requests.labels(path, method, str(status)).observe(seconds * 1000)

    def signal(self, endpoint: str, result: str, payload_bytes: int = 0) -> None:
        """`endpoint` is the name of an existing endpoint, or "" for a refused stranger."""
        if self.enabled:
            self._signals.labels(endpoint, result).inc()
            if payload_bytes:
                self._payload.observe(payload_bytes)

    def events_filled(self, amount: int) -> None:
        if self.enabled:
            self._filled.inc(amount)

    def engine_built(self) -> None:
        if self.enabled:
            self._engines.inc()

    def gauge(
        self,
        name: str,
        text: str,
        labels: list[str],
        read: Callable[[], Iterable[tuple[list[str], float]]],
    ) -> None:
        """A gauge that is read when it is asked for."""
        if self.enabled:
            self._registry.register(_Gauge(name, text, labels, read))

    def exposition(self) -> bytes:
        return generate_latest(self._registry)


class _Gauge:
    def __init__(
        self,
        name: str,
        text: str,
        labels: list[str],
        read: Callable[[], Iterable[tuple[list[str], float]]],
    ) -> None:
        self._name, self._text, self._labels, self._read = name, text, labels, read

    def describe(self) -> Iterable[Metric]:
        return [GaugeMetricFamily(self._name, self._text, labels=self._labels)]

    def collect(self) -> Iterable[Metric]:
        family = GaugeMetricFamily(self._name, self._text, labels=self._labels)
        for labels, number in self._read():
            family.add_metric(labels, number)
        return [family]
