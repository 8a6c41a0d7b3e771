"""Requests: how long they took, which applications sent them, and from what kind of client."""

from __future__ import annotations

from typing import NamedTuple

from sigservice.telemetry.instruments import Instruments, Names, Series

_MILLISECONDS = (1, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000)


class Asked(NamedTuple):
    """`path` is the route's pattern, never what a client made up."""

    path: str
    method: str
    status: int
    app_name: str
    origin: str  # UI, API, or "" for what is not counted
    source: str
    is_sdk: bool


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
        self._kept: dict[tuple[str, str, int, str], Series] = {}

    def answered(self, asked: Asked, milliseconds: float) -> None:
        app_name = self._app_names.bounded(asked.app_name) if asked.app_name else ""
        key = (asked.path, asked.method, asked.status, app_name)
        series = self._kept.get(key)
        if series is None:
            series = self._times.at(asked.path, asked.method, str(asked.status), app_name)
            if len(self._kept) < 1000:
                self._kept[key] = series
        series.observe(milliseconds)
        if asked.is_sdk:
            self._sdk_times.observe(milliseconds, asked.path, asked.method, str(asked.status))
        if asked.origin:
            self._origins.inc(asked.origin, asked.method, asked.source)
