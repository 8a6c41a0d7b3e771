"""CoalescedRead: callers share reads, and no result is older than the call."""

from __future__ import annotations

import sys
import threading

import pytest

from sigservice.concurrency import coalesced_read, wait_budget
from sigservice.concurrency.coalesced_read import CoalescedRead
from sigservice.db.errors import DatabaseUnavailable
from sigservice.errors import UnavailableError
from tests.waiting import DEADLINE_SECONDS, take_time, until


@pytest.fixture(autouse=True)
def patient_readers(monkeypatch):
    monkeypatch.setattr(coalesced_read, "WAIT_SECONDS", DEADLINE_SECONDS)


def together(count, work):
    """Runs `work(n)` in `count` threads that start at once; raises what one of them raised."""
    errors, gate = [], threading.Barrier(count)

    def one(n):
        gate.wait(DEADLINE_SECONDS)
        try:
            work(n)
        except BaseException as error:  # noqa: BLE001  shown by the test
            errors.append(error)

    threads = [threading.Thread(target=one, args=(n,)) for n in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(DEADLINE_SECONDS)
        assert not thread.is_alive(), "a reader hangs"
    if errors:
        raise errors[0]


class Source:
    """A read that waits until the test opens the gate, and counts itself."""

    def __init__(self):
        self.reads, self.begun, self.open = 0, threading.Semaphore(0), threading.Semaphore(0)
        self.value = 0
        self.error = None

    def read(self):
        self.reads += 1
        value, error = self.value, self.error
        self.begun.release()
        assert self.open.acquire(timeout=DEADLINE_SECONDS)
        if error:
            raise error
        return value


def ask(latest, into):
    def run():
        try:
            into.append(latest.get())
        except Exception as error:  # noqa: BLE001  what each thread raises
            into.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    return thread


def waiting(count):
    """Until so many threads are within `get`: one reads, the others share the next turn."""
    until(lambda: sum("get" in frame for frame in _stacks()) >= count, "the threads")


def _stacks():
    for frame in list(sys._current_frames().values()):
        names = []
        while frame:
            if frame.f_code.co_filename.endswith("coalesced_read.py"):
                names.append(frame.f_code.co_name)
            frame = frame.f_back
        yield names


def test_alone_each_question_is_a_read():
    numbers = iter(range(3))
    latest = CoalescedRead(lambda: next(numbers))
    assert [latest.get(), latest.get(), latest.get()] == [0, 1, 2]


def test_no_result_is_older_than_the_call():
    text, overlaps, reading = [0], [], threading.Lock()

    def read():
        if not reading.acquire(blocking=False):
            overlaps.append(True)
        value = text[0]
        take_time(0.0005)  # what the database takes to answer
        reading.release()
        return value

    latest = CoalescedRead(read)
    stop = threading.Event()

    def write():
        while not stop.is_set():
            text[0] += 1
            take_time(0.0001)

    writer = threading.Thread(target=write)
    writer.start()

    def ask_often(_):
        for _ in range(60):
            before = text[0]
            assert latest.get() >= before

    try:
        together(12, ask_often)
    finally:
        stop.set()
        writer.join()
    assert not overlaps, "two reads ran at once"


def test_each_caller_gets_an_error_of_its_own():
    source, errors = Source(), []

    def read():
        source.read()
        raise DatabaseUnavailable("57014")

    latest = CoalescedRead(read)
    threads = [ask(latest, errors)]
    assert source.begun.acquire(timeout=DEADLINE_SECONDS)
    threads += [ask(latest, errors) for _ in range(4)]
    waiting(5)
    source.open.release(2)
    for thread in threads:
        thread.join(DEADLINE_SECONDS)
    for number, error in enumerate(errors):
        error.headers["X-Caller"] = str(number)
    assert [error.headers["X-Caller"] for error in errors] == list("01234")
    assert {(error.sqlstate, error.headers["Retry-After"]) for error in errors} == {("57014", "1")}


def test_call_during_a_read_shares_the_next_one():
    source = Source()
    latest = CoalescedRead(source.read)
    first, others = [], []
    leader = ask(latest, first)
    assert source.begun.acquire(timeout=DEADLINE_SECONDS)
    source.value = 1  # a change that the read under way has missed
    followers = [ask(latest, others) for _ in range(8)]
    waiting(9)
    source.open.release(2)
    for thread in (leader, *followers):
        thread.join(DEADLINE_SECONDS)
    assert first == [0]
    assert others == [1] * 8
    assert source.reads == 2


def test_error_is_raised_in_all_sharing_threads_only():
    source = Source()
    latest = CoalescedRead(source.read)
    first, others = [], []
    leader = ask(latest, first)
    assert source.begun.acquire(timeout=DEADLINE_SECONDS)
    source.error = OSError("gone")
    followers = [ask(latest, others) for _ in range(5)]
    waiting(6)
    source.open.release()
    assert source.begun.acquire(
        timeout=DEADLINE_SECONDS
    )  # the second read has begun, and will fail
    source.error = None
    source.open.release(2)
    for thread in (leader, *followers):
        thread.join(DEADLINE_SECONDS)
    assert first == [0]
    assert [str(error) for error in others] == ["gone"] * 5
    assert latest.get() == 0
    assert source.reads == 3


def test_failing_read_releases_its_lock():
    answers = [ValueError("one"), KeyboardInterrupt(), 3]

    def read():
        answer = answers.pop(0)
        if isinstance(answer, BaseException):
            raise answer
        return answer

    latest = CoalescedRead(read)
    with pytest.raises(ValueError):
        latest.get()
    with pytest.raises(KeyboardInterrupt):
        latest.get()
    assert latest.get() == 3


def test_many_readers_cost_few_reads():
    reads = []

    def read():
        reads.append(True)
        take_time(0.005)
        return len(reads)

    latest = CoalescedRead(read)
    together(20, lambda _: [latest.get() for _ in range(5)])
    assert len(reads) < 40, "100 questions of 20 threads were hardly shared"


def test_request_that_arrived_before_a_read_began_shares_its_answer():
    numbers, now = iter(range(3)), [10.0]
    latest = CoalescedRead(lambda: next(numbers), lambda: now[0])
    assert latest.get(9.0) == 0
    assert latest.get(9.9) == 0


def test_request_that_arrived_when_a_read_began_or_later_needs_another():
    numbers, now = iter(range(3)), [10.0]
    latest = CoalescedRead(lambda: next(numbers), lambda: now[0])
    assert latest.get(9.0) == 0
    assert latest.get(10.0) == 1
    assert latest.get(10.1) == 2


def test_answer_of_a_failed_read_is_not_shared():
    answers, now = [1, ValueError("gone"), 2], [10.0]

    def read():
        answer = answers.pop(0)
        if isinstance(answer, ValueError):
            raise answer
        return answer

    latest = CoalescedRead(read, lambda: now[0])
    assert latest.get(9.0) == 1
    now[0] = 20.0
    with pytest.raises(ValueError):
        latest.get(19.0)
    assert latest.get(19.0) == 2


def test_readers_wait_a_limited_time_while_the_database_hangs(monkeypatch):
    hangs, answers, errors = threading.Event(), [], []
    monkeypatch.setattr(coalesced_read, "WAIT_SECONDS", 0.05)

    def read():
        hangs.wait(DEADLINE_SECONDS)
        return "answer"

    latest = CoalescedRead(read)

    def get():
        try:
            answers.append(latest.get())
        except UnavailableError as error:
            errors.append(error.headers["Retry-After"])

    first = threading.Thread(target=get)
    first.start()
    until(latest._reading.locked, "the read")
    others = [threading.Thread(target=get) for _ in range(10)]
    for thread in others:
        thread.start()
    for thread in others:
        thread.join(DEADLINE_SECONDS)
    assert (answers, errors) == ([], ["1"] * 10)
    hangs.set()
    first.join(DEADLINE_SECONDS)
    assert answers == ["answer"]
    assert latest.get() == "answer"


def test_request_that_has_waited_too_long_waits_for_no_read():
    source = Source()
    latest = CoalescedRead(source.read)
    answers = []
    thread = ask(latest, answers)
    assert source.begun.acquire(timeout=DEADLINE_SECONDS)
    with wait_budget.measure_request(60.0), pytest.raises(UnavailableError):
        latest.get()
    source.open.release()
    thread.join(DEADLINE_SECONDS)
    assert answers == [0]
