"""Evaluates queued signals and performs their runs, in the order of the signals.

The request that stores a signal wakes this job. It also runs for signals of other processes,
interrupted runs, due auto-reverts and due schedules (`find_due_work`). One process evaluates at a
time (`action_runs.lock`), because each begins with the oldest signal.

No signal and no action stops the queue: a failed batch is repeated signal by signal, and one that
fails again is stored as failed, with the ID of the logged error. Errors of the database that have
another cause are raised, and logged by the runner; the next run begins with the same signals.
"""

from collections.abc import Mapping
from typing import Any

from sigservice.context import Context
from sigservice.log import Logger, log_error, new_error_id
from sigservice.repository.actions import action_runs
from sigservice.services.actions import action_evaluation, run_batches, scheduled_runs
from sigservice.services.actions import action_runs as run_service
from sigservice.services.actions.action_alerts import EvaluatedSignal
from sigservice.services.actions.action_evaluation import EvaluationError, is_persistent_error
from sigservice.services.actions.run_batches import PerformedAction, RunError
from sigservice.services.releases.release_signals import evaluate_guards
from sigservice.services.system import emergency

_ONLY_SIGNALS = {"signals": True, "runs": False, "reverts": False, "schedules": False}


def run_once(context: Context) -> int:
    """Returns the number of performed actions."""
    logger, total = context.get_logger("actions"), 0
    work: Mapping[str, Any] | None = _ONLY_SIGNALS if context.signals_waiting.is_set() else None
    context.signals_waiting.clear()
    while not context.stopping.is_set():
        if work is None:
            with context.database.autocommit() as conn:
                work = action_runs.find_pending_work(conn, context.clock.fixed_now)
        evaluated = performed = 0
        try:
            if work["signals"] or work["reverts"] or work["schedules"]:
                evaluated, performed = _evaluate(context, logger, work)
        finally:  # runs that have started don't wait for signals that can't be evaluated
            if work["runs"]:
                performed += _perform_all(context, logger)
        if not (evaluated or performed) and work is not _ONLY_SIGNALS:
            break
        total, work = total + performed, None
    return total


def _evaluate(context: Context, logger: Logger, work: Mapping[str, Any]) -> tuple[int, int]:
    """(evaluated signals and started runs that a clock triggers, performed actions)."""
    started = 0
    if work["reverts"] or work["schedules"]:
        now = context.clock.fixed_now
        with context.database.transaction(prepared=True) as conn:
            action_runs.lock(conn)
            is_paused = emergency.read(conn, context.clock.now()).paused is not None
            started = 0 if is_paused else run_service.start_due_reverts(conn, now)
            started += scheduled_runs.start_due_runs(conn, context.evaluator, logger, now)
    for performs in (True, False):
        try:
            evaluated, performed = _evaluate_batch(context, logger, performs=performs)
            break
        except Exception as error:  # the next attempt raises it again, and it is logged
            if not performs and not is_persistent_error(error):
                raise
    else:
        evaluated, performed = _evaluate_singly(context, logger)
    return evaluated + started, performed


def _evaluate_batch(
    context: Context,
    logger: Logger,
    limit: int = action_evaluation.BATCH,
    *,
    performs: bool = False,
) -> tuple[int, int]:
    """`performs` performs the first batch of actions in the same transaction, which saves a
    commit."""
    performed_actions: list[PerformedAction] = []
    signals: list[EvaluatedSignal] = []
    with context.database.transaction(prepared=True) as conn:
        action_runs.lock(conn)
        with context.telemetry.internals.measure("Evaluator", "evaluate_batch"):
            evaluated, runs = context.evaluator.evaluate_batch(
                conn, logger, limit, evaluated=signals
            )
        if runs and performs:
            run_batches.perform_batch(conn, logger, performed_actions)
        # Last, because it locks revisions: performing runs locks the runs first, then revisions.
        evaluate_guards(conn, logger, context.clock, signals)
    _record_performed(context, logger, performed_actions)
    return evaluated, len(performed_actions)


def _evaluate_singly(context: Context, logger: Logger) -> tuple[int, int]:
    """One signal at a time. A signal that fails twice in a row becomes a dead letter."""
    failed_id = 0
    for count in range(action_evaluation.BATCH):
        try:
            if context.stopping.is_set() or not _evaluate_batch(context, logger, 1)[0]:
                return count, 0
        except EvaluationError as failure:
            if failure.signal_id == failed_id:
                _store_dead_letter(context, logger, failure)
            failed_id = failure.signal_id
    return action_evaluation.BATCH, 0


def _store_dead_letter(context: Context, logger: Logger, failure: EvaluationError) -> None:
    """Another process may have evaluated the signal since it failed; then this does nothing."""
    error_id = new_error_id()
    with context.database.transaction() as conn:
        action_runs.lock(conn)
        is_dead = context.evaluator.store_dead_letter(conn, failure.signal_id, error_id)
        if is_dead:
            evaluate_guards(conn, logger, context.clock, failure.signals)
    if is_dead:
        log_error(logger, f"signal {failure.signal_id} is a dead letter", failure.cause, error_id)


def _perform_all(context: Context, logger: Logger) -> int:
    performed = alone_count = since = 0  # alone_count: how many actions are performed alone
    while not context.stopping.is_set():
        performed_actions: list[PerformedAction] = []
        try:
            with context.database.transaction(prepared=True) as conn:
                run_batches.perform_batch(
                    conn, logger, performed_actions, since=since, is_alone=bool(alone_count)
                )
        except RunError as failure:
            error_id = log_error(logger, f"run {failure.run_id} failed", failure.cause)
            with context.database.transaction() as conn:
                run_service.fail_run(conn, failure.run_id, error_id)
            performed_actions = [PerformedAction(failure.run_id, "", "failed", is_failed=True)]
        except Exception as error:
            if alone_count or not is_persistent_error(error):
                raise
            alone_count = len(performed_actions) + 1
            continue
        if not performed_actions:
            break
        alone_count, since = max(0, alone_count - 1), performed_actions[-1].run_id
        performed += len(performed_actions)
        _record_performed(context, logger, performed_actions)
    return performed


def _record_performed(
    context: Context, logger: Logger, performed_actions: list[PerformedAction]
) -> None:
    for action in performed_actions:
        context.telemetry.signals.count_action("failed" if action.is_failed else "success")
        if action.state != "started":
            context.telemetry.signals.count_run(action.state, action.reaction_seconds)
            logger.info(
                "run %d of project %s ended: %s", action.run_id, action.project, action.state
            )
