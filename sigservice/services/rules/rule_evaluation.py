"""Evaluates the alert rules that are due: states and signals are stored in one transaction, so a
kill at any time loses and doubles nothing."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from sigservice.db import Connection, Row, savepoint
from sigservice.errors import UnavailableError
from sigservice.repository.rules import alert_rules
from sigservice.services.rules.alert_rules import (
    build_signal,
    build_state_item,
    read_condition,
    record_changes,
)
from sigservice.services.rules.prometheus import Answer
from sigservice.services.rules.rule_conditions import Condition
from sigservice.services.rules.rule_readings import (
    TOO_SLOW,
    Reading,
    measure,
    read_all,
    read_answer,
    read_each,
)
from sigservice.services.rules.rule_states import RuleState, Status, advance
from sigservice.services.signals import state_signals

LEASE = timedelta(minutes=2)  # after a kill, a rule on a metric source is evaluated that late


class Change(NamedTuple):
    """A change of the state of a rule that stored a signal."""

    rule: str
    status: Status
    reason: str


class Evaluation(NamedTuple):
    """Rules that were evaluated together: the reading of each, and the changes. `error` is from one
    that could not be stored and is due again. `has_more`: others are due, each alone."""

    readings: Sequence[Reading]
    changes: Sequence[Change]
    error: Exception | None = None
    has_more: bool = False


class Lease(NamedTuple):
    """A rule that this process may evaluate before the lease ends, and when it was evaluated the
    last time."""

    id: int
    condition: Condition
    until: datetime
    evaluated_at: datetime | None


def evaluate_metrics(conn: Connection, now: datetime) -> Evaluation:
    """Evaluates the rules on impact metrics that are due and that no other process evaluates at the
    moment, except those that took too long the last time. Raises DatabaseUnavailable if one of them
    takes too long now."""
    due = alert_rules.claim_due(conn, now, too_slow=TOO_SLOW)
    rows = [row for row in due if row["last_error"] != TOO_SLOW]
    if not rows:
        return Evaluation([], [], has_more=bool(due))
    conditions = [read_condition(row) for row in rows]
    slices = read_all(conn, conditions, None, now)
    readings = [measure(c, s, now) for c, s in zip(conditions, slices, strict=True)]
    return _store(conn, rows, readings, now)._replace(has_more=len(rows) < len(due))


def evaluate_next_metric(conn: Connection, now: datetime) -> Evaluation:
    """Like `evaluate_metrics`, for one rule, whose cost is its own."""
    rows = alert_rules.claim_due(conn, now, too_slow=TOO_SLOW, limit=1)
    if not rows:
        return Evaluation([], [])
    conditions = [read_condition(row) for row in rows]
    slices = read_each(conn, conditions, None, now)
    readings = [measure(c, s, now) for c, s in zip(conditions, slices, strict=True)]
    evaluation = _store(conn, rows, readings, now)
    return evaluation._replace(has_more=evaluation.error is None)


def lease_queries(conn: Connection, now: datetime, busy: Sequence[str] = ()) -> list[Lease]:
    """The due rules on metric sources other than `busy`. No other process evaluates them before the
    lease ends."""
    until = now + LEASE
    return [
        Lease(row["id"], read_condition(row), until, row["evaluated_at"])
        for row in alert_rules.lease_due(conn, now, until, busy)
    ]


def return_leases(conn: Connection, leases: Sequence[Lease], now: datetime) -> None:
    """The rules are due now, except those that were changed or leased again meanwhile."""
    if leases:
        alert_rules.return_leased(conn, [lease.id for lease in leases], leases[0].until, now)


def store_answer(
    conn: Connection, leases: Sequence[Lease], answer: Answer, now: datetime
) -> Evaluation:
    """Evaluates the rules that have this answer, except those that were changed or leased again
    meanwhile."""
    rows = alert_rules.lock_leased(conn, [lease.id for lease in leases], leases[0].until)
    readings = [read_answer(read_condition(row), answer, now) for row in rows]
    return _store(conn, rows, readings, now)


def _store(
    conn: Connection, rows: Sequence[Row], readings: Sequence[Reading], now: datetime
) -> Evaluation:
    items, changes, error = [], [], None
    for row, reading in zip(rows, readings, strict=True):
        condition = read_condition(row)
        step = advance(read_state(row), condition, reading, now)
        item = build_state_item(row, step.state, reading) | {"due_at": condition.find_due_at(now)}
        if step.status is None:
            items.append(item)
            continue
        signal = build_signal(row, step.status, step.state.state, reading)
        try:
            with savepoint(conn):
                alert_rules.save_states(conn, [item])
                state_signals.store(conn, [signal])
                record_changes(conn, [(row, signal)])
            changes.append(Change(row["name"], step.status, reading.reason))
        except UnavailableError:
            raise
        except Exception as e:  # noqa: BLE001  the job raises it after the other rules
            error = e
    if items:
        alert_rules.save_states(conn, items)
    return Evaluation(readings, changes, error)


def read_state(row: Row) -> RuleState:
    return RuleState(**{name: row[name] for name in RuleState.__struct_fields__})
