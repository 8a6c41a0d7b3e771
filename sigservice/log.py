"""Loggers as the `getLogger` option hands them out: debug, info, warn, error, printf arguments.

One line an entry, control characters escaped, so that nobody can forge a line.
"""

from __future__ import annotations

import atexit
import logging
import sys
import threading
import time
import traceback
import uuid
from collections import deque
from collections.abc import Callable
from datetime import UTC, datetime
from functools import lru_cache, partial
from typing import Any, Protocol, TextIO

BUNDLE_SECONDS, IDLE_SECONDS = 0.01, 1.0
LEVELS = {"debug": 10, "info": 20, "warn": 30, "error": 40, "fatal": 50}


class Logger(Protocol):
    def debug(self, message: str, *args: Any) -> None: ...
    def info(self, message: str, *args: Any) -> None: ...
    def warn(self, message: str, *args: Any) -> None: ...
    def error(self, message: str, *args: Any) -> None: ...


GetLogger = Callable[[str], Logger]


class _Bundles:
    """Lines that come thick and fast, written several at once; the first of them at once.

    Each write lets other threads in, which costs a busy service more than the line.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._lines: deque[str] = deque()
        self._lock, self._left = threading.Lock(), threading.Event()
        self._following = threading.Lock()  # held by the thread that writes the rest
        self._wrote_at = 0.0
        atexit.register(self.flush)

    def write(self, line: str) -> None:
        self._lines.append(line)
        if time.monotonic() - self._wrote_at > BUNDLE_SECONDS:
            self.flush()
        elif not self._left.is_set():
            self._left.set()
            if self._following.acquire(blocking=False):
                threading.Thread(target=self._follow, name="log", daemon=True).start()

    def flush(self) -> None:
        with self._lock:
            self._wrote_at = time.monotonic()
            lines = []
            while self._lines:
                lines.append(self._lines.popleft())
            if lines:
                _write(self._stream, "".join(lines))

    def _follow(self) -> None:
        """Ends when nothing has come for a while."""
        goes_on = True
        while goes_on:
            while self._left.wait(IDLE_SECONDS):
                time.sleep(BUNDLE_SECONDS)
                self._left.clear()
                self.flush()
            self._following.release()
            # Somebody may have come just before.
            goes_on = self._left.is_set() and self._following.acquire(blocking=False)


class _LineLogger:
    def __init__(self, name: str, threshold: int, write: Callable[[str], None]) -> None:
        self._name, self._threshold, self._put = name, threshold, write

    def debug(self, message: str, *args: Any) -> None:
        self._write("debug", message, args)

    def info(self, message: str, *args: Any) -> None:
        self._write("info", message, args)

    def warn(self, message: str, *args: Any) -> None:
        self._write("warn", message, args)

    def error(self, message: str, *args: Any) -> None:
        self._write("error", message, args)

    def _write(self, level: str, message: str, args: tuple[Any, ...]) -> None:
        if LEVELS[level] < self._threshold:
            return
        text = message % args if args else message
        self._put(f"[{_now()}] [{level.upper()}] {self._name} - {escape_line(text)}\n")


def _write(stream: TextIO, text: str) -> None:
    try:
        stream.write(text)
        stream.flush()
    except (OSError, ValueError):  # a closed pipe must not fail the request that logs
        pass


def _now() -> str:
    now = time.time()
    return f"{_second(int(now))}.{int(now % 1 * 1000):03d}Z"


@lru_cache(maxsize=1)
def _second(at: int) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%S")


def escape_line(text: str) -> str:
    """`text` with everything that is not printable escaped."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def format_trace(error: BaseException) -> str:
    """Its traceback, and those of its causes."""
    return "".join(traceback.format_exception(error))


def report(logger: Logger, what: str, error: BaseException, error_id: str = "") -> str:
    """Logs an error that nobody expected, with its traceback; returns the ID in that line, for the
    record of what failed."""
    error_id = error_id or new_error_id()
    logger.error("%s (%s): %s", what, error_id, format_trace(error))
    return error_id


def new_error_id() -> str:
    return str(uuid.uuid4())


def line_loggers(level: str, loud: frozenset[str] = frozenset()) -> GetLogger:
    """The built-in provider, on standard error; `loud` names write at info whatever the level,
    and so much that their lines are bundled."""
    bundles = _Bundles(sys.stderr) if loud else None

    def get_logger(name: str) -> Logger:
        if bundles is not None and name in loud:
            return _LineLogger(name, min(LEVELS[level], LEVELS["info"]), bundles.write)
        return _LineLogger(name, LEVELS[level], partial(_write, sys.stderr))

    return get_logger


class Forward(logging.Handler):
    """Hands a library's records to a Logger of ours (waitress speaks the standard module)."""

    def __init__(self, logger: Logger) -> None:
        super().__init__()
        self._logger = logger

    def emit(self, record: logging.LogRecord) -> None:
        write = self._logger.warn if record.levelno < logging.ERROR else self._logger.error
        text = record.getMessage()
        if record.exc_info and record.exc_info[0]:
            text += f" ({record.exc_info[0].__name__})"
        write("%s", text)
