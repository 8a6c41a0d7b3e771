"""Requests: how long they took, which applications sent them, and from what kind of client.

A request of an SDK costs one observation; all other metrics are derived from it.
"""

from __future__ import annotations

from collections.abc import Iterable

from sigservice.late import prometheus_core
from sigservice.telemetry.instruments import Counter, Histogram, Instruments, Labels, Names, Series

_MILLISECONDS = (1, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000)
_SDK = ("/api/client/", "/api/frontend", "/api/proxy", "/edge/", "/ofrep/")


def is_sdk(path: str) -> bool:
    """Whether the path is for SDKs and relays."""
    return path.startswith(_SDK)


class Requests:
    def __init__(self, instruments: Instruments, app_names: Names) -> None:
        self._app_names = app_names
        self._times = instruments.add_histogram(
            "http_request_duration_milliseconds",
            "Time to answer a request, by route.",
            ("path", "method", "status", "appName"),
            ("appName",),
            bounds=_MILLISECONDS,
        )
        self._origins = Counter(
            "request_origin_counter",
            "Requests of browsers (UI) and programs (API).",
            ("type", "method", "source"),
        )
        self.count_client_type = self._origins.inc  # except requests of SDKs; the type is UI or API
        instruments.add(self)

    def find_series(self, path: str, method: str, status: int, app_name: str) -> Series:
        """The series for the duration of such requests in milliseconds. `path` is the route's
        pattern."""
        if app_name:
            app_name = self._app_names.limit(app_name)
        return self._times.find_series(path, method, str(status), app_name)

    def collect(self) -> Iterable[prometheus_core.Metric]:
        sums: dict[Labels, tuple[list[int], float]] = {}
        origins = self._origins.values()
        for (path, method, status, _), series in self._times.items():
            if not is_sdk(path):
                continue
            counts, total = series.read()
            key, origin = (path, method, status), ("API", method, "sdk")
            others, other = sums.get(key, ([0] * len(counts), 0.0))
            sums[key] = [a + b for a, b in zip(counts, others, strict=True)], total + other
            origins[origin] = origins.get(origin, 0.0) + sum(counts)
        times = prometheus_core.HistogramMetricFamily(
            "http_sdk_request_duration_milliseconds",
            "Time to answer a request of an SDK or a relay, by route.",
            labels=("path", "method", "status"),
        )
        for labels, (counts, total) in sums.items():
            times.add_metric(labels, Histogram.buckets(_MILLISECONDS, counts), total)
        return [times, self._origins.family(origins)]
