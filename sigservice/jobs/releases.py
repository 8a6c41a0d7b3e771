"""Progresses releases: each process reads all active ones in one statement, and locks only those
that have something to do. Processes take turns by the locks, so a step happens once; a kill loses a
transaction, and the next run decides again."""

from sigservice.context import Context
from sigservice.db.statements import Row
from sigservice.log import Logger, log_error
from sigservice.repository.releases import releases as release_rows
from sigservice.services import revisions
from sigservice.services.releases import release_progress, release_rules
from sigservice.services.releases.release_state import Release, load


def run_once(context: Context) -> int:
    """Returns 0, so that nothing is logged but errors."""
    logger = context.get_logger("releases")
    with context.database.autocommit() as conn:
        if not context.release_watch.must_scan(conn, context.clock.monotonic()):
            return 0
        rows = release_rows.list_active(conn)
    events = 0
    if any(
        guard.is_due(release.now)
        for release in _load_all(context, rows, logger)
        for guard in release.guards
    ):
        with context.database.transaction() as conn:
            now = release_rows.read_time(conn)
            events += release_rules.evaluate_due(conn, logger, context.clock, now)
        with context.database.autocommit() as conn:
            rows = release_rows.list_active(conn)
    for release in _load_all(context, rows, logger):
        if context.stopping.is_set():
            break
        if release_progress.has_work(release):
            with context.database.transaction() as conn:
                revisions.lock(conn)
                events += release_progress.progress_safely(
                    conn, [release.id], context.clock, logger
                )
    context.release_watch.remember()
    if events:
        context.outbox_waiting.set()
    return 0


def _load_all(context: Context, rows: list[Row], logger: Logger) -> list[Release]:
    """Without those that can't be read."""
    releases = []
    for row in rows:
        try:
            releases.append(load(row, context.clock))
        except Exception as error:  # noqa: BLE001  one release must not stop the others
            log_error(logger, f"release {row['id']} can't be read", error)
    return releases
