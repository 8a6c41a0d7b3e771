"""The rules of new guards that query a metric source: their answers and previews."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sigservice.db import Connection, Row
from sigservice.repository.rules import alert_rules
from sigservice.services.problems import Problems
from sigservice.services.releases.plans import MAX_GUARDS, NO_RULE, Guard, RuleGuard
from sigservice.services.rules import rule_conditions, rule_preview
from sigservice.services.rules.alert_rules import read_condition
from sigservice.services.rules.prometheus import Answer, PrometheusClient
from sigservice.services.rules.rule_conditions import Condition, PrometheusQuery


def fill_rules(conn: Connection, guards: Sequence[Guard]) -> None:
    """Gives guards that watch an alert rule its condition, NO_RULE if it doesn't exist."""
    watching = [guard for guard in guards if isinstance(guard, RuleGuard) and guard.ruleId]
    rows = alert_rules.list_all(conn) if watching else []
    conditions = {row["id"]: read_condition(row) for row in rows}
    for guard in watching:
        guard.rule = conditions.get(guard.ruleId or 0, NO_RULE)


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


def _get_query(condition: Condition) -> tuple[str, str]:
    assert isinstance(condition.source, PrometheusQuery)
    return condition.source.source, condition.source.query
