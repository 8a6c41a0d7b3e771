"""Evaluates the alert rules that are due: states and signals are stored in one transaction, so a
kill at any time loses and doubles nothing."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from sigservice.db import Connection, Row
from sigservice.repository.rules import alert_rules
from sigservice.services.rules import rule_notifications
from sigservice.services.rules.alert_rules import build_signal, build_state_item, read_condition
from sigservice.services.rules.prometheus import Answer
from sigservice.services.rules.rule_conditions import Condition
from sigservice.services.rules.rule_readings import Reading, measure, read_all, read_answer
from sigservice.services.rules.rule_states import RuleState, Status, advance
from sigservice.services.signals import state_signals

LEASE = timedelta(minutes=2)  # after a kill, a rule on a metric source is evaluated that late


class Change(NamedTuple):
    """A change of the state of a rule that stored a signal."""

    rule: str
    status: Status
    reason: str


class Evaluation(NamedTuple):
    """Rules that were evaluated together: the reading of each, and the changes."""

    readings: Sequence[Reading]
    changes: Sequence[Change]


class Lease(NamedTuple):
    """A rule that this process may evaluate before the lease ends, and when it was evaluated the
    last time."""

    id: int
    condition: Condition
    until: datetime
    evaluated_at: datetime | None


def evaluate_metrics(conn: Connection, now: datetime) -> Evaluation:
    """Evaluates the rules on impact metrics that are due and that no other process evaluates at the
    moment."""
    rows = alert_rules.claim_due(conn, now)
    if not rows:
        return Evaluation([], [])
    conditions = [read_condition(row) for row in rows]
    slices = read_all(conn, conditions, None, now)
    readings = [measure(c, s, now) for c, s in zip(conditions, slices, strict=True)]
    return _store(conn, rows, readings, now)


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
    items, signals, changes = [], [], []
    for row, reading in zip(rows, readings, strict=True):
        condition = read_condition(row)
        step = advance(read_state(row), condition, reading, now)
        due_at = {"due_at": condition.find_due_at(now)}
        items.append(build_state_item(row, step.state, reading) | due_at)
        if step.status is not None:
            signal = build_signal(row, step.status, step.state.state, reading)
            signals.append((row, signal))
            changes.append(Change(row["name"], step.status, reading.reason))
    alert_rules.save_states(conn, items)
    state_signals.store(conn, [signal for _, signal in signals])
    rule_notifications.queue(conn, signals)
    return Evaluation(readings, changes)


def read_state(row: Row) -> RuleState:
    return RuleState(**{name: row[name] for name in RuleState.__struct_fields__})
