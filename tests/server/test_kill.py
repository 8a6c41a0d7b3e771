"""Connections and locks that die or hang under load: only their requests fail."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from typing import Any

import psycopg2
import pytest

from sigservice.db.errors import DatabaseUnavailable, translate
from tests.server.kills import Load, assert_exactly_once
from tests.server.process import OPEN_LIMITS, make_database_environ, run_service, until

# A request waits 2 s for a lock or a connection; without the limit, as long as the lock exists.
LONGEST_REQUEST = 30.0
# This detects a database that acknowledges commits before it writes them.
MEMORY = "synchronous_commit"
UNKNOWN = "/api/signal-endpoint/made-up"


@pytest.fixture(scope="module")
def own_database(temporary_database: Any) -> dict[str, str]:
    return OPEN_LIMITS | make_database_environ(temporary_database.create_database("kill"))


@pytest.fixture
def environ(own_database: dict[str, str], temporary_database: Any) -> dict[str, str]:
    """Variables for the database of this module, which is empty."""
    temporary_database.empty(own_database["DATABASE_NAME"])
    return own_database


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
