"""Sends events to the receivers of integrations, in order: a thread for each integration that has
something to send, so that a slow receiver delays no other.

A delivery is claimed in one transaction, sent outside of any, and settled in another. After a kill
the claim expires and the delivery is sent again with the same ID.
"""

import threading
import time

from sigservice.context import Context
from sigservice.db.statements import Row
from sigservice.errors import describe_fault
from sigservice.log import log_error
from sigservice.repository.actions import integrations as integration_rows
from sigservice.services import outbox
from sigservice.services.actions import integration_delivery, integrations
from sigservice.services.actions.integration_delivery import CLAIM_DURATION, Outcome, Settings
from sigservice.services.channel_delivery import DeliveryResult

# While changes are made, senders use at most this part of the time of a processor, so that a burst
# of changes takes as long as without integrations.
_BUSY_SHARE = 0.01
_MAX_PAUSE_SECONDS = 1.5


def run_once(context: Context) -> int:
    """Starts a sender for each integration whose next delivery is due; returns 0."""
    for row in _claim(context, busy=list(context.integration_senders)):
        context.integration_senders.add(row["subject_id"])
        # Not a thread of a pool: the process would wait for it at its end.
        threading.Thread(
            target=_send_in_order, args=(context, row), name="integration", daemon=True
        ).start()
    return 0


def _claim(context: Context, *, id: int | None = None, busy: list[int]) -> list[Row]:
    now = context.clock.now()
    with context.database.autocommit() as conn:
        return integration_rows.claim(conn, now=now, until=now + CLAIM_DURATION, id=id, busy=busy)


def _send_in_order(context: Context, row: Row) -> None:
    """Until nothing is due. An error of the database ends it: the claim expires."""
    id, rows = row["subject_id"], [row]
    try:
        while rows:
            started_at = time.thread_time()
            outcome = _deliver(context, rows[0])
            _settle(context, rows[0], outcome)
            if rows[0]["is_busy"]:
                cpu_seconds = time.thread_time() - started_at
                pause = cpu_seconds * len(context.integration_senders) / _BUSY_SHARE
                context.stopping.wait(min(pause, _MAX_PAUSE_SECONDS))
            rows = [] if context.stopping.is_set() else _claim(context, id=id, busy=[])
    except Exception as error:  # noqa: BLE001  the next run continues
        if not context.stopping.is_set():
            logger = context.get_logger("integrations")
            log_error(logger, f"sending to integration {id} failed", error)
    finally:
        context.integration_senders.discard(id)


def _deliver(context: Context, row: Row) -> Outcome:
    settings = Settings.from_config(context.config, context.encryption)
    try:
        return integration_delivery.deliver(row, settings, context.clock.now())
    except Exception as error:  # noqa: BLE001  a bug must not block the queue
        logger = context.get_logger("integrations")
        error_id = log_error(logger, f"delivery {row['id']} failed", error)
        return Outcome(DeliveryResult(describe_fault(error_id)), {})


def _settle(context: Context, row: Row, outcome: Outcome) -> None:
    with context.database.autocommit() as conn:
        now, payload = context.clock.now(), outcome.payload
        state = outbox.settle(conn, row, outcome.result, now, payload)
    result = "failed" if state == "waiting" else state
    context.telemetry.deliveries.count_integration(row["provider"], result)
    logger = context.get_logger("integrations")
    if state == "given up":
        logger.warn("delivery %d was given up: %s", row["id"], outcome.result.error)
    elif state == "waiting":
        logger.info("delivery %d is tried again later: %s", row["id"], outcome.result.error)
    if outcome.is_gone:
        with context.database.transaction() as conn:
            reason = "The receiver responded with status 410: it wants no further events."
            integrations.disable(conn, row["subject_id"], reason)
