"""Evaluates the alert rules that are due. Each process runs it; the database decides which process
evaluates a rule. Metric sources are asked outside of transactions, by a job of their own, so that a
slow one delays no rule on impact metrics."""

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby

from sigservice.context import Context
from sigservice.db.statements import Row
from sigservice.repository.rules import metric_sources
from sigservice.services.channel_delivery import DeliverySettings
from sigservice.services.rules.metric_sources import MAX_SOURCES
from sigservice.services.rules.prometheus import Answer, PrometheusClient
from sigservice.services.rules.rule_conditions import PrometheusQuery
from sigservice.services.rules.rule_evaluation import (
    Evaluation,
    Lease,
    evaluate_metrics,
    lease_queries,
    store_answer,
)


def run_once(context: Context) -> int:
    """Evaluates rules on impact metrics. Returns 0, so that nothing is logged but the changes."""
    start = time.monotonic()
    with context.database.transaction() as conn:
        evaluation = evaluate_metrics(conn, context.clock.now())
    if evaluation.readings:
        _announce(context, "impactMetric", evaluation, start)
    return 0


def run_queries(context: Context) -> int:
    """Evaluates rules on metric sources. Returns 0."""
    with context.database.transaction() as conn:
        leases = lease_queries(conn, context.clock.now())
        sources = {row["name"]: row for row in metric_sources.list_all(conn)} if leases else {}
    if not leases:
        return 0
    groups = [
        (sources.get(name), [*group])
        for name, group in groupby(sorted(leases, key=_get_query), lambda x: _get_query(x)[0])
    ]
    with ThreadPoolExecutor(min(len(groups), MAX_SOURCES), "metric-source") as executor:
        list(executor.map(lambda group: _ask_source(context, *group), groups))
    return 0


def _ask_source(context: Context, source: Row | None, leases: Sequence[Lease]) -> None:
    """Sends each query once, one after the other. A source that doesn't answer isn't asked
    again."""
    client = PrometheusClient(DeliverySettings.from_config(context.config), context.encryption)
    answer = Answer(reason="The metric source doesn't exist.", is_available=source is not None)
    for (_, query), group in groupby(leases, _get_query):
        start = time.monotonic()
        if source is not None and answer.is_available:
            answer = client.query(source, query, context.clock.now())
        with context.database.transaction() as conn:
            evaluation = store_answer(conn, [*group], answer, context.clock.now())
        _announce(context, "prometheus", evaluation, start)


def _get_query(lease: Lease) -> tuple[str, str]:
    source = lease.condition.source
    assert isinstance(source, PrometheusQuery)
    return source.source, source.query


def _announce(context: Context, kind: str, evaluation: Evaluation, start: float) -> None:
    """Counts, logs, and wakes the job that evaluates the signals."""
    if evaluation.changes:
        context.signals_waiting.set()
    metrics = context.telemetry.rules
    metrics.observe(kind, time.monotonic() - start)
    for reading in evaluation.readings:
        result = "value" if reading.value is not None else "error" if reading.error else "unknown"
        metrics.count_evaluation(kind, result)
    logger = context.get_logger("alert rules")
    for change in evaluation.changes:
        log = logger.info if change.status == "resolved" else logger.warn
        log("alert rule %s is %s: %s", change.rule, change.status, change.reason)
