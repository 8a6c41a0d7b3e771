"""What the service does inside: statements, functions, jobs, limits that held."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from sigservice.telemetry.instruments import Counter, Histogram, Instruments

_SECONDS = (0.001, 0.005, 0.02, 0.1, 0.5, 2, 10)


class Work:
    def __init__(self, make: Instruments) -> None:
        queries = make.add(
            Histogram(
                "db_query_duration_seconds",
                "Time of a statement, by the table's file and its name there.",
                ("store", "action"),
                bounds=_SECONDS,
            )
        )
        self.queried: Callable[[float, str, str], None] = queries.observe
        self._functions = make.add(
            Histogram(
                "function_duration_seconds",
                "Time of what is costly beside statements.",
                ("functionName", "className"),
                bounds=_SECONDS,
            )
        )
        self._jobs = make.add(
            Histogram(
                "scheduler_duration_seconds",
                "Time of a run of a background job.",
                ("jobId",),
                bounds=_SECONDS,
            )
        )
        self._engines = make.add(
            Counter(
                "frontend_engine_builds_total",
                "Times that the flags of an environment were compiled for the frontend API.",
            )
        )
        self._exceeded = make.add(
            Counter(
                "exceeds_limit_error",
                "Refusals because there was no room, by what there was too much of.",
                ("resource", "limit"),
            )
        )
        self._events_filled = make.add(
            Counter("event_created_by_migration_count", "Past events that were given a user id.")
        )
        self._features_filled = make.add(
            Counter("feature_created_by_migration_count", "Past flags that were given a user id.")
        )

    def job_ran(self, name: str, seconds: float) -> None:
        self._jobs.observe(seconds, name)

    @contextmanager
    def timed(self, class_name: str, function: str) -> Iterator[None]:
        began = time.monotonic()
        try:
            yield
        finally:
            self._functions.observe(time.monotonic() - began, function, class_name)

    def engine_built(self) -> None:
        self._engines.inc()

    def limit_held(self, resource: str, limit: int) -> None:
        self._exceeded.inc(resource, str(limit))

    def events_filled(self, amount: int) -> None:
        self._events_filled.inc(amount=amount)

    def features_filled(self, amount: int) -> None:
        self._features_filled.inc(amount=amount)
