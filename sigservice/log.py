"""Loggers with debug, info, warn and error, and printf arguments, like `getLogger`.

One line for each entry, text or a JSON object, with escaped control characters, so that input can't
forge lines.
"""

import atexit
import json
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
FormatLine = Callable[[str, str, str, tuple[Any, ...]], str]


class NamedFormat(str):
    """A printf format that names its arguments, which are then fields of a JSON line too."""

    names: tuple[str, ...]

    def __new__(cls, text: str, *names: str) -> "NamedFormat":
        named_format = super().__new__(cls, text)
        named_format.names = names
        return named_format


class Trace(str):
    """A traceback as an argument; a JSON line has it in a field of its own."""

    error_name: str


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
    def __init__(
        self, name: str, threshold: int, format_line: FormatLine, write: Callable[[str], None]
    ) -> None:
        self._name, self._threshold = name, threshold
        self._format_line, self._write_line = format_line, write

    def debug(self, message: str, *args: Any) -> None:
        self._write("debug", message, args)

    def info(self, message: str, *args: Any) -> None:
        self._write("info", message, args)

    def warn(self, message: str, *args: Any) -> None:
        self._write("warn", message, args)

    def error(self, message: str, *args: Any) -> None:
        self._write("error", message, args)

    def _write(self, level: str, message: str, args: tuple[Any, ...]) -> None:
        if LEVELS[level] >= self._threshold:
            self._write_line(self._format_line(self._name, level, message, args))


def _format_text(name: str, level: str, message: str, args: tuple[Any, ...]) -> str:
    text = message % args if args else message
    return f"[{_now()}] [{level.upper()}] {name} - {escape_line(text)}\n"


def _format_json(name: str, level: str, message: str, args: tuple[Any, ...]) -> str:
    """A traceback is in `exception`; the message has the class of the error in its place."""
    line = {"time": _now(), "level": level, "logger": name, "message": message}
    if args:
        line["message"] = message % tuple(
            arg.error_name if isinstance(arg, Trace) else arg for arg in args
        )
    if isinstance(message, NamedFormat):
        line |= dict(zip(message.names, args, strict=True))
    if traces := [arg for arg in args if isinstance(arg, Trace)]:
        line["exception"] = "\n".join(traces)
    return json.dumps(line) + "\n"


_FORMATS: dict[str, FormatLine] = {"text": _format_text, "json": _format_json}


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


def format_trace(error: BaseException) -> Trace:
    """The traceback of an error and its causes."""
    trace = Trace("".join(traceback.format_exception(error)))
    trace.error_name = type(error).__name__
    return trace


def log_error(logger: Logger, what: str, error: BaseException, error_id: str = "") -> str:
    """Logs an unexpected error with its traceback; returns the error ID in the line, for the record
    of the failed work."""
    error_id = error_id or new_error_id()
    logger.error("%s (%s): %s", what, error_id, format_trace(error))
    return error_id


def new_error_id() -> str:
    return str(uuid.uuid4())


def build_line_loggers(
    level: str, always_logged: frozenset[str] = frozenset(), form: str = "text"
) -> GetLogger:
    """The default provider, on standard error; `form` is text or json. Loggers in `always_logged`
    write info at any level, with a buffer because they write much."""
    format_line = _FORMATS[form]
    buffer = _LineBuffer(sys.stderr) if always_logged else None

    def get_logger(name: str) -> Logger:
        if buffer is not None and name in always_logged:
            threshold = min(LEVELS[level], LEVELS["info"])
            return _LineLogger(name, threshold, format_line, buffer.write)
        return _LineLogger(name, LEVELS[level], format_line, partial(_write, sys.stderr))

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
