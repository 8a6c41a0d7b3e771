"""Progresses releases: each process reads all active ones in one statement, and locks only those
that have something to do; the rules of guards are evaluated before. Processes take turns by the
locks, so a step happens once; a kill loses a transaction, and the next run decides again."""

from collections.abc import Callable

from sigservice.context import Context
from sigservice.jobs.alert_rules import evaluate_in_turn
from sigservice.log import Logger
from sigservice.repository.releases import releases as release_rows
from sigservice.services.releases import release_progress, release_rules, release_signals
from sigservice.services.releases.release_state import load_readable

ALONE_SECONDS = 3  # of a run, which also takes the steps of releases


def run_once(context: Context) -> None:
    logger = context.get_logger("releases")
    with context.database.autocommit() as conn:
        work = context.release_watch.find_work(conn, context.clock)
    if work.must_evaluate:
        evaluate_in_turn(
            context,
            lambda: _evaluate(context, logger, release_rules.evaluate_due),
            lambda: _evaluate(context, logger, release_rules.evaluate_next),
            seconds=ALONE_SECONDS,
        )
    if work.must_scan and _scan(context, logger):
        context.mails_waiting.set()


def _evaluate(
    context: Context, logger: Logger, evaluate: Callable[..., release_rules.Evaluation]
) -> bool:
    with context.database.transaction() as conn:
        now = release_rows.read_time(conn)
        evaluation = evaluate(conn, logger, context.clock, now)
    if evaluation.events:
        context.mails_waiting.set()
    return evaluation.has_more


def _scan(context: Context, logger: Logger) -> int:
    """Reads all releases and progresses those that have something to do."""
    with context.database.autocommit() as conn:
        rows = release_rows.list_active(conn)
    events = 0
    for release in load_readable(rows, context.clock, logger):
        if context.stopping.is_set():
            break
        if release_progress.has_work(release):
            with context.database.transaction() as conn:
                events += release_signals.catch_up(conn, logger, context.clock, release.id)
    context.release_watch.remember()
    return events
