"""Evaluates the alert rules on impact metrics that are due. Each process runs it; the database
decides which process evaluates a rule."""

import time

from sigservice.context import Context
from sigservice.repository.releases.releases import read_time
from sigservice.services.rules.rule_evaluation import Evaluation, evaluate_metrics


def run_once(context: Context) -> None:
    start = time.monotonic()
    with context.database.transaction() as conn:
        evaluation = evaluate_metrics(conn, context.clock.choose_now(read_time(conn)))
    if evaluation.readings:
        announce(context, "impactMetric", evaluation, start)


def announce(context: Context, kind: str, evaluation: Evaluation, start: float) -> None:
    """Counts, logs, and wakes the jobs that evaluate the signals and send the notifications."""
    if evaluation.changes:
        context.signals_waiting.set()
        context.outbox_waiting.set()
    metrics = context.telemetry.rules
    metrics.observe(time.monotonic() - start, kind)
    for reading in evaluation.readings:
        result = "value" if reading.value is not None else "error" if reading.error else "unknown"
        metrics.count_evaluation(kind, result)
    logger = context.get_logger("alert rules")
    for change in evaluation.changes:
        log = logger.info if change.status == "resolved" else logger.warn
        log("alert rule %s is %s: %s", change.rule, change.status, change.reason)
