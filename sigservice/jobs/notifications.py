"""Sends notifications: to several channels at once, one at a time for each channel.

Each is claimed in one transaction, sent outside of any, and settled in another. A slow channel
doesn't delay others. After a kill the claim expires and the notification is sent again with the
same ID.
"""

import queue
import threading
import time
from typing import NamedTuple

import msgspec

from sigservice.context import Context
from sigservice.db.statements import Row
from sigservice.errors import describe_fault
from sigservice.log import log_error
from sigservice.services.actions import notification_channels, notifications
from sigservice.services.actions.notification_channels import DeliveryResult, DeliverySettings

MAX_CONCURRENT = 8
TIMEOUT_SECONDS = 60.0  # then the attempt has failed, even if it continues
_POLL_SECONDS = 0.5


class _Attempt(NamedTuple):
    row: Row
    deadline: float


def run_once(context: Context) -> int:
    """Returns the number of settled notifications when none is due or in progress."""
    context.notifications_waiting.clear()
    settings = DeliverySettings.from_config(context.config)
    results: queue.SimpleQueue[tuple[int, DeliveryResult]] = queue.SimpleQueue()
    attempts: dict[int, _Attempt] = {}
    settled = 0
    while True:
        _start(context, settings, results, attempts)
        if not attempts:
            return settled
        for id, outcome in _wait(results, attempts):
            _settle(context, attempts.pop(id).row, outcome)
            settled += 1


def run_quietly(context: Context) -> int:
    """For the job loop, which logs what is not 0."""
    run_once(context)
    return 0


def _start(
    context: Context,
    settings: DeliverySettings,
    results: queue.SimpleQueue[tuple[int, DeliveryResult]],
    attempts: dict[int, _Attempt],
) -> None:
    while len(attempts) < MAX_CONCURRENT and not context.stopping.is_set():
        busy = [attempt.row["channel"] for attempt in attempts.values()]
        with context.database.autocommit() as conn:
            row = notifications.claim(conn, context.clock.now(), busy)
        if row is None:
            return
        attempts[row["id"]] = _Attempt(row, time.monotonic() + TIMEOUT_SECONDS)
        # Not a thread of a pool: the process would wait for it at its end.
        threading.Thread(
            target=_send, args=(context, settings, row, results), name="notification", daemon=True
        ).start()


def _send(
    context: Context,
    settings: DeliverySettings,
    row: Row,
    results: queue.SimpleQueue[tuple[int, DeliveryResult]],
) -> None:
    try:
        now = context.clock.now()
        outcome = notification_channels.deliver_notification(row, settings, context.sender, now)
    except Exception as error:  # noqa: BLE001  a bug must not block the others
        what = f"sending notification {row['id']} failed"
        outcome = DeliveryResult(
            describe_fault(log_error(context.get_logger("notifications"), what, error))
        )
    results.put((row["id"], outcome))


def _wait(
    results: queue.SimpleQueue[tuple[int, DeliveryResult]], attempts: dict[int, _Attempt]
) -> list[tuple[int, DeliveryResult]]:
    """The next result, those that timed out, or none after a moment: others may be due by then."""
    try:
        id, outcome = results.get(timeout=_POLL_SECONDS)
        return [(id, outcome)] if id in attempts else []
    except queue.Empty:
        now, text = time.monotonic(), f"No result within {TIMEOUT_SECONDS:.0f} s."
        late = [id for id, attempt in attempts.items() if now > attempt.deadline]
        return [(id, DeliveryResult(text)) for id in late]


def _settle(context: Context, row: Row, outcome: DeliveryResult) -> None:
    type = msgspec.json.decode(row["channel"])["type"]
    with context.database.autocommit() as conn:
        result = notifications.settle(conn, row, outcome, context.clock.now())
    metric_result = "failed" if result == "waiting" else result
    context.telemetry.deliveries.count_notification(type, metric_result)
    if result == "given up":
        logger = context.get_logger("notifications")
        logger.warn("notification %d (%s) was given up: %s", row["id"], type, outcome.error)
