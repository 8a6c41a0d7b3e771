"""The archive of what the retention job deletes: one NDJSON file for each kind and month."""

import fcntl
import os
import stat
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from sigservice.paths import sync_folder


class Entry(NamedTuple):
    """`item` is JSON; `created_at` decides about the file."""

    created_at: datetime
    item: dict[str, Any]


def append(directory: str, kind: str, entries: Sequence[Entry]) -> None:
    """Returns when the entries are on the disk, in files such as events-2026-11.ndjson. Raises
    OSError; complete files of other months may then contain their part of the entries."""
    for month, group in groupby(entries, _find_month):
        lines = b"".join(map(_encode_line, group))
        append_lines(Path(directory) / f"{kind}-{month}.ndjson", lines)
    sync_folder(directory)


def _find_month(entry: Entry) -> str:
    return entry.created_at.astimezone(UTC).strftime("%Y-%m")


def _encode_line(entry: Entry) -> bytes:
    """A payload is stored as it was sent. Its line breaks can only be between its values."""
    line = msgspec.json.encode(entry.item)
    return line.replace(b"\r", b" ").replace(b"\n", b" ") + b"\n"


def append_lines(path: Path, lines: bytes) -> None:
    """All or nothing, except after a kill: then the next call ends the broken line. The lock keeps
    the lines of several processes apart. The path may also be a pipe or a device. Raises
    OSError."""
    file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(file, fcntl.LOCK_EX)
        status = os.fstat(file)
        is_regular = stat.S_ISREG(status.st_mode)
        size = status.st_size if is_regular else 0
        if size and os.pread(file, 1, size - 1) != b"\n":
            lines = b"\n" + lines
        try:
            while lines:
                lines = lines[os.write(file, lines) :]
            if is_regular:
                os.fsync(file)
        except OSError:
            if is_regular:
                os.ftruncate(file, size)
            raise
    finally:
        os.close(file)
