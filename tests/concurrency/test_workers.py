"""Workers: one request runs at a time until it waits, and none waits behind one that stalls."""

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from sigservice.concurrency.workers import (
    STALL_SECONDS,
    Wait,
    Workers,
    release_turn,
    yield_turn,
)
from sigservice.log import build_line_loggers
from tests.waiting import DEADLINE_SECONDS, until


class Task:
    """Runs `work`; `has_begun` and `has_ended` say how far it is."""

    def __init__(self, work: Callable[[], Any] = lambda: None) -> None:
        self._work = work
        self.has_begun, self.has_ended = threading.Event(), threading.Event()
        self.is_cancelled = False

    def service(self) -> None:
        self.has_begun.set()
        try:
            self._work()
        finally:
            self.has_ended.set()

    def cancel(self) -> None:
        self.is_cancelled = True


@pytest.fixture
def workers() -> Iterator[Workers]:
    workers = Workers(3, build_line_loggers("fatal")("test"))
    yield workers
    workers.shutdown(timeout=DEADLINE_SECONDS)


@pytest.fixture
def gate() -> Iterator[threading.Event]:
    gate = threading.Event()
    yield gate
    gate.set()


def add(workers: Workers, *tasks: Task) -> None:
    for task in tasks:
        workers.add_task(task)
    workers.wait(0)


def wait_for(event: threading.Event) -> None:
    assert event.wait(DEADLINE_SECONDS)


def test_one_worker_runs_the_waiting_requests_in_their_order(
    workers: Workers, gate: threading.Event
):
    numbers: list[tuple[int, str]] = []

    def note(number: int) -> Callable[[], None]:
        return lambda: numbers.append((number, threading.current_thread().name))

    first = Task(lambda: wait_for(gate))
    others = [Task(note(number)) for number in range(5)]
    add(workers, first, *others)
    wait_for(first.has_begun)
    assert not numbers
    gate.set()
    wait_for(others[-1].has_ended)
    assert [number for number, _ in numbers] == [0, 1, 2, 3, 4]
    assert len({name for _, name in numbers}) == 1


def test_request_that_waits_lets_the_next_one_run(workers: Workers, gate: threading.Event):
    def wait() -> None:
        release_turn()
        wait_for(gate)

    first, second, third = Task(wait), Task(wait), Task()
    add(workers, first, second, third)
    wait_for(third.has_ended)
    assert not first.has_ended.is_set()
    assert not second.has_ended.is_set()


def test_request_beyond_the_number_of_workers_runs_when_one_of_them_ends(
    workers: Workers, gate: threading.Event
):
    def wait() -> None:
        release_turn()
        wait_for(gate)

    waiting, last = [Task(wait) for _ in range(3)], Task()
    add(workers, *waiting, last)
    for task in waiting:
        wait_for(task.has_begun)
    assert not last.has_begun.is_set()
    gate.set()
    wait_for(last.has_ended)


def test_stalled_request_loses_the_turn(workers: Workers, gate: threading.Event):
    first, second = Task(lambda: wait_for(gate)), Task()
    add(workers, first)
    wait_for(first.has_begun)
    add(workers, second)
    _, since = workers._progress
    workers.release_stalled(since)  # first sees the number of started requests
    workers.release_stalled(since + STALL_SECONDS * 0.9)
    assert workers._turn is not None
    assert not second.has_begun.is_set()
    workers.release_stalled(since + STALL_SECONDS * 1.1)
    wait_for(second.has_ended)
    assert not first.has_ended.is_set()


def test_loop_waits_until_the_turn_ends(workers: Workers, gate: threading.Event):
    task = Task(lambda: wait_for(gate))
    add(workers, task)
    wait_for(task.has_begun)
    loop = threading.Thread(target=workers.wait, args=(DEADLINE_SECONDS,))
    loop.start()
    until(lambda: workers._loop_waits, "the loop")
    gate.set()
    loop.join(DEADLINE_SECONDS)
    assert not loop.is_alive()
    assert task.has_ended.is_set()


def test_loop_goes_on_when_a_request_waits(workers: Workers, gate: threading.Event):
    def wait() -> None:
        release_turn()
        wait_for(gate)

    task = Task(wait)
    add(workers, task)
    workers.wait(DEADLINE_SECONDS)
    assert workers._turn is None
    assert not task.has_ended.is_set()


def test_loop_waits_again_after_a_wait_that_was_too_short(workers: Workers, gate: threading.Event):
    task = Task(lambda: wait_for(gate))
    add(workers, task)
    wait_for(task.has_begun)
    workers.wait(0)
    assert not task.has_ended.is_set()
    gate.set()
    workers.wait(DEADLINE_SECONDS)
    assert workers._turn is None


