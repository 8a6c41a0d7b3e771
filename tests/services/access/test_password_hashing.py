"""At most three threads are in password hashing, however many ask."""

from __future__ import annotations

import threading
from contextlib import contextmanager

import pytest

from sigservice.crypto import secrets
from sigservice.errors import UnavailableError
from sigservice.testing import QuickPasswords

ROOM = secrets.MAX_HASHING + secrets.MAX_WAITING
DEADLINE = 30


class HeldPasswords(QuickPasswords):
    """Each hash waits for `release`; `started` counts those that run."""

    def __init__(self):
        super().__init__()
        self.release = threading.Event()
        self.started = threading.Semaphore(0)
        self.running = self.most = 0
        self._counting = threading.Lock()

    def _hash(self, password):
        with self._counting:
            self.running += 1
            self.most = max(self.most, self.running)
        self.started.release()
        assert self.release.wait(DEADLINE)
        with self._counting:
            self.running -= 1
        return super()._hash(password)


@contextmanager
def admitted_threads(passwords, count):
    """`count` threads in hashing: those that may run do, the others wait for them."""
    results = []
    threads = [
        threading.Thread(target=lambda: results.append(passwords.hash("x"))) for _ in range(count)
    ]
    for thread in threads:
        thread.start()
    for _ in range(min(count, secrets.MAX_HASHING)):
        assert passwords.started.acquire(timeout=DEADLINE)
    deadline = threading.Event()
    while passwords._admission._value > ROOM - count:
        deadline.wait(0.001)
    try:
        yield results
    finally:
        passwords.release.set()
        for thread in threads:
            thread.join(DEADLINE)
    assert len(results) == count


def test_the_fourth_thread_is_rejected_at_once():
    passwords = HeldPasswords()
    with admitted_threads(passwords, ROOM):
        with pytest.raises(UnavailableError) as refused:
            passwords.hash("x")
        assert refused.value.headers["Retry-After"] == "1"
        with pytest.raises(UnavailableError):
            passwords.matches(None, "x")


def test_two_run_at_the_same_time_and_the_third_waits():
    passwords = HeldPasswords()
    with admitted_threads(passwords, ROOM):
        assert passwords.running == secrets.MAX_HASHING
    assert passwords.most == secrets.MAX_HASHING


def test_a_slot_is_free_after_a_thread_ends():
    passwords = HeldPasswords()
    with admitted_threads(passwords, ROOM):
        pass
    assert passwords.hash("x")


def test_a_failure_frees_its_slot():
    passwords = HeldPasswords()
    passwords.release.set()
    for _ in range(ROOM + 1):
        with pytest.raises(ZeroDivisionError), passwords.admit():
            raise ZeroDivisionError
    assert passwords.hash("x")


def test_several_hashes_of_one_thread_take_one_slot():
    passwords = HeldPasswords()
    with admitted_threads(passwords, ROOM - 1), passwords.admit():
        with passwords.admit():
            passwords.release.set()
            assert passwords.matches(passwords.hash("x"), "x")
        assert passwords.hash("y")
