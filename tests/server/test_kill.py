"""SIGKILL under load: acknowledged signals are stored exactly once, and the service recovers."""

from __future__ import annotations

import contextlib
import http.client
import os
import signal
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import psycopg2
import pytest

from sigservice.db.errors import DatabaseUnavailable, translate
from tests.server.process import (
    OPEN_LIMITS,
    Process,
    find_parent,
    find_postmaster,
    list_processes,
    make_database_environ,
    run_service,
    until,
)
from tests.waiting import DEADLINE_SECONDS

# A request waits 2 s for a lock or a connection; without the limit, as long as the lock exists.
LONGEST_REQUEST = 30.0
# This detects a database that acknowledges commits before it writes them.
MEMORY = "synchronous_commit"
UNKNOWN = "/api/signal-endpoint/made-up"


class Load:
    """Senders that retry forever. `acked` are the numbers with a 200."""

    def __init__(self, process: Process, secret: str, threads: int = 6) -> None:
        self.process, self._secret = process, secret
        self.acked: set[int] = set()
        self.answers: list[tuple[float, float, int]] = []  # when, seconds, status (0: cut)
        self.last_ack = 0.0
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._next = 0
        self._threads = [threading.Thread(target=self._send, daemon=True) for _ in range(threads)]

    def __enter__(self) -> Load:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join(DEADLINE_SECONDS)
        assert not any(thread.is_alive() for thread in self._threads), "a request hangs"

    def _send(self) -> None:
        while not self._stop.is_set():
            with self._lock:
                number, self._next = self._next, self._next + 1
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
            if status != 200:
                self._stop.wait(0.02)

    def wait_for_acks(self, count: int) -> None:
        """Waits until `count` more are acknowledged."""
        enough = len(self.acked) + count
        until(lambda: len(self.acked) >= enough, f"{count} acknowledged signals")

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


@pytest.fixture(scope="module")
def own_database(temporary_database: Any) -> dict[str, str]:
    return OPEN_LIMITS | make_database_environ(temporary_database.create_database("kill"))


@pytest.fixture
def environ(own_database: dict[str, str], temporary_database: Any) -> dict[str, str]:
    """Variables for the database of this module, which is empty."""
    temporary_database.empty(own_database["DATABASE_NAME"])
    return own_database


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


def test_killed_service_loses_no_acknowledged_signal(
    environ: dict[str, str], temporary_database: Any
):
    load, secret = None, ""
    for _ in range(3):
        with run_service(environ) as process:
            if load is None:
                _, secret = process.create_sender()
                load = Load(process, secret)
                load.__enter__()
            load.process = process
            load.wait_for_acks(60)
            process.kill()
    assert load is not None
    with run_service(environ) as process:
        load.process = process
        load.wait_for_acks(20)
        load.__exit__()
    assert set(load.statuses()) <= {0, 200}
    assert_exactly_once(temporary_database.connect(environ["DATABASE_NAME"]), load)


def test_killed_database_server_comes_back_and_work_goes_on(data: Path):
    with run_service(embedded(data)) as process:
        _, secret = process.create_sender()
        with Load(process, secret) as load:
            load.wait_for_acks(60)
            for _ in range(3):
                first = find_postmaster(data)
                os.kill(first, signal.SIGKILL)
                until(
                    lambda first=first: find_postmaster(data) not in (0, first), "a new postmaster"
                )
                back = wait_for_database(data)
                until(lambda back=back: load.last_ack > back, "a signal acknowledged")
                load.wait_for_acks(60)
        assert process.is_running()
        assert set(load.statuses()) <= {200, 503}, load.statuses()
        assert load.slowest() < LONGEST_REQUEST
        assert "Traceback" not in process.stderr
        assert_exactly_once(connect(data), load)


def test_killed_backends_cost_their_requests_only(environ: dict[str, str], temporary_database: Any):
    """SIGKILL of one backend makes PostgreSQL end them all and recover."""
    name = environ["DATABASE_NAME"]
    with run_service(environ) as process:
        _, secret = process.create_sender()
        with Load(process, secret) as load:
            load.wait_for_acks(60)
            for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGTERM):
                for pid in _backends(temporary_database, name)[:1]:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, number)
                load.wait_for_acks(60)
        assert set(load.statuses()) <= {200, 503}, load.statuses()
        assert load.slowest() < LONGEST_REQUEST
        assert "Traceback" not in process.stderr
    assert_exactly_once(temporary_database.connect(name), load)


