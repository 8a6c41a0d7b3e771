"""A rate limit for warnings that any request can cause: a flood must not fill the disk."""

import threading
from collections.abc import Callable
from typing import Any

from sigservice.concurrency.limiter import TokenBuckets
from sigservice.log import Logger

MAX_LINES_PER_MINUTE = 60


class CappedLog:
    """Writes at most `MAX_LINES_PER_MINUTE`; the next line after that has the number of omitted
    lines."""

    def __init__(self, logger: Logger, monotonic: Callable[[], float]) -> None:
        self._logger = logger
        self._buckets = TokenBuckets(MAX_LINES_PER_MINUTE / 60, MAX_LINES_PER_MINUTE, monotonic)
        self._lock = threading.Lock()
        self._omitted = 0

    def warn(self, message: str, *args: Any) -> None:
        with self._lock:
            if not self._buckets.consume("").is_allowed:
                self._omitted += 1
                return
            omitted, self._omitted = self._omitted, 0
        if omitted:
            message, args = message + " (%d similar lines omitted)", (*args, omitted)
        self._logger.warn(message, *args)
