"""Writes each event of the audit log as a line of JSON to a file or standard output, in the order
of their IDs, at least once.

The position is stored after the lines are on disk, so a kill repeats a batch and loses none.
"""

import sys
from pathlib import Path

import msgspec

from sigservice.context import Context
from sigservice.errors import UnavailableError
from sigservice.jobs.archive import append_lines
from sigservice.repository.system import audit_log
from sigservice.services.identity import SYSTEM
from sigservice.services.system import events

STANDARD_OUTPUT = "-"
BATCH = 100
_PAUSE_SECONDS, _MAX_PAUSES = 0.02, 250


def run_once(context: Context) -> int:
    """Returns how many events were written, 0 if another process writes. Raises UnavailableError if
    the file can't be written."""
    path = context.config["audit"]["log"]
    position = acquire(context)
    if position is None:
        return 0
    last, total = _find_last(context), 0
    while position < last and not context.stopping.is_set():
        with context.database.autocommit() as conn:
            rows = audit_log.list_after(conn, position, last, limit=BATCH)
        if not rows:
            break
        write_lines(path, [msgspec.json.encode(events.to_json(row, SYSTEM)) for row in rows])
        position = rows[-1]["id"]
        with context.database.autocommit() as conn:
            if not audit_log.advance(conn, context.process_id, position):
                break
        total += len(rows)
    return total


def acquire(context: Context) -> int | None:
    """The ID of the last written event; None without an audit log, or if another process writes.
    The first call decides where the log begins, so the start calls it before the first request."""
    if not context.config["audit"]["log"]:
        return None
    with context.database.autocommit() as conn:
        start = audit_log.acquire(conn, context.process_id)
    if start is None:
        return None
    if start["is_first"]:
        path_of_export = f"{context.prefix}/api/admin/search/events/export?format=ndjson"
        context.get_logger("audit").info(
            "the audit log begins with the next event; GET %s has the older ones", path_of_export
        )
    return int(start["event_id"])


def write_lines(path: str, lines: list[bytes]) -> None:
    """On disk when it returns. A file that was renamed is created again. Raises
    UnavailableError."""
    content = b"".join(line + b"\n" for line in lines)
    try:
        if path == STANDARD_OUTPUT:
            sys.stdout.buffer.write(content)
            sys.stdout.buffer.flush()
            return
        append_lines(Path(path), content)
    except OSError as error:
        raise UnavailableError(f"{path} can't be written: {error.strerror}") from None


def _find_last(context: Context) -> int:
    """The ID up to which no further event can appear; 0 if a transaction doesn't end. IDs are
    assigned before the commit, so an event can appear after one with a higher ID."""
    with context.database.autocommit() as conn:
        last, writers = audit_log.find_newest(conn), audit_log.list_writers(conn)
    for _ in range(_MAX_PAUSES):
        if not writers or context.stopping.wait(_PAUSE_SECONDS):
            break
        with context.database.autocommit() as conn:
            writers &= audit_log.list_writers(conn)
    return 0 if writers else last