def test_lost_connection_is_not_logged_as_an_error():
    """psycopg2 sometimes raises its base class without a SQLSTATE."""
    lost = psycopg2.DatabaseError("server closed the connection unexpectedly")
    assert isinstance(translate(lost), DatabaseUnavailable)


def test_ended_idle_connections_are_not_noticed_by_the_next_client(
    environ: dict[str, str], temporary_database: Any
):
    name = environ["DATABASE_NAME"]
    with run_service(environ) as process:
        _, secret = process.create_sender()
        for _ in range(5):
            ended_at = _backends(temporary_database, name)
            for pid in ended_at:
                os.kill(pid, signal.SIGTERM)
            # Jobs open new ones in the meantime.
            until(
                lambda ended_at=ended_at: not {*ended_at} & {*_backends(temporary_database, name)},
                "their end",
            )
            path = "/api/signal-endpoint/deploys"
            assert process.request("POST", path, {"n": 1}, secret=secret)[0] == 200


def _backends(database: Any, name: str) -> list[int]:
    conn = until(lambda: _try(database.connect), "the database")
    with conn.cursor() as cursor:
        cursor.execute("SELECT pid FROM pg_stat_activity WHERE datname = %s", (name,))
        pids = [row[0] for row in cursor.fetchall()]
    conn.close()
    return pids


def _try(connect: Any) -> Any:
    try:
        return connect()
    except psycopg2.OperationalError:
        return None


def test_locked_table_is_503_in_time_and_heals(environ: dict[str, str], temporary_database: Any):
    with run_service(environ) as process:
        _, secret = process.create_sender()
        locker = temporary_database.connect(environ["DATABASE_NAME"])
        locker.autocommit = False
        with Load(process, secret, threads=8) as load:
            load.wait_for_acks(30)
            locker.cursor().execute("LOCK TABLE signals IN ACCESS EXCLUSIVE MODE")
            arguments = ("POST", UNKNOWN, {}, "nobody")
            unauthenticated = threading.Thread(target=process.request, args=arguments)
            unauthenticated.start()
            until(lambda: load.statuses()[503] >= 4, "503 for those who wait too long")
            assert process.request("GET", "/health")[0] == 200
            unauthenticated.join()
            locker.rollback()
            freed = time.monotonic()
            until(lambda: load.last_ack > freed, "a signal acknowledged")
        locker.close()
        metrics = process.request("GET", "/internal-backstage/prometheus")[1]
        assert b"signals_received" in metrics
        assert b"made-up" not in metrics, "an unauthenticated caller created a metric"
        assert set(load.statuses()) <= {200, 503}, load.statuses()
        assert load.slowest() < LONGEST_REQUEST
    assert_exactly_once(temporary_database.connect(environ["DATABASE_NAME"]), load)


def test_killed_service_takes_its_database_with_it_and_the_data_stays(data: Path):
    with run_service(embedded(data)) as process:
        _, secret = process.create_sender()
        with Load(process, secret) as load:
            load.wait_for_acks(60)
            process.kill()
    until(lambda: not list_processes(data), "the end of supervisor and PostgreSQL")
    with run_service(embedded(data)):
        assert_exactly_once(connect(data), load)


def test_service_and_database_killed_together_lose_nothing(data: Path):
    with run_service(embedded(data)) as process:
        _, secret = process.create_sender()
        with Load(process, secret) as load:
            load.wait_for_acks(60)
            server = find_postmaster(data)
            supervisor = find_parent(server)
            for pid in (supervisor, server, process.pid):
                os.kill(pid, signal.SIGKILL)
    with run_service(embedded(data)):
        assert_exactly_once(connect(data), load)


def test_acknowledged_means_written(environ: dict[str, str], temporary_database: Any):
    """The setting is on even if the cluster's default is off."""
    name = environ["DATABASE_NAME"]
    conn = temporary_database.connect()
    with conn.cursor() as cursor:
        cursor.execute(f'ALTER DATABASE "{name}" SET {MEMORY} = off')
        cursor.execute(f'ALTER DATABASE "{name}" SET statement_timeout = 20')
    conn.close()
    script = (
        "import sigservice\n"
        "service = sigservice.create()\n"
        "with service.context.database.transaction() as conn, conn.cursor() as cursor:\n"
        f"    cursor.execute('SHOW {MEMORY}')\n"
        "    print('  address         unix:' + cursor.fetchone()[0], flush=True)\n"
        "service.stop()\n"
    )
    with run_service(environ, script) as process:
        assert process.pipe == "on"
