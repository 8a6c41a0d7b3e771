"""Evaluates the alert rules on impact metrics that are due. Each process runs it; the database
decides which process evaluates a rule."""

import time
from collections.abc import Callable

from sigservice.context import Context
from sigservice.db.errors import DatabaseUnavailable
from sigservice.repository.releases.releases import read_time
from sigservice.services.rules import rule_evaluation
from sigservice.services.rules.rule_evaluation import Evaluation

ALONE_SECONDS = 20  # of a run, in which rules that take long are evaluated one by one


def run_once(context: Context) -> None:
    evaluate_in_turn(
        context,
        lambda: _evaluate(context, rule_evaluation.evaluate_metrics),
        lambda: _evaluate(context, rule_evaluation.evaluate_next_metric),
    )


def evaluate_in_turn(
    context: Context,
    evaluate_together: Callable[[], bool],
    evaluate_next: Callable[[], bool],
    *,
    seconds: float = ALONE_SECONDS,
) -> None:
    """Evaluates the rules that are due together; if one takes too long, and those that did so the
    last time, one after the other, for up to `seconds`. Both functions return whether rules are
    left for that."""
    try:
        has_more = evaluate_together()
    except DatabaseUnavailable as error:
        if not error.is_timeout:
            raise
        has_more = True
    ends_at = time.monotonic() + seconds
    while has_more and time.monotonic() < ends_at and not context.stopping.is_set():
        has_more = evaluate_next()


def _evaluate(context: Context, evaluate: Callable[..., Evaluation]) -> bool:
    start = time.monotonic()
    with context.database.transaction() as conn:
        evaluation = evaluate(conn, context.clock.choose_now(read_time(conn)))
    if evaluation.readings:
        announce(context, "impactMetric", evaluation, start)
    if evaluation.error is not None:
        raise evaluation.error
    return evaluation.has_more


def announce(context: Context, kind: str, evaluation: Evaluation, start: float) -> None:
    """Counts, logs, and wakes the jobs that evaluate the signals and send the notifications."""
    if evaluation.changes:
        context.signals_waiting.set()
        context.mails_waiting.set()
    metrics = context.telemetry.rules
    metrics.observe(time.monotonic() - start, kind)
    for reading in evaluation.readings:
        result = "value" if reading.value is not None else "error" if reading.error else "unknown"
        metrics.count_evaluation(kind, result)
    logger = context.get_logger("alert rules")
    for change in evaluation.changes:
        log = logger.info if change.status == "resolved" else logger.warn
        log("alert rule %s is %s: %s", change.rule, change.status, change.reason)
