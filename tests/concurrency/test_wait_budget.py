"""The waits of a request share one limit."""

import threading
import time

import pytest

from sigservice.concurrency import wait_budget
from sigservice.concurrency.wait_budget import MAX_WAIT_SECONDS


@pytest.fixture
def lock():
    """A lock of another thread."""
    lock = threading.Lock()
    lock.acquire()
    return lock


def test_waits_of_a_request_add_up():
    with wait_budget.measure_request(2.0):
        assert wait_budget.limit(4.0) == MAX_WAIT_SECONDS - 2.0
        assert wait_budget.limit(1.0) == 1.0
        start = wait_budget.get_start()
        assert time.monotonic() - start > 1.99


def test_wait_for_a_lock_shortens_the_next_one(lock):
    with wait_budget.measure_request(0.0):
        assert not wait_budget.wait(lock.acquire, 0.05)
        assert wait_budget.limit() <= MAX_WAIT_SECONDS - 0.05


def test_lock_is_not_waited_for_without_time(lock):
    with wait_budget.measure_request(MAX_WAIT_SECONDS + 1):
        assert not wait_budget.wait(lock.acquire, 3600.0)
        lock.release()
        assert wait_budget.wait(lock.acquire, 3600.0)


def test_answer_of_the_database_restarts_the_limit():
    with wait_budget.measure_request(2.0):
        wait_budget.restart()
        assert wait_budget.limit() == MAX_WAIT_SECONDS


def test_waits_of_a_job_have_only_their_own_limits(lock):
    assert wait_budget.limit(3600.0) == 3600.0
    assert not wait_budget.wait(lock.acquire, 0.05)
    wait_budget.adopt_start(0.0)
    assert wait_budget.limit(3600.0) == 3600.0


def test_request_waits_as_long_as_the_first_for_which_it_works():
    with wait_budget.measure_request(0.0):
        wait_budget.adopt_start(time.monotonic() - 3.0)
        assert wait_budget.limit() <= MAX_WAIT_SECONDS - 3.0
        wait_budget.adopt_start(time.monotonic())
        assert wait_budget.limit() <= MAX_WAIT_SECONDS - 3.0
