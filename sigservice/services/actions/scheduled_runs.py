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
    make_run,
)
from sigservice.services.actions.action_runs import insert_runs
from sigservice.services.actions.schedules import find_due_time, read_schedule
from sigservice.wording import spell_duration

MAX_SETS = 100
PUNCTUAL = timedelta(seconds=2)  # the job looks once a second


def start_due_runs(
    conn: Connection, evaluator: Evaluator, logger: Logger, fixed_now: datetime | None
) -> int:
    """The number of inserted runs. Call under action_runs.lock."""
    rows, now = action_sets.lock_due(conn, fixed_now, limit=MAX_SETS)
    if now is None:
        return 0
    sets = sorted(evaluator.compile_sets(conn, rows, logger), key=lambda item: item.row["due_at"])
    insert_runs(conn, [_make_run(compiled_set, now) for compiled_set in sets])
    action_sets.set_due_times(
        conn,
        [compiled_set.row["id"] for compiled_set in sets],
        [_find_time(one, now) for one in sets],
    )
    run_once_ids = [
        item.row["id"] for item in sets if item.has_run_once and not item.row["has_run_once"]
    ]
    if run_once_ids:
        action_sets.set_has_run_once(conn, run_once_ids, True)
    return len(sets)


def _make_run(compiled_set: CompiledSet, now: datetime) -> dict[str, Any]:
    """The columns of the run, which is suppressed if an option prevents it."""
    run, options = make_run(compiled_set, None, cause="signal"), compiled_set.options
    if compiled_set.fault:
        return run | {"state": "failed", "reason": compiled_set.fault}
    due_at, reason, is_too_late = compiled_set.row["due_at"], None, False
    limit = options.skipIfLateMinutes
    earliest = due_at if limit is None else now - timedelta(minutes=limit)
    if due_at < earliest:  # of several times, a later one runs
        recent = _find_time(compiled_set, earliest)
        is_too_late = recent is None or recent > now
        due_at = due_at if is_too_late else recent
    if now - due_at >= PUNCTUAL:
        reason = f"{spell_duration(now - due_at)} late: it was due at {format_iso(due_at)}."
    if is_too_late:
        return run | {"state": "suppressed", "reason": f"Skipped: {reason}"}
    if suppression := find_suppression(compiled_set, now):
        return run | {"state": "suppressed", "reason": suppression}
    if options.latch and not options.dryRun:
        compiled_set.has_run_once = True
    return run | {"reason": reason}


def _find_time(compiled_set: CompiledSet, after: datetime) -> datetime | None:
    """The next time of `cron`, None for `at` and for an unreadable schedule."""
    try:
        schedule = read_schedule(compiled_set.row)
    except msgspec.MsgspecError:
        return None
    assert schedule is not None
    return find_due_time(schedule, after) if schedule.cron is not None else None
