"""Progresses releases: each process reads all active ones in one statement, and locks only those
that have something to do; the rules of guards are evaluated before. Processes take turns by the
locks, so a step happens once; a kill loses a transaction, and the next run decides again."""

from sigservice.context import Context
from sigservice.log import Logger
from sigservice.repository.releases import releases as release_rows
from sigservice.services.releases import release_progress, release_rules, release_signals
from sigservice.services.releases.release_state import load_readable


def run_once(context: Context) -> None:
    logger = context.get_logger("releases")
    with context.database.autocommit() as conn:
        work = context.release_watch.find_work(conn, context.clock)
    events = 0
    if work.must_evaluate:
        with context.database.transaction() as conn:
            now = release_rows.read_time(conn)
            events += release_rules.evaluate_due(conn, logger, context.clock, now)
    if work.must_scan:
        events += _scan(context, logger)
    if events:
        context.outbox_waiting.set()


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
