"""Judges waiting signals and performs the runs that follow: at once, in the order of the signals.

Woken by the request that has stored a signal; otherwise it looks twice a second, for signals of
other processes, runs that a kill has cut off, and restoring that is due. Several processes may do
this at once: they take turns, since all begin with the oldest.

Nothing may stop the queue: what fails in a batch is done again alone, and what fails then is
recorded as failed, with the ID under which the log has the error. Only while the database is not
available everything waits.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sigservice.context import Context
from sigservice.db.pool import Connection
from sigservice.log import Logger, new_error_id, report
from sigservice.repository.actions import action_runs
from sigservice.services.actions import action_evaluation
from sigservice.services.actions import action_runs as service
from sigservice.services.actions.action_evaluation import EvaluationError, is_persistent_error
from sigservice.services.actions.action_runs import Step, Stuck

MOST_STEPS = 20  # that change nothing share a transaction
_WOKEN = {"signals": True, "runs": False, "restores": False}


def run_once(context: Context) -> int:
    """How many actions were performed. Routine, so the log is told nothing."""
    logger, total = context.get_logger("actions"), 0
    work: Mapping[str, Any] | None = _WOKEN if context.signals_waiting.is_set() else None
    context.signals_waiting.clear()
    while not context.stopping.is_set():
        if work is None:
            with context.database.autocommit() as conn:
                work = action_runs.find_work(conn)
        judged = performed = 0
        if work["signals"] or work["restores"]:
            judged, performed = _judge(context, logger, work)
        if judged or work["runs"]:
            performed += _perform_all(context, logger)
        if judged or performed:
            context.notifications_waiting.set()
        elif work is not _WOKEN:
            break
        total, work = total + performed, None
    return total


def run_quietly(context: Context) -> int:
    """For the job loop, which logs what is not 0."""
    run_once(context)
    return 0


def _judge(context: Context, logger: Logger, work: Mapping[str, Any]) -> tuple[int, int]:
    """How many signals were judged and restoring runs opened, and how many actions performed."""
    opened = 0
    if work["restores"]:
        with context.database.transaction(prepared=True) as conn:
            action_runs.lock(conn)
            opened = service.start_due(conn)
    for attempt in (_judge_and_begin, _judge_batch, _judge_singly):
        try:
            judged, performed = attempt(context, logger)
            return judged + opened, performed
        except Exception as error:
            if attempt is not _judge_and_begin and not is_persistent_error(error):
                raise
    return opened, 0


def _judge_and_begin(context: Context, logger: Logger) -> tuple[int, int]:
    """The first action shares the transaction: there is one commit less to wait for."""
    steps: list[Step] = []
    with context.database.transaction(prepared=True) as conn:
        action_runs.lock(conn)
        with context.telemetry.work.measure("Judge", "take"):
            judged, runs = context.evaluator.evaluate_batch(conn, logger)
        if runs:
            steps = _advance(conn, logger, since=0)
    _tell(context, logger, steps)
    return judged, len(steps)


def _judge_batch(
    context: Context, logger: Logger, limit: int = action_evaluation.BATCH
) -> tuple[int, int]:
    with context.database.transaction(prepared=True) as conn:
        action_runs.lock(conn)
        judged, _ = context.evaluator.evaluate_batch(conn, logger, limit)
    return judged, 0


def _judge_singly(context: Context, logger: Logger) -> tuple[int, int]:
    """A batch again, one signal at a time. One that fails twice in a row becomes a dead letter."""
    suspect = 0
    for judged in range(action_evaluation.BATCH):
        try:
            if context.stopping.is_set() or not _judge_batch(context, logger, 1)[0]:
                return judged, 0
        except EvaluationError as failure:
            if failure.signal_id == suspect:
                _dead_letter(context, logger, failure)
            suspect = failure.signal_id
    return action_evaluation.BATCH, 0


def _dead_letter(context: Context, logger: Logger, failure: EvaluationError) -> None:
    """This signal and no other: since it failed, another process may have evaluated it."""
    error_id = new_error_id()
    with context.database.transaction() as conn:
        action_runs.lock(conn)
        is_done = context.evaluator.dead_letter(conn, failure.signal_id, error_id)
    if is_done:
        what = f"signal {failure.signal_id} is a dead letter"
        report(logger, what, failure.cause, error_id)


def _perform_all(context: Context, logger: Logger) -> int:
    done = careful = since = 0
    while not context.stopping.is_set():
        steps: list[Step] = []
        try:
            with context.database.transaction(prepared=True) as conn:
                _advance(conn, logger, since=since, careful=bool(careful), steps=steps)
        except Stuck as stuck:
            error_id = report(logger, f"run {stuck.run_id} was given up", stuck.cause)
            with context.database.transaction() as conn:
                service.give_up(conn, stuck.run_id, error_id)
            steps = [Step(stuck.run_id, "", "failed", changed=False, failed=True)]
        except Exception as error:
            if careful or not is_persistent_error(error):
                raise
            careful = len(steps) + 1
            continue
        if not steps:
            break
        careful, since = max(0, careful - 1), steps[-1].run_id
        done += len(steps)
        _tell(context, logger, steps)
    return done


def _advance(
    conn: Connection,
    logger: Logger,
    *,
    since: int,
    careful: bool = False,
    steps: list[Step] | None = None,
) -> list[Step]:
    """Adds to `steps`: one that changes something, after some that don't."""
    steps = [] if steps is None else steps
    while len(steps) < (1 if careful else MOST_STEPS):
        step = service.advance(conn, logger, since=since, careful=careful)
        if step is None:
            break
        steps.append(step)
        if step.changed:
            break
        since = step.run_id
    return steps


def _tell(context: Context, logger: Logger, steps: list[Step]) -> None:
    for step in steps:
        context.telemetry.signals.count_action("failed" if step.failed else "success")
        if step.state != "started":
            context.telemetry.signals.count_run(step.state, step.reaction)
            logger.info("a run of project %s ended: %s", step.project, step.state)
