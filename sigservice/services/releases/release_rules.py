"""Evaluates the rules of guards that are due. A change of a state and what it causes (a rollback, a
hold) are one commit; a value without a change is stored without a lock of revisions."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

import msgspec

from sigservice.clock import Clock
from sigservice.db import Connection, Row
from sigservice.log import Logger
from sigservice.repository.releases import release_guards
from sigservice.services import revisions
from sigservice.services.releases import release_progress
from sigservice.services.releases.plans import RuleGuard
from sigservice.services.releases.release_state import lock_active
from sigservice.services.rules.rule_conditions import Condition, PrometheusQuery
from sigservice.services.rules.rule_readings import (
    TOO_SLOW,
    Reading,
    measure,
    read_all,
    read_each,
)
from sigservice.services.rules.rule_states import RuleState, advance


class Evaluation(NamedTuple):
    """How many events of releases an evaluation caused, and whether other rules are due, each
    alone."""

    events: int = 0
    has_more: bool = False


def evaluate_due(
    conn: Connection, logger: Logger, clock: Clock, database_now: datetime
) -> Evaluation:
    """Evaluates the rules that are due, except those that took too long the last time. Raises
    DatabaseUnavailable if one of them takes too long now."""
    now = clock.choose_now(database_now)
    if not release_guards.lock_evaluation(conn):
        return Evaluation()
    due = release_guards.list_due_rules(conn, now, too_slow=TOO_SLOW)
    rows = [row for row in due if row["rule_reason"] != TOO_SLOW]
    if not rows:
        return Evaluation(has_more=bool(due))
    conditions = _read_conditions(rows)
    slices = read_all(conn, conditions, None, now)
    readings = [measure(c, s, now) for c, s in zip(conditions, slices, strict=True)]
    events = store_readings(conn, logger, clock, rows, conditions, readings)
    return Evaluation(events, has_more=len(rows) < len(due))


def evaluate_next(
    conn: Connection, logger: Logger, clock: Clock, database_now: datetime
) -> Evaluation:
    """Like `evaluate_due`, for one rule, whose cost is its own."""
    now = clock.choose_now(database_now)
    if not release_guards.lock_evaluation(conn):
        return Evaluation()
    rows = release_guards.list_due_rules(conn, now, too_slow=TOO_SLOW, limit=1)
    if not rows:
        return Evaluation()
    conditions = _read_conditions(rows)
    slices = read_each(conn, conditions, None, now)
    readings = [measure(c, s, now) for c, s in zip(conditions, slices, strict=True)]
    return Evaluation(store_readings(conn, logger, clock, rows, conditions, readings), True)


def _read_conditions(rows: Sequence[Row]) -> list[Condition]:
    return [msgspec.json.decode(row["definition"], type=RuleGuard).rule for row in rows]


def store_readings(
    conn: Connection,
    logger: Logger,
    clock: Clock,
    rows: Sequence[Row],
    conditions: Sequence[Condition],
    readings: Sequence[Reading],
    until: datetime | None = None,
) -> int:
    """Stores the readings of guards, of queries only under their lease `until`, and decides about
    the releases whose guards changed. Returns how many events this caused."""
    items, changed = [], set()
    for row, condition, reading in zip(rows, conditions, readings, strict=True):
        before = msgspec.json.decode(row["rule_state"], type=RuleState)
        after = advance(before, condition, reading, reading.stop).state
        items.append({"id": row["id"], **make_columns(condition, reading, after)})
        if after.state != row["state"]:
            changed.add(row["release_id"])
    if changed:
        revisions.lock(conn)
    release_guards.save_readings(conn, items, until)
    if not changed:
        return 0
    releases = lock_active(conn, sorted(changed), clock, logger)
    return release_progress.progress_safely(conn, releases, logger)


def make_columns(condition: Condition, reading: Reading, state: RuleState) -> dict[str, Any]:
    """The columns of an evaluation."""
    is_query = isinstance(condition.source, PrometheusQuery)
    next_at = condition.find_due_at(reading.stop)
    return {
        "value": reading.value,
        "limit": condition.limit,
        "samples": reading.samples,
        "covers_from": reading.start,
        "covers_to": reading.stop,
        "rule_state": state,
        "rule_reason": reading.reason,
        "due_at": None if is_query else next_at,
        "query_due_at": next_at if is_query else None,
    }
