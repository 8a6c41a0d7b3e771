"""Loggers as the `getLogger` option hands them out: debug, info, warn, error, printf arguments.

One line an entry, control characters escaped, so that nobody can forge a line.
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, Protocol, TextIO

LEVELS = {"debug": 10, "info": 20, "warn": 30, "error": 40, "fatal": 50}


class Logger(Protocol):
    def debug(self, message: str, *args: Any) -> None: ...
    def info(self, message: str, *args: Any) -> None: ...
    def warn(self, message: str, *args: Any) -> None: ...
    def error(self, message: str, *args: Any) -> None: ...


GetLogger = Callable[[str], Logger]


class _LineLogger:
    def __init__(self, name: str, threshold: int, stream: TextIO) -> None:
        self._name, self._threshold, self._stream = name, threshold, stream

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
        line = f"[{_now()}] [{level.upper()}] {self._name} - {one_line(text)}\n"
        try:
            self._stream.write(line)
            self._stream.flush()
        except (OSError, ValueError):  # a closed pipe must not fail the request that logs
            pass


def _now() -> str:
    now = time.time()
    return f"{_second(int(now))}.{int(now % 1 * 1000):03d}Z"


@lru_cache(maxsize=1)
def _second(at: int) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%S")


def one_line(text: str) -> str:
    """`text` with everything that is not printable escaped."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def line_loggers(level: str, loud: frozenset[str] = frozenset()) -> GetLogger:
    """The built-in provider, on standard error; `loud` names write at info whatever the level."""

    def get_logger(name: str) -> Logger:
        threshold = min(LEVELS[level], LEVELS["info"]) if name in loud else LEVELS[level]
        return _LineLogger(name, threshold, sys.stderr)

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
