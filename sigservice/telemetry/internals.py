"""Metrics of internals: statements, functions, jobs, exceeded limits."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from sigservice.telemetry.instruments import Instruments

_SECONDS = (0.001, 0.005, 0.02, 0.1, 0.5, 2, 10)


class Internals:
    def __init__(self, instruments: Instruments) -> None:
        self.observe_query = instruments.add_histogram(
            "db_query_duration_seconds",
            "Duration of a SQL statement, by its file and name.",
            ("store", "action"),
            bounds=_SECONDS,
        ).observe
        self._functions = instruments.add_histogram(
            "function_duration_seconds",
            "Duration of expensive functions.",
            ("functionName", "className"),
            bounds=_SECONDS,
        )
        self.observe_job = instruments.add_histogram(
            "scheduler_duration_seconds",
            "Duration of a background job.",
            ("jobId",),
            bounds=_SECONDS,
        ).observe
        self.observe_group = instruments.add_histogram(
            "group_commit_items",
            "Items that one statement stored together, by kind: signals, reports.",
            ("kind",),
            bounds=(1, 2, 4, 8, 16, 32, 64),
        ).observe
        self.count_engine_build = instruments.add_counter(
            "frontend_engine_builds_total",
            "Compilations of an environment's flags for the frontend API.",
        ).inc
        self.count_drift = instruments.add_counter(
            "flag_state_drift_total",
            "Flags and segments in memory that differed from the database.",
        ).inc
        self.count_exceeded_limit = instruments.add_counter(
            "exceeds_limit_error",
            "Requests refused because of a limit, by resource and limit.",
            ("resource", "limit"),
        ).inc
        self.count_filled_events = instruments.add_counter(
            "event_created_by_migration_count", "Past events that received a user ID."
        ).inc
        self.count_filled_features = instruments.add_counter(
            "feature_created_by_migration_count", "Past flags that received a user ID."
        ).inc

    @contextmanager
    def measure(self, class_name: str, function: str) -> Iterator[None]:
        start = time.monotonic()
        try:
            yield
        finally:
            self._functions.observe(time.monotonic() - start, function, class_name)
