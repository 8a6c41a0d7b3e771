"""Requests: how long they took, which applications sent them, and from what kind of client."""

from __future__ import annotations

from sigservice.telemetry.instruments import Instruments, Names, Series

_MILLISECONDS = (1, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000)
_MOST_KEPT = 1000

Key = tuple[str, str, int, str]


class Requests:
    def __init__(self, make: Instruments, app_names: Names) -> None:
        self._app_names = app_names
        self._times = make.histogram(
            "http_request_duration_milliseconds",
            "Time to answer a request, by route.",
            ("path", "method", "status", "appName"),
            ("appName",),
            bounds=_MILLISECONDS,
        )
        self._sdk_times = make.histogram(
            "http_sdk_request_duration_milliseconds",
            "Time to answer a request of an SDK or a relay, by route.",
            ("path", "method", "status"),
            bounds=_MILLISECONDS,
        )
        self._origins = make.counter(
            "request_origin_counter",
            "Requests of people's browsers (UI) and of programs (API).",
            ("type", "method", "source"),
        )
        self._kept: dict[Key, tuple[Series, ...]] = {}

    def answered(
        self,
        path: str,
        method: str,
        status: int,
        app_name: str,
        milliseconds: float,
        *,
        is_sdk: bool,
    ) -> None:
        """`path` is the route's pattern, never what a client made up."""
        if app_name:
            app_name = self._app_names.bounded(app_name)
        key = (path, method, status, app_name)
        for series in self._kept.get(key) or self._find(key, is_sdk):
            series.observe(milliseconds)

    def came_from(self, type: str, method: str, source: str) -> None:
        """`type` is UI or API."""
        self._origins.inc(type, method, source)

    def _find(self, key: Key, is_sdk: bool) -> tuple[Series, ...]:
        path, method, status, app_name = key
        found: tuple[Series, ...] = (self._times.at(path, method, str(status), app_name),)
        if is_sdk:
            found += (self._sdk_times.at(path, method, str(status)),)
        if len(self._kept) < _MOST_KEPT:
            self._kept[key] = found
        return found
