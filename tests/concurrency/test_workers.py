"""Workers: one request runs at a time until it waits, and none waits behind one that stalls."""

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from sigservice.concurrency.workers import (
    MAX_NESTED,
    STALL_SECONDS,
    Workers,
    is_nested,
    release_turn,
    resume_turn,
    run_similar_tasks,
)
from sigservice.log import build_line_loggers
from tests.waiting import DEADLINE_SECONDS, until


class Task:
    """Runs `work`; `has_begun` and `has_ended` say how far it is."""

    def __init__(self, work: Callable[[], Any] = lambda: None, kind: str = "") -> None:
        self._work, self.kind = work, kind
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
    until(lambda: len(workers._idle) == 3, "the threads")
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


def test_request_that_waits_runs_the_similar_ones_in_its_thread(
    workers: Workers, gate: threading.Event
):
    """Another kind and a request without one wait for their turn."""
    order: list[tuple[str, str, bool]] = []

    def note(name: str) -> Callable[[], None]:
        return lambda: order.append((name, threading.current_thread().name, is_nested()))

    def wait() -> None:
        wait_for(gate)
        run_similar_tasks(lambda: False)
        note("outer")()

    tasks = [Task(note(kind or "none"), kind) for kind in ("", "signal", "report", "signal")]
    add(workers, Task(wait, "signal"), *tasks)
    gate.set()
    for task in tasks:
        wait_for(task.has_ended)
    assert [name for name, _, _ in order] == ["signal", "signal", "outer", "none", "report"]
    assert [is_inner for _, _, is_inner in order] == [True, True, False, False, False]
    assert len({thread for _, thread, _ in order}) == 1


def test_no_similar_request_runs_once_the_result_is_there(workers: Workers, gate: threading.Event):
    order: list[str] = []

    def wait() -> None:
        wait_for(gate)
        run_similar_tasks(lambda: bool(order))
        order.append("outer")

    tasks = [Task(lambda: order.append("inner"), "signal") for _ in range(2)]
    add(workers, Task(wait, "signal"), *tasks)
    gate.set()
    wait_for(tasks[-1].has_ended)
    assert order == ["inner", "outer", "inner"]


def test_nesting_has_a_limit(workers: Workers, gate: threading.Event):
    depths: list[int] = []
    depth = 0

    def wait() -> None:
        nonlocal depth
        wait_for(gate)
        depth += 1
        run_similar_tasks(lambda: False)
        depths.append(depth)
        depth -= 1

    tasks = [Task(wait, "signal") for _ in range(3 * MAX_NESTED)]
    add(workers, *tasks)
    gate.set()
    for task in tasks:
        wait_for(task.has_ended)
    assert max(depths) == MAX_NESTED + 1


def test_request_without_the_turn_runs_no_other_one(workers: Workers, gate: threading.Event):
    passed, similar = threading.Event(), Task(kind="signal")
    began: list[bool] = []

    def wait() -> None:
        release_turn()
        wait_for(gate)
        run_similar_tasks(lambda: False)
        began.append(similar.has_begun.is_set())
        passed.set()

    holder = Task(lambda: wait_for(passed), "signal")
    add(workers, Task(wait, "signal"), holder, similar)
    wait_for(holder.has_begun)
    gate.set()
    wait_for(similar.has_ended)
    assert began == [False]


def test_request_that_has_waited_takes_a_free_turn(workers: Workers):
    turns: list[bool] = []

    def wait() -> None:
        release_turn()
        resume_turn()
        turns.append(workers._turn is threading.current_thread())

    task = Task(wait)
    add(workers, task)
    wait_for(task.has_ended)
    assert turns == [True]


def test_request_that_has_waited_takes_no_other_worker_s_turn(
    workers: Workers, gate: threading.Event
):
    resumed = threading.Event()

    def wait() -> None:
        release_turn()
        wait_for(gate)
        resume_turn()
        resumed.set()

    holder = Task(lambda: wait_for(resumed))
    add(workers, Task(wait), holder)
    wait_for(holder.has_begun)
    turn = workers._turn
    gate.set()
    wait_for(resumed)
    assert turn is not None
    wait_for(holder.has_ended)


def test_outside_of_a_worker_the_turn_does_not_matter():
    release_turn()
    resume_turn()
    run_similar_tasks(lambda: False)
    assert not is_nested()
