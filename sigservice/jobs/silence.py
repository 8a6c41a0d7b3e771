"""Checks the endpoints that expect signals. Each process runs it; the one that gets the lock of the
clock does the work, in one transaction, so a kill at any time repeats or completes it."""

from sigservice.context import Context
from sigservice.repository.signals import silence_checks
from sigservice.services.signals import silence_checks as service


def run_once(context: Context) -> None:
    try:
        _check(context)
    except Exception:
        context.silence_clock.note_failure()
        raise


def _check(context: Context) -> None:
    with context.database.autocommit() as conn:
        if not silence_checks.has_work(conn):
            return
    now, monotonic = context.clock.now(), context.clock.monotonic()
    with context.database.transaction() as conn:
        moment = context.silence_clock.look(conn, now, monotonic)
        changes = service.check_all(conn, moment) if moment else []
    if moment:
        context.silence_clock.remember(moment, monotonic)
    if changes:
        context.signals_waiting.set()
    logger = context.get_logger("silence")
    for change in changes:
        log = logger.warn if change.state == "down" else logger.info
        log("signal endpoint %s is %s", change.endpoint_name, change.state)
