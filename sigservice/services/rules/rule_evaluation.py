"""Evaluates the alert rules that are due: states and signals are stored in one transaction, so a
kill at any time loses and doubles nothing."""

from datetime import datetime, timedelta
from typing import NamedTuple

from sigservice.db.pool import Connection
from sigservice.db.statements import Row
from sigservice.repository.rules import alert_rules
from sigservice.services.rules.alert_rules import build_signal, build_state_item, read_condition
from sigservice.services.rules.rule_readings import measure, read_all
from sigservice.services.rules.rule_states import RuleState, Status, advance
from sigservice.services.signals import state_signals


class Change(NamedTuple):
    """A change of the state of a rule that stored a signal."""

    rule: str
    status: Status
    reason: str


class Evaluated(NamedTuple):
    """How many rules were evaluated, and the changes."""

    rules: int
    changes: list[Change]


def evaluate_due(conn: Connection, now: datetime) -> Evaluated:
    """Evaluates the rules that are due and that no other process evaluates at the moment."""
    rows = alert_rules.claim_due(conn, now)
    if not rows:
        return Evaluated(0, [])
    conditions = [read_condition(row) for row in rows]
    items, signals, changes = [], [], []
    for row, condition, slices in zip(
        rows, conditions, read_all(conn, conditions, None, now), strict=True
    ):
        reading = measure(condition, slices, now)
        step = advance(read_state(row), condition, reading, now)
        due_at = now + timedelta(seconds=condition.everySeconds)
        items.append(build_state_item(row, step.state, reading) | {"due_at": due_at})
        if step.status is not None:
            signals.append(build_signal(row, step.status, step.state.state, reading))
            changes.append(Change(row["name"], step.status, reading.reason))
    alert_rules.save_states(conn, items)
    state_signals.store(conn, signals)
    return Evaluated(len(rows), changes)


def read_state(row: Row) -> RuleState:
    return RuleState(**{name: row[name] for name in RuleState.__struct_fields__})
