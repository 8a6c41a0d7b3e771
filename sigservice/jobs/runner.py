"""Background jobs, stopped by an event: a thread for each, and one for all that are short.

Errors are logged and never fatal. A repeated error, such as an unavailable database, is logged once
a minute.
"""

import math
import random
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sigservice.context import Context
from sigservice.errors import UnavailableError
from sigservice.log import Logger, format_trace
from sigservice.repository.system import due_work

QUIET_SECONDS = 60
LOOK_SECONDS, REST_SECONDS = 1.0, 60.0  # between looks for due work, between runs without any


@dataclass(frozen=True)
class Job:
    """`run_once` may return how much it did, which is logged if `logs`. The first run starts after
    a random delay of 1/15 to 1 times `first_seconds`. A job with `woken_by` runs at once when that
    event is set. One that `is_short` executes only short statements and can wait for others. One
    with `work`, a column of `find_due_work`, runs after `every_seconds` while there is some, once
    more after that, and every REST_SECONDS."""

    name: str
    run_once: Callable[[Context], int | None]
    every_seconds: float
    first_seconds: float
    woken_by: Callable[[Context], threading.Event] | None = None
    logs: bool = True
    is_short: bool = False
    work: str = ""


class Runner:
    """Starts and stops the jobs of a service."""

    def __init__(self, context: Context, jobs: tuple[Job, ...]) -> None:
        self._context = context
        self._logger, self._stop = context.get_logger("jobs"), threading.Event()
        self._working = tuple(job for job in jobs if job.work)
        if self._working:
            jobs += (Job("due work", self._wake_due, LOOK_SECONDS, LOOK_SECONDS),)
        self._wakers = {
            job.name: job.woken_by(context) if job.woken_by else threading.Event() for job in jobs
        }
        self._had_work: dict[str, bool] = {}
        self._ended_at: dict[str, float] = {}
        threads = [(job.name, [job]) for job in jobs if not job.is_short]
        if short := [job for job in jobs if job.is_short]:
            threads.append(("short", short))
        self._threads = [
            threading.Thread(target=self._loop, args=(group,), name=f"job-{name}", daemon=True)
            for name, group in threads
        ]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def request_stop(self) -> None:
        """Returns at once; no job starts after this."""
        self._stop.set()
        for waker in self._wakers.values():
            waker.set()

    def join(self, seconds: float) -> None:
        """Waits up to `seconds` for all running jobs, which may be killed safely."""
        deadline = time.monotonic() + seconds
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))

    def _loop(self, jobs: Sequence[Job]) -> None:
        error_logs = {job.name: _ErrorLog(job.name) for job in jobs}
        due = {job.name: time.monotonic() + _draw_delay(job.first_seconds) for job in jobs}
        waker = self._wakers[jobs[0].name]
        # Checked before and after the wait: a run clears the event that woke it, and may have
        # cleared it after `request_stop` had set it.
        while not self._stop.is_set():
            is_woken = waker.wait(max(0.0, min(due.values()) - time.monotonic()))
            if not jobs[0].woken_by:
                waker.clear()
            for job in jobs:
                if self._stop.is_set():
                    return
                if is_woken or due[job.name] <= time.monotonic():
                    self._run(job, error_logs[job.name])
                    self._ended_at[job.name] = time.monotonic()
                    seconds = (
                        max(REST_SECONDS, job.every_seconds) if job.work else job.every_seconds
                    )
                    due[job.name] = self._ended_at[job.name] + seconds

    def _wake_due(self, context: Context) -> None:
        """Wakes the jobs that have something to do."""
        try:
            with context.database.autocommit() as conn:
                work = due_work.find(conn, context.clock.fixed_now)
        except Exception:
            context.silence_observer.note_failure()
            raise
        for job in self._working:
            rested = time.monotonic() - self._ended_at.get(job.name, -math.inf)
            if (work[job.work] or self._had_work.get(job.name)) and rested >= job.every_seconds:
                self._had_work[job.name] = work[job.work]
                self._wakers[job.name].set()

    def _run(self, job: Job, error_log: "_ErrorLog") -> None:
        logger, started_at = self._logger, time.monotonic()
        try:
            count = job.run_once(self._context)
            if count and job.logs:
                logger.info("%s: %d done", job.name, count)
            error_log.end(logger)
        except Exception as error:  # noqa: BLE001  a job's bug must not end the others
            error_log.add(logger, error)
        self._context.telemetry.internals.observe_job(time.monotonic() - started_at, job.name)


def _draw_delay(seconds: float) -> float:
    return random.uniform(1 / 15, 1) * seconds  # noqa: S311  spreads processes, no secret


class _ErrorLog:
    """Logs the errors of a job, repeated ones once a minute."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._last_error: tuple[str, float] = ("", 0.0)
        self._fails = False

    def add(self, logger: Logger, error: Exception) -> None:
        self._fails, now = True, time.monotonic()
        text, logged_at = self._last_error
        if text == str(error) and now - logged_at < QUIET_SECONDS:
            return
        self._last_error = (str(error), now)
        if isinstance(error, UnavailableError):
            logger.warn("%s: %s", self._name, error)
        else:
            logger.error("%s failed: %s", self._name, format_trace(error))

    def end(self, logger: Logger) -> None:
        if self._fails:
            logger.info("%s: works again", self._name)
        self._fails = False
