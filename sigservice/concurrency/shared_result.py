"""A result that one thread computes and others wait for."""

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from sigservice.concurrency import wait_budget
from sigservice.concurrency.workers import release_turn
from sigservice.errors import build_busy_error, copy_error

Value = TypeVar("Value")


class SharedResult(Generic[Value]):
    """One thread calls `compute`, once; the others call `wait`."""

    _value: Value

    def __init__(self) -> None:
        self._done = threading.Event()
        self._error: BaseException | None = None

    def compute(self, compute: Callable[[], Value]) -> Value:
        """Returns what `compute` returns, and raises what it raises."""
        try:
            self._value = compute()
            return self._value
        except BaseException as error:
            self._error = copy_error(error)
            raise
        finally:
            self._done.set()

    def wait(self, seconds: float = threading.TIMEOUT_MAX) -> Value:
        """Raises a copy of the error of `compute`, and UnavailableError after `seconds` or when the
        request has waited too long."""
        release_turn()
        if not wait_budget.wait(self._done.wait, seconds):
            raise build_busy_error()
        if self._error is not None:
            raise copy_error(self._error)
        return self._value
