"""How a test waits for another thread or process: it polls a condition.

Tests call `time.sleep` here and nowhere else; tests/architecture/test_waiting.py checks that.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

# For the work of another thread or process. Only a failing test, or one on a machine without a
# free core, waits this long.
DEADLINE_SECONDS = 60.0


def until(
    is_so: Callable[[], Any], what: str, seconds: float = DEADLINE_SECONDS, pause: float = 0.01
) -> Any:
    """Polls until `is_so()` is true and returns its value. Fails with `what` after `seconds`."""
    deadline = time.monotonic() + seconds
    while True:
        answer = is_so()
        if answer:
            return answer
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds} s: {what}")
        time.sleep(pause)


def take_time(seconds: float) -> None:
    """Pauses a slow counterpart of a test, or a test that measures over a window of time.

    Not for waiting until something has happened, or to check that it has not.
    """
    time.sleep(seconds)
