"""Starts the runs of sets whose schedule is due.

The run and the next time of the set are stored in one transaction, so each time has at most one
run. The times of `cron` that passed while no process ran share one run.
"""

from datetime import datetime, timedelta
from typing import Any

import msgspec

from sigservice.clock import format_iso
from sigservice.db import Connection
from sigservice.log import Logger
from sigservice.repository.actions import action_sets
from sigservice.services.actions.action_evaluation import (
    CompiledSet,
    Evaluator,
    find_suppression,
    insert_runs,
    make_run,
)
from sigservice.services.actions.schedules import find_due_time, read_schedule

MAX_SETS = 100
PUNCTUAL = timedelta(seconds=2)  # the job looks twice a second


def start_due_runs(conn: Connection, evaluator: Evaluator, logger: Logger, now: datetime) -> int:
    """The number of inserted runs. Call under action_runs.lock."""
    rows = action_sets.lock_due(conn, now, limit=MAX_SETS)
    if not rows:
        return 0
    sets = sorted(evaluator.compile_sets(conn, rows, logger), key=lambda item: item.row["due_at"])
    insert_runs(conn, [_make_run(compiled_set, now) for compiled_set in sets])
    action_sets.set_due_times(
        conn,
        [compiled_set.row["id"] for compiled_set in sets],
        [_find_next_due_time(compiled_set, now) for compiled_set in sets],
    )
    run_once_ids = [item.row["id"] for item in sets if item.row["armed"] and not item.armed]
    if run_once_ids:
        action_sets.set_armed(conn, run_once_ids, False)
    return len(sets)


def _make_run(compiled_set: CompiledSet, now: datetime) -> dict[str, Any]:
    """The columns of the run, which is suppressed if an option prevents it."""
    run, options = make_run(compiled_set, None, cause="signal"), compiled_set.options
    if compiled_set.fault:
        return run | {"state": "failed", "reason": compiled_set.fault}
    delay, reason = now - compiled_set.row["due_at"], None
    if delay >= PUNCTUAL:
        due_at = format_iso(compiled_set.row["due_at"])
        reason = f"{_describe(delay)} late: it was due at {due_at}."
    limit = options.skipIfLateMinutes
    if limit is not None and delay > timedelta(minutes=limit):
        return run | {"state": "suppressed", "reason": f"Skipped: {reason}"}
    if suppression := find_suppression(compiled_set, now):
        return run | {"state": "suppressed", "reason": suppression}
    if options.latch and not options.dryRun:
        compiled_set.armed = False
    return run | {"reason": reason}


def _find_next_due_time(compiled_set: CompiledSet, now: datetime) -> datetime | None:
    """The next time, None for `at` and for an unreadable schedule. It is later than the time that
    is due, in case the clock of another process was ahead."""
    due_at = compiled_set.row["due_at"]
    try:
        schedule = read_schedule(compiled_set.row)
    except msgspec.MsgspecError:
        return None
    assert schedule is not None
    return find_due_time(schedule, max(now, due_at)) if schedule.cron is not None else None


def _describe(delay: timedelta) -> str:
    """The delay as text, such as 5 s or 3 min."""
    seconds = round(delay.total_seconds())
    for unit, size in (("d", 86_400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"
