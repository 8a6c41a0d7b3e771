"""Single flight: one thread builds, the others wait; all of them get an error."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import NamedTuple

import pytest

from sigservice.concurrency import wait_budget
from sigservice.concurrency.single_flight import SingleFlight
from sigservice.concurrency.workers import Workers
from sigservice.errors import UnavailableError
from tests.server.process import until
from tests.waiting import DEADLINE_SECONDS


class Builder:
    """Builds on a signal of the test, and counts builds."""

    def __init__(self, error=None):
        self.builds, self.error = 0, error
        self.begun, self.gate = threading.Event(), threading.Event()

    def __call__(self):
        self.builds += 1
        self.begun.set()
        assert self.gate.wait(DEADLINE_SECONDS)
        if self.error:
            raise self.error
        return self.builds


def ask(flights, key, build, answers):
    def run():
        try:
            answers.append(flights.get(key, build))
        except Exception as error:  # noqa: BLE001  what the caller gets
            answers.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    return thread


def is_waiting(thread):
    """Whether the thread waits for another thread's flight."""
    frame = sys._current_frames().get(thread.ident)
    names = set()
    while frame:
        names.add((frame.f_code.co_filename.rpartition("/")[2], frame.f_code.co_name))
        frame = frame.f_back
    return {("single_flight.py", "get"), ("threading.py", "wait")} <= names


def fly(flights, build, waiters=5):
    """The results of a builder and of callers that wait for it."""
    answers = []
    threads = [ask(flights, "a", build, answers)]
    assert build.begun.wait(DEADLINE_SECONDS)
    threads += [ask(flights, "a", build, answers) for _ in range(waiters)]
    until(lambda: all(map(is_waiting, threads[1:])), "callers that wait")
    build.gate.set()
    for thread in threads:
        thread.join(DEADLINE_SECONDS)
        assert not thread.is_alive(), "a caller hangs"
    return answers


def test_one_builds_and_the_others_wait_for_it():
    build = Builder()
    assert fly(SingleFlight(), build) == [1] * 6
    assert build.builds == 1


def test_error_is_raised_in_all_waiting_threads_and_the_next_call_builds_again():
    flights, build = SingleFlight(), Builder(OSError("gone"))
    assert [str(answer) for answer in fly(flights, build)] == ["gone"] * 6
    assert build.builds == 1
    assert flights.get("a", lambda: "built again") == "built again"


def test_each_caller_gets_an_error_of_its_own():
    errors = fly(SingleFlight(), Builder(UnavailableError("gone", headers={"X": "1"})))
    for number, error in enumerate(errors):
        error.headers["X-Caller"] = str(number)
    assert [error.headers["X-Caller"] for error in errors] == list("012345")
    assert {(type(error), error.message) for error in errors} == {(UnavailableError, "gone")}
    assert {error.headers["X"] for error in errors} == {"1"}


def test_another_key_is_built_meanwhile():
    flights, build, answers = SingleFlight(), Builder(), []
    thread = ask(flights, "a", build, answers)
    assert build.begun.wait(DEADLINE_SECONDS)
    assert flights.get("b", lambda: "b") == "b"
    build.gate.set()
    thread.join(DEADLINE_SECONDS)
    assert answers == [1]


def test_caller_that_waits_lets_another_worker_run_requests():
    flights, build, answers, has_run = SingleFlight(), Builder(), [], threading.Event()
    builder = ask(flights, "a", build, answers)
    assert build.begun.wait(DEADLINE_SECONDS)
    workers = Workers(2, None)
    workers.add_task(Task(lambda: flights.get("a", build)))
    workers.add_task(Task(has_run.set))
    workers.wait(0)
    assert has_run.wait(DEADLINE_SECONDS), "nothing calls release_stalled here"
    build.gate.set()
    builder.join(DEADLINE_SECONDS)
    workers.shutdown()


def test_caller_that_has_waited_too_long_is_refused():
    flights, build, answers = SingleFlight(), Builder(), []
    builder = ask(flights, "a", build, answers)
    assert build.begun.wait(DEADLINE_SECONDS)
    with wait_budget.measure_request(60.0), pytest.raises(UnavailableError):
        flights.get("a", build)
    build.gate.set()
    builder.join(DEADLINE_SECONDS)
    assert answers == [1]


class Task(NamedTuple):
    service: Callable[[], object]
    kind: str = ""


def test_interrupted_build_is_removed():
    flights = SingleFlight()

    def interrupted():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        flights.get("a", interrupted)
    assert flights.get("a", lambda: 1) == 1
