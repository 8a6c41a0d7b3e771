"""Metrics of internals: statements, functions, jobs, exceeded limits."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from sigservice.telemetry.instruments import Instruments

_SECONDS = (0.001, 0.005, 0.02, 0.1, 0.5, 2, 10)


class Internals:
    def __init__(self, instruments: Instruments) -> None:
        queries = instruments.add_histogram(
            "db_query_duration_seconds",
            "Duration of a SQL statement, by its file and name.",
            ("store", "action"),
            bounds=_SECONDS,
        )
        self.observe_query: Callable[[float, str, str], None] = queries.observe
        self._functions = instruments.add_histogram(
            "function_duration_seconds",
            "Duration of expensive functions.",
            ("functionName", "className"),
            bounds=_SECONDS,
        )
        self._jobs = instruments.add_histogram(
            "scheduler_duration_seconds",
            "Duration of a background job.",
            ("jobId",),
            bounds=_SECONDS,
        )
        self._groups = instruments.add_histogram(
            "group_commit_items",
            "Items that one statement stored together, by kind: signals, reports.",
            ("kind",),
            bounds=(1, 2, 4, 8, 16, 32, 64),
        )
        self.count_engine_build = instruments.add_counter(
            "frontend_engine_builds_total",
            "Compilations of an environment's flags for the frontend API.",
        ).inc
        self._drift = instruments.add_counter(
            "flag_state_drift_total",
            "Flags and segments in memory that differed from the database.",
        )
        self._exceeded = instruments.add_counter(
            "exceeds_limit_error",
            "Requests refused because of a limit, by resource and limit.",
            ("resource", "limit"),
        )
        self._events_filled = instruments.add_counter(
            "event_created_by_migration_count", "Past events that received a user ID."
        )
        self._features_filled = instruments.add_counter(
            "feature_created_by_migration_count", "Past flags that received a user ID."
        )

    def observe_job(self, name: str, seconds: float) -> None:
        self._jobs.observe(seconds, name)

    def observe_group(self, kind: str, count: int) -> None:
        self._groups.observe(count, kind)

    @contextmanager
    def measure(self, class_name: str, function: str) -> Iterator[None]:
        start = time.monotonic()
        try:
            yield
        finally:
            self._functions.observe(time.monotonic() - start, function, class_name)

    def count_drift(self, amount: int) -> None:
        self._drift.inc(amount=amount)

    def count_exceeded_limit(self, resource: str, limit: int) -> None:
        self._exceeded.inc(resource, str(limit))

    def count_filled_events(self, amount: int) -> None:
        self._events_filled.inc(amount=amount)

    def count_filled_features(self, amount: int) -> None:
        self._features_filled.inc(amount=amount)
