"""The rules of a metric source are evaluated by one process at a time: two processes, and a kill
during a query."""

from __future__ import annotations

import contextlib
import threading
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from tests.prometheus_script import ScriptedPrometheus, serve_prometheus, vector
from tests.repository.kit import run
from tests.server.process import OPEN_LIMITS, Process, make_database_environ, run_service
from tests.waiting import take_time, until

RULES = "/api/admin/alert-rules"
SOURCES = "/api/admin/metric-sources"
HURRY = "UPDATE alert_rules SET due_at = 'epoch'"
LATE = "SELECT count(*) FROM alert_rules WHERE evaluated_at IS NULL"
WAITING = """
SELECT count(*) FROM alert_rules
WHERE left(name, 4) = 'fast' AND (due_at = 'epoch' OR leased_until IS NOT NULL)
"""
SHORTEN = """
UPDATE alert_rules SET leased_until = now() + interval '5 s'
WHERE leased_until IS NOT NULL RETURNING 1
"""
ROUNDS = 3


class Recorder:
    """Counts the queries in flight of one source, and the queries of each text."""

    def __init__(self, script: ScriptedPrometheus) -> None:
        self.script, self.url = script, script.url
        self.lock, self.may_answer = threading.Lock(), threading.Event()
        self.texts: Counter[str] = Counter()
        self.in_flight = self.most = 0
        self.may_answer.set()
        script.answer = self.answer

    def answer(self, handler: Any) -> None:
        with self.lock:
            self.in_flight += 1
            self.most = max(self.most, self.in_flight)
            self.texts[self.script.requests[-1][1]["query"][0]] += 1
        take_time(0.05)
        if not self.may_answer.is_set():
            handler.rfile.read(1)  # until the client closes the connection
        with self.lock:
            self.in_flight -= 1
        with contextlib.suppress(OSError):  # the process gave up or was killed
            self.script.answer_with(handler, vector((4e9, "0.01")))


@pytest.fixture
def recorders() -> Iterator[tuple[Recorder, Recorder]]:
    with serve_prometheus() as first, serve_prometheus() as second:
        pair = Recorder(first), Recorder(second)
        yield pair


@pytest.fixture
def environ(temporary_database) -> dict[str, str]:
    temporary_database.empty()
    environ = OPEN_LIMITS | make_database_environ(temporary_database.options())
    return environ | {"SERVICE_WEBHOOK_ALLOWED_HOSTS": "127.0.0.1"}


@pytest.fixture
def conn(temporary_database) -> Iterator[Any]:
    with contextlib.closing(temporary_database.connect()) as conn:
        yield conn


def create_source(process: Process, name: str, recorder: Recorder, queries: list[str]) -> None:
    """The source, and a rule for each query."""
    body = {"name": name, "url": recorder.url, "timeoutSeconds": 3}
    assert process.request("POST", SOURCES, body)[0] == 201
    endpoint, _ = process.create_sender(name)
    for number, query in enumerate(queries):
        source = {"kind": "prometheus", "source": name, "query": query}
        rule = {"name": f"{name}-{number}", "endpointId": endpoint, "source": source, "above": 1}
        status, answer = process.request("POST", RULES, rule | {"everySeconds": 3600})
        assert status == 201, answer


def test_processes_send_one_query_at_a_time_to_each_source(environ, recorders, conn):
    fast, slow = recorders
    with run_service(environ) as first, run_service(environ):
        create_source(first, "slow", slow, ["a", "b"])
        create_source(first, "fast", fast, ["same", "same", "same", *map(str, range(8))])
        slow.may_answer.clear()
        run(conn, HURRY)
        until(lambda: slow.in_flight, "a query that hangs")
        until(lambda: run(conn, WAITING) == [(0,)], "the answers of the other source")
        fast.texts.clear()
        fast.most = slow.most = 1  # the creation of rules asks beside the other process
        for _ in range(ROUNDS):
            run(conn, "UPDATE alert_rules SET due_at = 'epoch', evaluated_at = NULL")
            is_done = f"{LATE} AND left(name, 4) = 'fast'"
            until(lambda query=is_done: run(conn, query)[0][0] == 0, "an evaluation of each rule")
    assert (fast.most, slow.most) == (1, 1)
    assert fast.texts["same"] <= 2 * ROUNDS  # a rule that is made due during its query runs again
    assert min(fast.texts[str(n)] for n in range(8)) >= ROUNDS


def test_a_lease_ends_after_a_kill_by_the_clock_of_the_database(environ, recorders, conn):
    source, _ = recorders
    process = Process(environ)
    try:
        process.wait_for_address()
        create_source(process, "main", source, ["a"])
        source.may_answer.clear()
        run(conn, HURRY)
        until(lambda: source.in_flight, "a query that hangs")
        process.kill()
    finally:
        process.close()
    until(lambda: run(conn, SHORTEN), "the lease")
    ((held_until,),) = run(conn, "SELECT leased_until FROM alert_rules")
    source.may_answer.set()
    until(lambda: not source.in_flight, "the end of the query")
    run(conn, HURRY)
    source.texts.clear()
    with run_service(environ):
        until(lambda: source.texts["a"], "the query of the next process")
        assert run(conn, "SELECT now() >= %s", held_until)[0][0]
        until(lambda: run(conn, LATE)[0][0] == 0, "the evaluation")
    assert source.most == 1
