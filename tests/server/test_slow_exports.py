"""Many slow readers of exports leave the workers and the memory to everything else."""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Iterator
from typing import Any

import psycopg2
import pytest

from sigservice.concurrency.workers import MAX_STREAMED_FILES
from tests.server.malformed_requests import build_request
from tests.server.process import (
    ADMIN_SECRET,
    OPEN_LIMITS,
    Process,
    make_database_environ,
    run_service,
    until,
)
from tests.server.test_resource_exhaustion import SIGNAL, read_memory_mb

EXPORT = "/api/admin/search/events/export"
READERS = 90  # more than workers
EVENTS, BYTES = 260, 170_000
# So that a first part never waits for those of others.
POOL = {"DATABASE_POOL_MAX": "20"}


@pytest.fixture(scope="module")
def process(temporary_database: Any) -> Iterator[Process]:
    options = temporary_database.create_database("slow_exports")
    with run_service(OPEN_LIMITS | POOL | make_database_environ(options)) as started:
        with contextlib.closing(psycopg2.connect(**_to_arguments(options))) as conn, conn:
            conn.cursor().execute(
                """INSERT INTO events (type, created_by, created_by_user_id, project, data)
                SELECT 'feature-created', 'ada', 1, 'default',
                       jsonb_build_object('x', repeat('x', %s))
                FROM generate_series(1, %s)""",
                (BYTES, EVENTS),
            )
        yield started


def _to_arguments(options: dict[str, Any]) -> dict[str, Any]:
    return {name: options[name] for name in ("host", "port", "user")} | {
        "dbname": options["database"]
    }


@contextlib.contextmanager
def open_exports(
    process: Process, secrets: list[str]
) -> Iterator[tuple[list[socket.socket], list[int]]]:
    """A connection for each secret, one after the other, and the statuses of their responses."""
    with contextlib.ExitStack() as stack:
        socks, statuses = [], []
        for secret in secrets:
            sock = stack.enter_context(process.connect())
            sock.sendall(build_request("GET", EXPORT, f"Authorization: Bearer {secret}"))
            socks.append(sock)
            statuses.append(int(sock.recv(100)[9:12]))
        yield socks, statuses


def measure_request(process: Process, method: str, path: str, *more: Any) -> float:
    """The seconds of a request that must succeed."""
    started_at = time.monotonic()
    assert process.request(method, path, *more)[0] == 200
    return time.monotonic() - started_at


def test_slow_readers_of_one_token_leave_the_service_to_others(process: Process):
    sender = process.create_sender()[1]
    before = read_memory_mb(process)
    with open_exports(process, [ADMIN_SECRET] * READERS) as (socks, statuses):
        assert statuses == [200] + [503] * (READERS - 1)
        for _ in range(20):
            for sock in socks:
                with contextlib.suppress(OSError):
                    sock.recv(10)
            assert measure_request(process, "GET", "/health") < 5
            assert measure_request(process, "POST", SIGNAL, {"n": 1}, sender) < 5
        assert read_memory_mb(process) - before < 100


def test_slow_readers_of_many_users_leave_the_service_to_others(process: Process):
    secrets = []
    for number in range(MAX_STREAMED_FILES + 2):
        body = {"tokenName": f"reader {number}", "type": "admin"}
        status, token = process.request("POST", "/api/admin/api-tokens", body)
        assert status == 201, token
        secrets.append(token["secret"])
    # The readers of another test have left.
    until(lambda: process.request("GET", f"{EXPORT}?feature=IS:none")[0] == 200, "a free place")
    before = read_memory_mb(process)
    with open_exports(process, secrets) as (_, statuses):
        assert statuses == [200] * MAX_STREAMED_FILES + [503] * 2
        assert measure_request(process, "GET", "/health") < 5
        assert read_memory_mb(process) - before < 100
