"""How long a request may wait in total: for a worker, a connection, a group commit and the answer
of the database.

Each wait has a limit of its own, but waits that follow each other would add up. So what a request
has waited since it arrived, or since the last answer of the database, shortens its next wait.
Computing doesn't count, nor do statements that the database answers: a long import goes on. The
waits of jobs and commands have only their own limits.
"""

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

MAX_WAIT_SECONDS = 5.2  # a little more than the statement_timeout


class _Request(threading.local):
    """The request of the thread. `waited` are seconds, None if the thread runs no request."""

    waited: float | None = None


_request = _Request()


@contextmanager
def measure_request(queue_seconds: float) -> Iterator[None]:
    """Runs the block as a request that has waited this long for its worker."""
    _request.waited = queue_seconds
    try:
        yield
    finally:
        _request.waited = None


def limit(seconds: float = math.inf) -> float:
    """The part of `seconds` that a wait may take now; at least 0."""
    if _request.waited is None:
        return seconds
    return max(0.0, min(seconds, MAX_WAIT_SECONDS - _request.waited))


def get_start() -> float:
    """The time.monotonic() at which the request would have begun if all its time were waits; now if
    the thread runs no request."""
    return time.monotonic() - (_request.waited or 0.0)


def restart() -> None:
    """Starts a new budget; called when the database has answered."""
    if _request.waited:
        _request.waited = 0.0


@contextmanager
def count() -> Iterator[None]:
    """Counts the block as a wait."""
    began_at = time.monotonic()
    try:
        yield
    finally:
        if _request.waited is not None:
            _request.waited += time.monotonic() - began_at


def adopt_start(start: float) -> None:
    """Called when the request works for others; the first of them has waited since `start`."""
    if _request.waited is not None:
        _request.waited = max(_request.waited, time.monotonic() - start)


def wait(action: Callable[..., bool], seconds: float = threading.TIMEOUT_MAX) -> bool:
    """Calls `action`, for example Lock.acquire or Event.wait, with a timeout of `seconds`, or less
    if the request has already waited. Returns the result of `action`."""
    with count():
        return action(timeout=limit(seconds))
