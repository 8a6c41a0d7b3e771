"""Evaluates the rules that are due, alert rules and those of guards: states, signals and what
guards do about them are stored in one transaction, so a kill at any time loses and doubles
nothing."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import NamedTuple

from sigservice.db import Connection, Row, savepoint
from sigservice.errors import UnavailableError
from sigservice.repository.rules import alert_rules
from sigservice.services import revisions
from sigservice.services.rules.alert_rules import (
    build_state_item,
    read_condition,
    store_change,
)
from sigservice.services.rules.prometheus import Answer
from sigservice.services.rules.rule_conditions import Condition, fill_query
from sigservice.services.rules.rule_readings import (
    TOO_SLOW,
    Reading,
    measure,
    read_all,
    read_answer,
    read_each,
)
from sigservice.services.rules.rule_states import RuleState, Status, Transition, advance
from sigservice.services.rules.silence import ChooseTime, Observer, read_silence

# Decides about the releases whose guards have these rules, under the lock of revisions.
Decide = Callable[[Connection, Sequence[int]], object] | None


class Change(NamedTuple):
    """A change of the state of a rule that stored a signal."""

    rule: str
    status: Status
    reason: str


class Evaluation(NamedTuple):
    """Rules that were evaluated together: the reading of each, the changes, and the IDs of the
    rules of guards whose state changed. `error` is from one that could not be stored and is due
    again. `has_more`: others are due, each alone."""

    readings: Sequence[Reading] = ()
    changes: Sequence[Change] = ()
    error: Exception | None = None
    has_more: bool = False


class Lease(NamedTuple):
    """A rule whose query this process may send before the lease ends, which is two minutes after
    `now` of its row: the time that its answer covers, by the clock of the database. The query of
    `condition` has the names of the release of a guard."""

    row: Row
    condition: Condition

    @property
    def is_watched(self) -> bool:
        return bool(self.row["is_watched"])


def evaluate_due(
    conn: Connection,
    now: datetime,
    decide: Decide,
    observer: Observer,
    choose_time: ChooseTime,
    *,
    is_alone: bool = False,
) -> Evaluation:
    """Evaluates the rules on impact metrics and on silence that are due, except those that took too
    long the last time. Raises DatabaseUnavailable if one of them takes too long now. With
    `is_alone`, evaluates one rule, whose cost is its own."""
    if not alert_rules.lock_evaluation(conn):
        return Evaluation()
    due = alert_rules.list_due(conn, now, too_slow=TOO_SLOW, limit=1 if is_alone else None)
    rows = [row for row in due if is_alone or row["last_error"] != TOO_SLOW]
    if not rows:
        return Evaluation(has_more=bool(due))
    silent = read_silence(conn, rows, now, choose_time, observer.note(now))
    conditions = [read_condition(row) for row in rows if row["id"] not in silent]
    slices = (read_each if is_alone else read_all)(conn, conditions, None, now)
    values = iter([measure(c, s, now) for c, s in zip(conditions, slices, strict=True)])
    readings = [silent.get(row["id"]) or next(values) for row in rows]
    evaluation = _store(conn, rows, readings, now, decide)
    has_more = evaluation.error is None if is_alone else len(rows) < len(due)
    return evaluation._replace(has_more=has_more)


def end_silence(
    conn: Connection, now: datetime, endpoint_ids: Sequence[int], choose_time: ChooseTime
) -> Evaluation:
    """Evaluates the rules on the silence of these endpoints that are not `ok`, in the transaction
    that stores signals. Releases that watch them wait for the job."""
    rows = alert_rules.list_silent(conn, endpoint_ids)
    if not rows:
        return Evaluation()
    readings = read_silence(conn, rows, now, choose_time, None)
    return _store(conn, rows, [readings[row["id"]] for row in rows], now, None)


def lease_queries(conn: Connection, fixed_now: datetime | None) -> list[Lease]:
    """The due rules on metric sources that no process queries. No other process queries these
    sources before the leases end. Call it under the lock of metric sources."""
    leases = []
    for row in alert_rules.lease_due(conn, fixed_now):
        condition = read_condition(row)
        if row["guard_id"] is not None:
            names = {name: row[name] for name in ("environment", "project", "feature")}
            condition = fill_query(condition, names)
        leases.append(Lease(row, condition))
    return leases


def end_leases(conn: Connection, leases: Sequence[Lease]) -> None:
    """Rules that were not evaluated are due again, and others can query their source."""
    if leases:
        ids = [lease.row["id"] for lease in leases]
        alert_rules.end_leases(conn, ids, leases[0].row["leased_until"])


def store_answer(
    conn: Connection,
    leases: Sequence[Lease],
    answer: Answer,
    decide: Decide,
    fixed_now: datetime | None,
) -> Evaluation:
    """Evaluates the rules that have this answer, except those that were changed or leased again
    meanwhile."""
    rows = [lease.row for lease in leases]
    readings = [read_answer(read_condition(row), answer, row["now"]) for row in rows]
    return _store(conn, rows, readings, fixed_now, decide)


def _store(
    conn: Connection,
    rows: Sequence[Row],
    readings: Sequence[Reading],
    now: datetime | None,
    decide: Decide,
) -> Evaluation:
    """The lock of revisions comes before those of rules, because changes of releases lock both."""
    watched = [
        row["id"]
        for row, reading in zip(rows, readings, strict=True)
        if decide and row["is_watched"] and _advance(row, reading).state.state != row["state"]
    ]
    if watched:
        revisions.lock(conn)
    locked = {row["id"]: row for row in alert_rules.lock_many(conn, rows, now)}
    items, changes, error = [], [], None
    for before, reading in zip(rows, readings, strict=True):
        row = locked.get(before["id"])
        has_lease = "leased_until" in before  # a change of the rule ends it
        if row is None or not (has_lease or _is_same(row, before)):
            continue
        transition = _advance(row, reading)
        due_at = read_condition(row).find_due_at(row["now"], reading.start)
        item = build_state_item(row, transition.state, reading) | {"due_at": due_at}
        # Silence is unknown after each start of the service, which is no news.
        is_news = transition.status != "unknown" or row["silent_endpoint"] is None
        if transition.status is None or row["guard_id"] is not None or not is_news:
            items.append(item)
            continue
        try:
            with savepoint(conn):
                alert_rules.save_states(conn, [item])
                store_change(conn, row, transition.status, transition.state.state, reading)
            changes.append(Change(row["name"], transition.status, reading.reason))
        except UnavailableError:
            raise
        except Exception as e:  # noqa: BLE001  the job raises it after the other rules
            error = e
    if items:
        alert_rules.save_states(conn, items)
    if decide and watched:
        decide(conn, watched)
    return Evaluation(readings, changes, error)


def _is_same(row: Row, before: Row) -> bool:
    """Whether the rule wasn't changed or evaluated meanwhile."""
    return all(row[name] == before[name] for name in ("condition", "due_at"))


def _advance(row: Row, reading: Reading) -> Transition:
    return advance(read_state(row), read_condition(row), reading, reading.stop)


def read_state(row: Row) -> RuleState:
    return RuleState(**{name: row[name] for name in RuleState.__struct_fields__})
