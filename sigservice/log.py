"""Loggers with debug, info, warn and error, and printf arguments, like those of `getLogger`.

One line for each entry, with escaped control characters, so that input can't forge lines.
"""

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

BUFFER_SECONDS, IDLE_SECONDS = 0.01, 1.0
LEVELS = {"debug": 10, "info": 20, "warn": 30, "error": 40, "fatal": 50}


class Logger(Protocol):
    def debug(self, message: str, *args: Any) -> None: ...
    def info(self, message: str, *args: Any) -> None: ...
    def warn(self, message: str, *args: Any) -> None: ...
    def error(self, message: str, *args: Any) -> None: ...


GetLogger = Callable[[str], Logger]


class _LineBuffer:
    """Writes the first line at once and collects the following ones for a moment.

    Each write switches threads, which costs a busy service more than the line.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._lines: deque[str] = deque()
        self._lock, self._has_lines = threading.Lock(), threading.Event()
        self._writer_lock = threading.Lock()  # held by the thread that writes collected lines
        self._written_at = 0.0
        atexit.register(self.flush)

    def write(self, line: str) -> None:
        self._lines.append(line)
        if time.monotonic() - self._written_at > BUFFER_SECONDS:
            self.flush()
        elif not self._has_lines.is_set():
            self._has_lines.set()
            if self._writer_lock.acquire(blocking=False):
                threading.Thread(target=self._write_rest, name="log", daemon=True).start()

    def flush(self) -> None:
        with self._lock:
            self._written_at = time.monotonic()
            lines = []
            while self._lines:
                lines.append(self._lines.popleft())
            if lines:
                _write(self._stream, "".join(lines))

    def _write_rest(self) -> None:
        """Writes collected lines until none arrive for IDLE_SECONDS."""
        is_running = True
        while is_running:
            while self._has_lines.wait(IDLE_SECONDS):
                time.sleep(BUFFER_SECONDS)
                self._has_lines.clear()
                self.flush()
            self._writer_lock.release()
            # A line may have arrived before the release.
            is_running = self._has_lines.is_set() and self._writer_lock.acquire(blocking=False)


class _LineLogger:
    def __init__(self, name: str, threshold: int, write: Callable[[str], None]) -> None:
        self._name, self._threshold, self._write_line = name, threshold, write

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
        self._write_line(f"[{_now()}] [{level.upper()}] {self._name} - {escape_line(text)}\n")


def _write(stream: TextIO, text: str) -> None:
    try:
        stream.write(text)
        stream.flush()
    except (OSError, ValueError):  # a closed pipe must not fail the request
        pass


def _now() -> str:
    now = time.time()
    return f"{_second(int(now))}.{int(now % 1 * 1000):03d}Z"


@lru_cache(maxsize=1)
def _second(at: int) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%S")


def escape_line(text: str) -> str:
    """`text` with escaped non-printable characters."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def format_trace(error: BaseException) -> str:
    """The traceback of an error and its causes."""
    return "".join(traceback.format_exception(error))


def log_error(logger: Logger, what: str, error: BaseException, error_id: str = "") -> str:
    """Logs an unexpected error with its traceback; returns the error ID in the line, for the record
    of the failed work."""
    error_id = error_id or new_error_id()
    logger.error("%s (%s): %s", what, error_id, format_trace(error))
    return error_id


def new_error_id() -> str:
    return str(uuid.uuid4())


def build_line_loggers(level: str, always_logged: frozenset[str] = frozenset()) -> GetLogger:
    """The default provider, on standard error. Loggers in `always_logged` write info at any level,
    with a buffer because they write much."""
    buffer = _LineBuffer(sys.stderr) if always_logged else None

    def get_logger(name: str) -> Logger:
        if buffer is not None and name in always_logged:
            return _LineLogger(name, min(LEVELS[level], LEVELS["info"]), buffer.write)
        return _LineLogger(name, LEVELS[level], partial(_write, sys.stderr))

    return get_logger


class LogForwarder(logging.Handler):
    """Forwards records of the standard logging module to a Logger."""

    def __init__(self, logger: Logger) -> None:
        super().__init__()
        self._logger = logger

    def emit(self, record: logging.LogRecord) -> None:
        write = self._logger.warn if record.levelno < logging.ERROR else self._logger.error
        text = record.getMessage()
        if record.exc_info and record.exc_info[0]:
            text += f" ({record.exc_info[0].__name__})"
        write("%s", text)
