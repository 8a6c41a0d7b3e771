"""Guards whose rule is a query of a metric source. A query is sent outside of transactions; the
answer and its consequences (a rollback, a hold) are in one commit, as with other rules."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

import msgspec

from sigservice.clock import Clock
from sigservice.db import Connection, Row
from sigservice.log import Logger
from sigservice.repository.releases import release_guards
from sigservice.services.flags.feature_states import FeatureEnvironment
from sigservice.services.problems import Problems
from sigservice.services.releases import release_rules
from sigservice.services.releases.guard_results import find_window
from sigservice.services.releases.plans import MAX_GUARDS, Guard, RuleGuard
from sigservice.services.rules import rule_conditions, rule_preview
from sigservice.services.rules.prometheus import Answer, PrometheusClient
from sigservice.services.rules.rule_conditions import Condition, PrometheusQuery
from sigservice.services.rules.rule_evaluation import LEASE
from sigservice.services.rules.rule_readings import Reading, read_answer


class GuardLease(NamedTuple):
    """A guard whose query this process may send before the lease ends, with the names of its
    release in the query. `asked_at` is the time that its answer covers, by the clock of the
    database; `evaluated_at` is that of the answer before."""

    id: int
    condition: Condition
    until: datetime
    asked_at: datetime
    evaluated_at: datetime | None


def lease_queries(conn: Connection, now: datetime, busy: Sequence[str]) -> list[GuardLease]:
    """The guards whose query is due, except queries of the sources `busy`."""
    until = now + LEASE
    leases = []
    for row in release_guards.lease_due_queries(conn, now, until, busy):
        target = FeatureEnvironment(row["project"], row["feature"], row["environment"])
        condition = fill_query(_read_guard(row).rule, target)
        leases.append(GuardLease(row["id"], condition, until, now, row["covers_to"]))
    return leases


def return_leases(conn: Connection, leases: Sequence[GuardLease], now: datetime) -> None:
    """The queries are due now, except those that were leased again meanwhile."""
    if leases:
        release_guards.return_queries(conn, [lease.id for lease in leases], leases[0].until, now)


def store_answer(
    conn: Connection, logger: Logger, clock: Clock, leases: Sequence[GuardLease], answer: Answer
) -> int:
    """Evaluates the guards that have this answer. Returns how many events of releases this
    caused."""
    until, asked_at = leases[0].until, leases[0].asked_at
    rows = release_guards.list_leased_queries(conn, [lease.id for lease in leases], until)
    guards = [_read_guard(row) for row in rows]
    readings = [read_query(guard, answer, asked_at) for guard in guards]
    conditions = [guard.rule for guard in guards]
    return release_rules.store_readings(conn, logger, clock, rows, conditions, readings, until)


def read_query(guard: RuleGuard, answer: Answer, asked_at: datetime) -> Reading:
    """The reading of an answer, which covers the window of the query. Warnings are in its
    reason."""
    reading = read_answer(guard.rule, answer, asked_at)
    reason = reading.reason
    if answer.value is not None and reading.error:
        reason = f"{reason} Warning: {reading.error}"
    return reading._replace(start=asked_at - find_window(guard), reason=reason)


def list_conditions(guards: Sequence[Guard]) -> dict[int, Condition]:
    """The conditions of valid guards with a rule, by their position."""
    conditions = {}
    for index, guard in enumerate(guards[:MAX_GUARDS]):
        if isinstance(guard, RuleGuard):
            problems = Problems()
            rule_conditions.check(guard.rule, problems)
            if not problems.details:
                conditions[index] = guard.rule
    return conditions


def ask_queries(
    client: PrometheusClient,
    sources: Mapping[str, Row],
    conditions: Mapping[int, Condition],
    now: datetime,
) -> dict[int, Answer]:
    """The answers of sources that exist. Sends each query once, one after the other, and no further
    ones to a source that doesn't answer one: the job sends them soon."""
    answers: dict[tuple[str, str], Answer] = {}
    silent: set[str] = set()
    for source, query in map(_get_query, conditions.values()):
        if source in sources and source not in silent and (source, query) not in answers:
            answer = answers[source, query] = client.query(sources[source], query, now)
            if not answer.is_available:
                silent.add(source)
    keys = {index: _get_query(condition) for index, condition in conditions.items()}
    return {index: answers[key] for index, key in keys.items() if key in answers}


def preview_queries(
    client: PrometheusClient,
    sources: Mapping[str, Row],
    conditions: Mapping[int, Condition],
    now: datetime,
) -> dict[int, dict[str, Any]]:
    """The previews of sources that exist."""
    return {
        index: rule_preview.preview_query(client, sources[_get_query(condition)[0]], condition, now)
        for index, condition in conditions.items()
        if _get_query(condition)[0] in sources
    }


def fill_query(condition: Condition, target: FeatureEnvironment) -> Condition:
    """The condition with the names of the release and the window in its query."""
    source, query = _get_query(condition)
    names: Mapping[str, str] = {
        "environment": target.environment,
        "project": target.project,
        "feature": target.feature,
        "window": f"{condition.windowMinutes}m",
    }
    for name, text in names.items():
        query = query.replace(f"{{{{{name}}}}}", text)
    return msgspec.structs.replace(condition, source=PrometheusQuery(source, query))


def _get_query(condition: Condition) -> tuple[str, str]:
    assert isinstance(condition.source, PrometheusQuery)
    return condition.source.source, condition.source.query


def _read_guard(row: Row) -> RuleGuard:
    return msgspec.json.decode(row["definition"], type=RuleGuard)
