"""A read that many share without anybody being given an old answer."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

Answer = TypeVar("Answer")


class CoalescedRead(Generic[Answer]):
    """`get()` answers what `read()` says, from a read that began after `get` was called.

    Whoever asks while a read is under way waits for the next one, together with all others who
    wait; so under load one read serves many, and a change is never missed.
    """

    def __init__(self, read: Callable[[], Answer]) -> None:
        self._read = read
        self._reading = threading.Lock()
        self._lock = threading.Lock()
        self._next: _Turn[Answer] | None = None

    def get(self) -> Answer:
        """Raises what `read` raises, for all who shared it."""
        with self._lock:
            turn, leads = self._next, False
            if turn is None:
                turn = self._next = _Turn()
                leads = True
        if leads:
            self._take(turn)
        else:
            turn.done.wait()
        if turn.error is not None:
            raise turn.error
        return turn.answer

    def _take(self, turn: _Turn[Answer]) -> None:
        with self._reading:
            with self._lock:
                self._next = None  # who comes from here on may have seen a later change
            try:
                turn.answer = self._read()
            except BaseException as error:  # noqa: BLE001  raised again by each who waits
                turn.error = error
            finally:
                turn.done.set()


class _Turn(Generic[Answer]):
    answer: Answer

    def __init__(self) -> None:
        self.done = threading.Event()
        self.error: BaseException | None = None
