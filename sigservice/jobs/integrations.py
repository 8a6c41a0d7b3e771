"""Sends events to the receivers of integrations, in order: a thread for each integration that has
something to send, so that a slow receiver delays no other.

A thread leases the next deliveries of its integration, and sends one after the other. The result of
each is stored before the next one is sent. After a kill the lease expires and what was not stored
is sent again with the same ID.
"""

import threading
import time

from sigservice.context import Context
from sigservice.db.statements import Row
from sigservice.errors import describe_fault
from sigservice.log import log_error
from sigservice.outgoing.post import HttpConnection
from sigservice.repository.integrations import integrations as integration_rows
from sigservice.services.deliveries import DeliveryResult
from sigservice.services.integrations import integration_delivery, integrations
from sigservice.services.integrations.integration_delivery import Attempt, Settings

MAX_LEASED = 50
# A delivery that starts later could end after its lease.
_MAX_BATCH_SECONDS = 4.0


def run_once(context: Context) -> None:
    """Starts a sender for each integration whose next delivery is due."""
    now, busy = context.clock.now(), list(context.integration_senders)
    with context.database.autocommit() as conn:
        ids = integration_rows.lease_queues(conn, now=now, owner=context.process_id, busy=busy)
    for id in ids:
        context.integration_senders.add(id)
        # Not a thread of a pool: the process would wait for it at its end.
        thread = threading.Thread(
            target=_send_in_order, args=(context, id), name="integration", daemon=True
        )
        try:
            thread.start()
        except RuntimeError:  # at the system's limit of threads; the next run tries again
            context.integration_senders.discard(id)
            raise


def _list_next(context: Context, id: int) -> list[Row]:
    now, owner = context.clock.now(), context.process_id
    with context.database.autocommit() as conn:
        return integration_rows.list_next(conn, id, now=now, owner=owner, limit=MAX_LEASED)


def _send_in_order(context: Context, id: int) -> None:
    """Until nothing is due. An error of the database ends it: the next run continues."""
    try:
        with HttpConnection() as connection:
            while not context.stopping.is_set() and (rows := _list_next(context, id)):
                if _send_batch(context, rows, connection) and len(rows) < MAX_LEASED:
                    break
        with context.database.autocommit() as conn:
            integration_rows.release_queue(conn, id, owner=context.process_id)
    except Exception as error:  # noqa: BLE001  the next run continues
        if not context.stopping.is_set():
            logger = context.get_logger("integrations")
            log_error(logger, f"sending to integration {id} failed", error)
    finally:
        context.integration_senders.discard(id)


def _send_batch(context: Context, rows: list[Row], connection: HttpConnection) -> bool:
    """Whether all were sent: it ends early if one has to wait, the time is over, or the integration
    was changed."""
    settings = Settings.from_config(context.config, context.encryption, context.mail_server)
    ends_at = time.monotonic() + _MAX_BATCH_SECONDS
    for row in rows:
        attempt = _deliver(context, row, settings, connection)
        can_continue = not attempt.is_unfinished and _settle(context, row, attempt)
        if not can_continue or context.stopping.is_set() or time.monotonic() > ends_at:
            return False
    return True


def _deliver(context: Context, row: Row, settings: Settings, connection: HttpConnection) -> Attempt:
    def save(attempt: Attempt) -> bool:
        with context.database.autocommit(is_write=True) as conn:
            _, version = integration_delivery.settle(conn, row, attempt, context.clock.now())
        return version == row["version"] and not context.stopping.is_set()

    try:
        return integration_delivery.deliver(row, settings, context.clock.now(), connection, save)
    except Exception as error:  # noqa: BLE001  a bug must not block the queue
        logger = context.get_logger("integrations")
        error_id = log_error(logger, f"delivery {row['id']} failed", error)
        return Attempt(DeliveryResult(describe_fault(error_id)))


def _settle(context: Context, row: Row, attempt: Attempt) -> bool:
    """Whether the next delivery of the same lease can follow."""
    with context.database.autocommit(is_write=True) as conn:
        state, version = integration_delivery.settle(conn, row, attempt, context.clock.now())
    result = "failed" if state == "waiting" else state
    context.telemetry.deliveries.count_integration(row["provider"], result)
    logger = context.get_logger("integrations")
    if state == "given up":
        logger.warn("delivery %d was given up: %s", row["id"], attempt.result.error)
    elif state == "waiting":
        logger.info("delivery %d is tried again later: %s", row["id"], attempt.result.error)
    if attempt.is_gone:
        with context.database.transaction() as conn:
            integrations.disable(
                conn, row["subject_id"], integration_delivery.GONE_REASON, version=row["version"]
            )
    return state != "waiting" and not attempt.is_gone and version == row["version"]
