"""Evaluates the alert rules that are due. Each process runs it; a rule is locked by the one that
evaluates it."""

from sigservice.context import Context
from sigservice.services.rules.rule_evaluation import evaluate_due


def run_once(context: Context) -> int:
    """Returns 0, so that nothing is logged but the changes."""
    with context.database.transaction() as conn:
        evaluated = evaluate_due(conn, context.clock.now())
    if evaluated.changes:
        context.signals_waiting.set()
    logger = context.get_logger("alert rules")
    for change in evaluated.changes:
        log = logger.info if change.status == "resolved" else logger.warn
        log("alert rule %s is %s: %s", change.rule, change.status, change.reason)
    return 0
