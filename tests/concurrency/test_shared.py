"""Shared: callers share builds, and no value is older than its caller allows."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from typing import NamedTuple

import pytest

from sigservice.concurrency import wait_budget
from sigservice.concurrency.shared import Shared
from sigservice.concurrency.workers import Workers
from sigservice.db.errors import DatabaseUnavailable
from sigservice.errors import UnavailableError, copy_error
from tests.table_tests import each
from tests.waiting import DEADLINE_SECONDS, take_time, until


class Source:
    """A build that waits until the test opens it, and counts itself."""

    def __init__(self):
        self.builds, self.begun, self.open = 0, threading.Semaphore(0), threading.Semaphore(0)
        self.value, self.error = 0, None

    def build(self):
        self.builds += 1
        value, error = self.value, self.error
        self.begun.release()
        assert self.open.acquire(timeout=DEADLINE_SECONDS)
        if error:
            raise copy_error(error)
        return value


def ask(shared, build, into, **more):
    def run():
        try:
            into.append(shared.get("a", build, **more))
        except Exception as error:  # noqa: BLE001  what the caller gets
            into.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    return thread


def is_waiting(thread):
    """Whether the thread waits for the build of another one."""
    frame, names = sys._current_frames().get(thread.ident), set()
    while frame:
        names.add((frame.f_code.co_filename.rpartition("/")[2], frame.f_code.co_name))
        frame = frame.f_back
    return {("shared.py", "wait_for_end"), ("threading.py", "wait")} <= names


def share(shared, source, change=lambda: None, **more):
    """The values of a builder, and of five callers that come after its build has begun and
    `change` was called."""
    first, others = [], []
    threads = [ask(shared, source.build, first, **more)]
    assert source.begun.acquire(timeout=DEADLINE_SECONDS)
    change()
    more = {name: time.monotonic() for name in more}
    threads += [ask(shared, source.build, others, **more) for _ in range(5)]
    until(lambda: all(map(is_waiting, threads[1:])), "callers that wait")
    source.open.release(2)
    for thread in threads:
        thread.join(DEADLINE_SECONDS)
        assert not thread.is_alive(), "a caller hangs"
    return first, others


@pytest.mark.parametrize(
    ("more", "builds", "values"),
    [({}, 1, [0] * 5), ({"not_before": 0.0}, 2, [1] * 5)],
)
def test_callers_share_the_running_build_or_the_next_one(more, builds, values):
    source = Source()
    assert share(Shared(), source, lambda: setattr(source, "value", 1), **more) == ([0], values)
    assert source.builds == builds


@each("more", [{}, {"not_before": 0.0}])
def test_error_is_raised_in_all_sharing_threads_only(more):
    shared, source = Shared(), Source()
    source.error = DatabaseUnavailable("57014")
    first, others = share(shared, source, **more)
    errors = first + others
    for number, error in enumerate(errors):
        error.headers["X-Caller"] = str(number)
    assert [error.headers["X-Caller"] for error in errors] == list("012345")
    assert {(error.sqlstate, error.headers["Retry-After"]) for error in errors} == {("57014", "1")}
    assert shared.get("a", lambda: "built again") == "built again"


@each(
    "keeps more is_kept",
    [
        (False, {}, False),
        (True, {}, False),
        (True, {"not_before": 9.9}, True),
        (True, {"not_before": 10.0}, False),  # the build began then
        (True, {"not_before": 10.1}, False),
        (False, {"not_before": 9.9}, False),
        (True, {"max_age": 5.1}, True),
        (True, {"max_age": 5.0}, False),
    ],
)
def test_kept_value_is_used_if_it_is_new_enough(keeps, more, is_kept):
    numbers, now = iter(range(2)), [10.0]
    shared = Shared(keeps=keeps, seconds=lambda: now[0])
    assert shared.get("a", lambda: next(numbers)) == 0
    now[0] = 15.0
    assert shared.get("a", lambda: next(numbers), **more) == (0 if is_kept else 1)


def test_value_of_a_failed_build_is_not_kept():
    answers = [1, ValueError("one"), KeyboardInterrupt(), 2]
    shared = Shared(keeps=True)

    def build():
        answer = answers.pop(0)
        if isinstance(answer, BaseException):
            raise answer
        return answer

    assert shared.get("a", build) == 1
    for error in (ValueError, KeyboardInterrupt):
        with pytest.raises(error):
            shared.get("a", build, not_before=time.monotonic())
    assert shared.get("a", build, not_before=time.monotonic()) == 2


def test_another_key_is_built_meanwhile():
    shared, source, values = Shared(), Source(), []
    thread = ask(shared, source.build, values)
    assert source.begun.acquire(timeout=DEADLINE_SECONDS)
    assert shared.get("b", lambda: "b") == "b"
    source.open.release()
    thread.join(DEADLINE_SECONDS)
    assert values == [0]


def test_no_value_is_older_than_the_call_and_no_builds_overlap():
    number, overlaps, building, builds = [0], [], threading.Lock(), []

    def build():
        if not building.acquire(blocking=False):
            overlaps.append(True)
        builds.append(True)
        value = number[0]
        take_time(0.0005)  # what the database takes to answer
        building.release()
        return value

    shared, stop, errors = Shared(keeps=True), threading.Event(), []

    def write():
        while not stop.is_set():
            number[0] += 1
            take_time(0.0001)

    def ask_often():
        for _ in range(60):
            before = number[0]
            if shared.get("a", build, not_before=time.monotonic()) < before:
                errors.append(before)

    writer = threading.Thread(target=write)
    threads = [threading.Thread(target=ask_often) for _ in range(12)]
    for thread in (writer, *threads):
        thread.start()
    for thread in threads:
        thread.join(DEADLINE_SECONDS)
        assert not thread.is_alive(), "a caller hangs"
    stop.set()
    writer.join(DEADLINE_SECONDS)
    assert (overlaps, errors) == ([], [])
    assert len(builds) < 12 * 60 / 2, "calls were hardly shared"


def test_callers_wait_a_limited_time():
    shared, source, values, errors = Shared(), Source(), [], []
    first = ask(shared, source.build, values)
    assert source.begun.acquire(timeout=DEADLINE_SECONDS)
    late = [
        ask(shared, source.build, errors, wait=0.05, **more)
        for more in [{}, *[{"not_before": time.monotonic()}] * 5]
    ]
    for thread in late:
        thread.join(DEADLINE_SECONDS)
    assert [error.headers["Retry-After"] for error in errors] == ["1"] * 6
    source.open.release()
    first.join(DEADLINE_SECONDS)
    assert values == [0]
    source.open.release()
    assert shared.get("a", source.build) == 0


@each("more", [{}, {"not_before": float("inf")}])
def test_request_that_has_waited_too_long_is_refused(more):
    shared, source, values = Shared(), Source(), []
    thread = ask(shared, source.build, values)
    assert source.begun.acquire(timeout=DEADLINE_SECONDS)
    with wait_budget.measure_request(60.0), pytest.raises(UnavailableError):
        shared.get("a", source.build, **more)
    source.open.release()
    thread.join(DEADLINE_SECONDS)
    assert values == [0]


class Task(NamedTuple):
    service: Callable[[], object]
    kind: str = ""


def test_caller_that_waits_lets_another_worker_run_requests():
    shared, source, values, has_run = Shared(), Source(), [], threading.Event()
    builder = ask(shared, source.build, values)
    assert source.begun.acquire(timeout=DEADLINE_SECONDS)
    workers = Workers(2, None)
    workers.add_task(Task(lambda: shared.get("a", source.build)))
    workers.add_task(Task(has_run.set))
    workers.wait(0)
    assert has_run.wait(DEADLINE_SECONDS), "nothing calls release_stalled here"
    source.open.release()
    builder.join(DEADLINE_SECONDS)
    workers.shutdown()
