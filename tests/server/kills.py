"""SIGKILL of a service, its database or both, again and again, while senders report.

KILLS is the number of kills of each test, by hand for example 300.
"""

from __future__ import annotations

import contextlib
import http.client
import itertools
import os
import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import psycopg2

from sigservice.db.embedded import EmbeddedPostgres
from tests.server.process import (
    OPEN_LIMITS,
    Process,
    find_parent,
    find_postmaster,
    run_service,
    until,
)
from tests.waiting import DEADLINE_SECONDS, take_time

# What may be killed.
SERVICE, DATABASE, BOTH = VICTIMS = ("service", "database", "both")


def count_kills(usual: int) -> int:
    return int(os.environ.get("KILLS", usual))


def await_more(read_count: Callable[[], int], count: int, what: str) -> None:
    """As long as the next one comes: a busy machine may need minutes for all."""
    before = read_count()
    for goal in range(before + 1, before + count + 1):
        until(lambda goal=goal: read_count() >= goal, f"the next {what}")


class Senders:
    """Threads that repeat a piece of work, which returns whether it was acknowledged."""

    def __init__(self, process: Process, works: list[Callable[[], bool]]) -> None:
        self.process = process
        self._stop, self._lock = threading.Event(), threading.Lock()
        self._threads = [
            threading.Thread(target=self._run, args=(work,), daemon=True) for work in works
        ]

    def __enter__(self) -> Any:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join(DEADLINE_SECONDS)
        assert not any(thread.is_alive() for thread in self._threads), "a request hangs"

    def _run(self, work: Callable[[], bool]) -> None:
        while not self._stop.is_set():
            if not work():
                self._stop.wait(0.02)


class Load(Senders):
    """Senders of signals with numbers. `acked` are the numbers with a 200."""

    def __init__(self, process: Process, secret: str, threads: int = 6) -> None:
        self._secret = secret
        self.acked: set[int] = set()
        self.answers: list[tuple[float, float, int]] = []  # when, seconds, status (0: cut)
        self.last_ack = 0.0
        self._numbers = itertools.count()
        super().__init__(process, [self._send] * threads)

    def _send(self) -> bool:
        number = next(self._numbers)
        started_at = time.monotonic()
        try:
            status, _ = self.process.request(
                "POST", "/api/signal-endpoint/deploys", {"n": number}, secret=self._secret
            )
        except (OSError, http.client.HTTPException):
            status = 0
        ended_at = time.monotonic()
        with self._lock:
            self.answers.append((ended_at, ended_at - started_at, status))
            if status == 200:
                self.acked.add(number)
                self.last_ack = ended_at
        return status == 200

    def wait_for_acks(self, count: int) -> None:
        """Waits until `count` more are acknowledged."""
        await_more(lambda: len(self.acked), count, "signal acknowledged")

    def statuses(self) -> Counter[int]:
        return Counter(status for _, _, status in self.answers)

    def slowest(self) -> float:
        return max(seconds for _, seconds, _ in self.answers)


def assert_exactly_once(conn: Any, load: Load) -> None:
    """Each acknowledged number is stored once, and no other."""
    with conn.cursor() as cursor:
        cursor.execute("SELECT (payload->>'n')::int FROM signals")
        counts = Counter(row[0] for row in cursor.fetchall())
    conn.close()
    assert len(load.acked) > 10  # it was a load, on a slow machine too
    assert not load.acked - set(counts), "acknowledged and lost"
    assert not [number for number in load.acked if counts[number] > 1], "stored twice"


def embedded(data: Path) -> dict[str, str]:
    return OPEN_LIMITS | {"SERVICE_DATA_DIR": str(data)}


def connect(data: Path) -> Any:
    """A connection to the embedded database, without the service."""
    conn = psycopg2.connect(
        host=str(data / "socket"), port=5432, user="sigservice", dbname="postgres"
    )
    conn.autocommit = True
    return conn


def wait_for_database(data: Path) -> float:
    """The time when the database responds again."""

    def answers() -> bool:
        try:
            connect(data).close()
        except psycopg2.Error:
            return False
        return True

    until(answers, "the database's return")
    return time.monotonic()


def pause() -> None:
    """So that each kill meets another moment."""
    take_time(random.uniform(0.05, 0.4))


def kill(victim: str, process: Process, data: Path) -> None:
    """Returns when the database of a service that runs is back."""
    postmaster = find_postmaster(data)
    if victim == DATABASE:
        os.kill(postmaster, signal.SIGKILL)
        until(lambda: find_postmaster(data) not in (0, postmaster), "a new postmaster")
        wait_for_database(data)
    elif victim == BOTH:
        for pid in (find_parent(postmaster), postmaster, process.pid):
            os.kill(pid, signal.SIGKILL)
    else:
        process.kill()


@contextlib.contextmanager
def run_with_kills(
    victim: str,
    data: Path,
    start_loads: Callable[[Process], tuple[Any, ...]],
    environ: Mapping[str, str],
) -> Iterator[tuple[Any, ...]]:
    """Kills while the loads report, and yields them when they have ended, with a service that runs.
    If only the service is killed, another user of its folder keeps the database."""
    with ExitStack() as stack:
        if victim == SERVICE:
            keeper = EmbeddedPostgres(str(data))
            stack.callback(keeper.stop)
            keeper.start()
        process = stack.enter_context(run_service(environ))
        loads = start_loads(process)
        with ExitStack() as running:
            for load in loads:
                running.enter_context(load)
            for _ in range(count_kills(1)):
                for load in loads:
                    load.wait_for_acks(20)
                pause()
                kill(victim, process, data)
                if victim != DATABASE:
                    process = stack.enter_context(run_service(environ))
                    for load in loads:
                        load.process = process
            for load in loads:
                load.wait_for_acks(5)
        statuses = {status for load in loads for status in load.statuses()}
        assert statuses <= {200, 202, 503, *((0,) if victim != DATABASE else ())}
        assert "Traceback" not in process.stderr
        yield loads


class Pair:
    """Two processes, of which one is killed at a time."""

    def __init__(self, environ: Mapping[str, str], stack: ExitStack, seed: int) -> None:
        self.chance, self._environ, self._stack = random.Random(seed), environ, stack
        self.processes = [stack.enter_context(run_service(environ)) for _ in range(2)]

    def kill_one(self) -> None:
        place = self.chance.randrange(2)
        self.processes[place].kill()
        self.processes[place] = self._stack.enter_context(run_service(self._environ))
