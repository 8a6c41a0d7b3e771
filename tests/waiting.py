"""How a test waits for another thread or process: it asks until the thing is so.

Tests call `time.sleep` here and nowhere else; tests/architecture/test_waiting.py checks that.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

# For whatever another thread or process does. A machine without a free core may need it; a test
# that passes never does.
DEADLINE_SECONDS = 60.0


def until(
    is_so: Callable[[], Any], what: str, seconds: float = DEADLINE_SECONDS, pause: float = 0.01
) -> Any:
    """Asks until the answer is true and returns it; fails with `what` after `seconds`."""
    deadline = time.monotonic() + seconds
    while True:
        answer = is_so()
        if answer:
            return answer
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds} s: {what}")
        time.sleep(pause)


def take_time(seconds: float) -> None:
    """What the counterpart of a test does that is slow, and the window over which something is
    measured. Never for waiting until something has happened, or to see that it has not."""
    time.sleep(seconds)
