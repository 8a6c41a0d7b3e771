"""Evaluates the rules on impact metrics and on silence that are due, alert rules and those of
guards. Each process runs it; the one that gets the lock does the work."""

import time

from sigservice.context import Context
from sigservice.db.errors import DatabaseUnavailable
from sigservice.repository.releases.releases import read_time
from sigservice.services.releases import release_signals
from sigservice.services.rules import rule_evaluation
from sigservice.services.rules.rule_evaluation import Decide, Evaluation

ALONE_SECONDS = 20  # of a run, in which rules that take long are evaluated one by one


def run_once(context: Context) -> None:
    """Evaluates the rules that are due together; if one takes too long, and those that did so the
    last time, one after the other."""
    try:
        has_more = _evaluate(context)
    except DatabaseUnavailable as error:
        if not error.is_timeout:
            raise
        has_more = True
    ends_at = time.monotonic() + ALONE_SECONDS
    while has_more and time.monotonic() < ends_at and not context.stopping.is_set():
        has_more = _evaluate(context, is_alone=True)


def make_decide(context: Context) -> Decide:
    logger = context.get_logger("releases")
    return lambda conn, ids: release_signals.decide_for_rules(conn, logger, context.clock, ids)


def _evaluate(context: Context, *, is_alone: bool = False) -> bool:
    start = time.monotonic()
    try:
        with context.database.transaction() as conn:
            now, decide = read_time(conn, context.clock.fixed_now), make_decide(context)
            evaluation = rule_evaluation.evaluate_due(
                conn,
                now,
                decide,
                context.silence_observer,
                context.clock.choose_now,
                is_alone=is_alone,
            )
    except Exception as error:
        if not getattr(error, "is_timeout", False):
            context.silence_observer.note_failure()
        raise
    if evaluation.readings:
        announce(context, "impactMetric", evaluation, start)
    if evaluation.error is not None:
        raise evaluation.error
    return evaluation.has_more


def announce(context: Context, kind: str, evaluation: Evaluation, start: float) -> None:
    """Counts, logs, and wakes the job that evaluates the signals."""
    if evaluation.changes:
        context.signals_waiting.set()
    metrics = context.telemetry.rules
    metrics.observe(time.monotonic() - start, kind)
    for reading in evaluation.readings:
        result = "value" if reading.value is not None else "error" if reading.error else "unknown"
        metrics.count_evaluation(kind, result)
    logger = context.get_logger("alert rules")
    for change in evaluation.changes:
        log = logger.info if change.status == "resolved" else logger.warn
        log("alert rule %s is %s: %s", change.rule, change.status, change.reason)
