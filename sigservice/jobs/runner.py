"""Background jobs: one thread each, ended by an event, errors logged and never fatal.

A job that fails again and again, as all do while the database is away, says so once a minute.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from sigservice.context import Context
from sigservice.errors import UnavailableError
from sigservice.log import Logger, format_trace

QUIET_SECONDS = 60


@dataclass(frozen=True)
class Job:
    """`run_once` returns how much it did. Its first run is after a random part of `first`, 2 to
    30 seconds for 30; one with `woken_by` runs at once when that event of the context is set."""

    name: str
    run_once: Callable[[Context], int]
    every_seconds: float
    first_seconds: float
    woken_by: Callable[[Context], threading.Event] | None = None


class Runner:
    """Starts the jobs of one service and ends them."""

    def __init__(self, context: Context, jobs: tuple[Job, ...]) -> None:
        self._context = context
        self._stop = threading.Event()
        self._wakers = [job.woken_by(context) for job in jobs if job.woken_by]
        self._threads = [
            threading.Thread(target=self._loop, args=(job,), name=f"job-{job.name}", daemon=True)
            for job in jobs
        ]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def ask_to_stop(self) -> None:
        """Returns at once; no job starts any more."""
        self._stop.set()
        for waker in self._wakers:
            waker.set()

    def join(self, seconds: float) -> None:
        """Waits for running jobs, `seconds` in all; what they do survives being cut."""
        deadline = time.monotonic() + seconds
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))

    def _loop(self, job: Job) -> None:
        logger, complaints = self._context.get_logger("jobs"), _Complaints(job.name)
        wait = random.uniform(1 / 15, 1) * job.first_seconds  # noqa: S311  spreads processes, no secret
        waiting = job.woken_by(self._context) if job.woken_by else self._stop
        while not (waiting.wait(wait) and self._stop.is_set()):
            began = time.monotonic()
            try:
                done = job.run_once(self._context)
                if done:
                    logger.info("%s: %d done", job.name, done)
                complaints.end(logger)
            except Exception as error:  # noqa: BLE001  a job's bug must not end the others
                complaints.add(logger, error)
            self._context.telemetry.work.observe_job(job.name, time.monotonic() - began)
            wait = job.every_seconds


class _Complaints:
    """What a job that fails says in the log."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._said: tuple[str, float] = ("", 0.0)
        self._fails = False

    def add(self, logger: Logger, error: Exception) -> None:
        self._fails, now = True, time.monotonic()
        text, said_at = self._said
        if text == str(error) and now - said_at < QUIET_SECONDS:
            return
        self._said = (str(error), now)
        if isinstance(error, UnavailableError):
            logger.warn("%s: %s", self._name, error)
        else:
            logger.error("%s failed: %s", self._name, format_trace(error))

    def end(self, logger: Logger) -> None:
        if self._fails:
            logger.info("%s: goes on", self._name)
        self._fails = False
