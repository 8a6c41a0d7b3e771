"""Progresses releases: each process reads all active ones in one statement, and again those
that have something to do, under the lock of revisions. Processes take turns by it, so a step
happens once; a kill loses a transaction, and the next run decides again."""

from sigservice.context import Context
from sigservice.log import Logger
from sigservice.repository.releases import releases as release_rows
from sigservice.senders import find_times
from sigservice.services.releases import release_progress, release_signals
from sigservice.services.releases.release_state import load_readable
from sigservice.services.system import emergency


def run_once(context: Context) -> None:
    logger = context.get_logger("releases")
    with context.database.autocommit() as conn:
        must_scan = context.release_watch.must_scan(conn, context.clock)
    if emergency.is_due(context.release_watch.emergency_text, context.clock.now()):
        with context.database.transaction() as conn:
            emergency.end_due(conn, context.clock.now())
    if must_scan:
        _scan(context, logger)


def _scan(context: Context, logger: Logger) -> None:
    """Reads all releases and progresses those that have something to do."""
    with context.database.autocommit() as conn:
        rows = release_rows.list_active(conn, None, context.clock.fixed_now)
    for release in load_readable(rows, logger):
        if context.stopping.is_set():
            break
        if release_progress.has_work(release):
            with context.database.transaction() as conn:
                release_signals.catch_up(conn, logger, context.clock, release.id, find_times)
    context.release_watch.remember()