def test_failed_request_ends_no_worker(workers: Workers):
    for _ in range(4):
        task = Task(lambda: 1 / 0)
        add(workers, task)
        wait_for(task.has_ended)
    last = Task()
    add(workers, last)
    wait_for(last.has_ended)


def test_shutdown_ends_all_threads_and_cancels_what_waits(gate: threading.Event):
    workers = Workers(2, build_line_loggers("fatal")("test"))
    running, waiting = Task(lambda: wait_for(gate)), Task()
    add(workers, running)
    wait_for(running.has_begun)
    add(workers, waiting)
    stop = threading.Thread(target=workers.shutdown, kwargs={"timeout": DEADLINE_SECONDS})
    stop.start()
    until(lambda: workers._is_stopping, "the stop")
    gate.set()
    stop.join(DEADLINE_SECONDS)
    assert waiting.is_cancelled
    assert not waiting.has_begun.is_set()
    assert not any(thread.is_alive() for thread in workers._threads)


def test_a_thread_starts_when_none_is_idle(workers: Workers, gate: threading.Event):
    for _ in range(3):
        task = Task()
        add(workers, task)
        wait_for(task.has_ended)
        until(lambda: workers._idle, "the thread")
    assert len(workers._threads) == 1

    def wait() -> None:
        release_turn()
        wait_for(gate)

    waiting = [Task(wait) for _ in range(2)]
    add(workers, *waiting)
    for task in waiting:
        wait_for(task.has_begun)
    assert len(workers._threads) == 2


def start_waiting(workers: Workers, order: list[str], name: str) -> tuple[Task, Wait]:
    """A request that waits, and its wait."""
    waits: list[Wait] = []

    def run() -> None:
        waits.append(Wait())
        release_turn()
        waits[0].wait()
        assert workers._turn is threading.current_thread()
        order.append(name)

    task = Task(run)
    add(workers, task)
    until(lambda: waits and workers._turn is None, "the wait")
    return task, waits[0]


def test_requests_that_have_waited_go_on_one_after_another_and_before_new_ones(
    workers: Workers, gate: threading.Event
):
    order: list[str] = []
    waiting = [start_waiting(workers, order, name) for name in ("second", "first")]
    holder, new = Task(lambda: wait_for(gate)), Task(lambda: order.append("new"))
    add(workers, holder, new)
    wait_for(holder.has_begun)
    for _, wait in waiting:
        wait.end()
    assert not order
    gate.set()
    for task in (new, *(task for task, _ in waiting)):
        wait_for(task.has_ended)
    assert order == ["first", "second", "new"]


def test_stalled_request_loses_the_turn_to_one_that_has_waited(
    workers: Workers, gate: threading.Event
):
    task, wait = start_waiting(workers, [], "waiting")
    holder = Task(lambda: wait_for(gate))
    add(workers, holder)
    wait_for(holder.has_begun)
    wait.end()
    assert workers.is_busy
    _, since = workers._progress
    workers.release_stalled(since)
    workers.release_stalled(since + STALL_SECONDS * 1.1)
    wait_for(task.has_ended)
    assert not holder.has_ended.is_set()


def test_requests_that_wait_go_on_during_a_stop(gate: threading.Event):
    workers, order = Workers(3, build_line_loggers("fatal")("test")), []
    task, wait = start_waiting(workers, order, "waiting")
    holder = Task(lambda: wait_for(gate))
    add(workers, holder)
    wait_for(holder.has_begun)
    wait.end()
    workers.shutdown(timeout=0)
    gate.set()
    wait_for(task.has_ended)
    assert order == ["waiting"]


def test_request_that_yields_goes_on_after_those_that_have_arrived(
    workers: Workers, gate: threading.Event
):
    order: list[str] = []

    def run() -> None:
        wait_for(gate)
        yield_turn()
        assert workers._turn is threading.current_thread()
        order.append("first")

    tasks = [Task(lambda name=name: order.append(name)) for name in ("second", "third")]
    add(workers, Task(run), *tasks)
    gate.set()
    until(lambda: len(order) == 3, "the requests")
    assert order == ["second", "third", "first"]


def test_request_that_yields_goes_on_when_no_thread_is_left(gate: threading.Event):
    workers = Workers(1, build_line_loggers("fatal")("test"))

    def run() -> None:
        wait_for(gate)
        yield_turn()

    first, second = Task(run), Task()
    add(workers, first, second)
    gate.set()
    wait_for(second.has_ended)
    assert first.has_ended.is_set()
    workers.shutdown(timeout=DEADLINE_SECONDS)


def test_outside_of_a_worker_the_turn_does_not_matter():
    release_turn()
    yield_turn()
    wait = Wait()
    assert not wait.wait(timeout=0)
    wait.end()
    assert wait.wait(timeout=0)
