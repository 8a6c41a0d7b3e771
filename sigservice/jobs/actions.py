"""Judges waiting signals and performs the runs that follow: at once, in the order of the signals.

Woken by the request that has stored a signal; otherwise it looks twice a second, for signals of
other processes, runs that a kill has cut off, and restoring that is due. Several processes may do
this at once: each transaction takes the same lock, so they take turns.
"""

from __future__ import annotations

from sigservice.context import Context
from sigservice.repository import action_runs
from sigservice.services import action_runs as service

MOST_AT_ONCE = 2_000  # then the thread looks whether it is to stop


def run_once(context: Context) -> int:
    """How many actions were performed. Routine, so the log is told nothing."""
    context.signals_waiting.clear()
    done = 0
    while done < MOST_AT_ONCE and not context.stopping.is_set():
        with context.database.autocommit() as conn:
            if not action_runs.has_work(conn):
                break
        with context.database.transaction() as conn:
            action_runs.lock(conn)
            service.start_due(conn)
            _, runs = context.judge.take(conn)
        performed = _perform_all(context)
        done += performed
        if runs or performed:
            context.notifications_waiting.set()
    return done


def _perform_all(context: Context) -> int:
    logger, done = context.get_logger("actions"), 0
    while not context.stopping.is_set():
        with context.database.transaction() as conn:
            action_runs.lock(conn)
            step = service.advance(conn, logger)
        if step is None:
            break
        done += 1
        if step.state != "started":
            context.telemetry.run_ended(step.state, step.reaction)
            logger.info("a run of project %s ended: %s", step.project, step.state)
    return done


def run_quietly(context: Context) -> int:
    """For the job loop, which logs what is not 0."""
    run_once(context)
    return 0
