"""Sends notifications of runs and of silence: to several channels at once, one at a time for each
channel.

Each is claimed in one transaction, sent outside of any, and settled in another. A slow channel
doesn't delay others. After a kill the claim expires and the notification is sent again with the
same ID.
"""

import queue
import threading
import time
from datetime import datetime
from typing import NamedTuple, Protocol

import msgspec

from sigservice.context import Context
from sigservice.db.pool import Connection
from sigservice.db.statements import Row
from sigservice.errors import describe_fault
from sigservice.log import log_error
from sigservice.outgoing.sender import Sender
from sigservice.services.actions import notifications
from sigservice.services.channel_delivery import DeliveryResult, DeliverySettings
from sigservice.services.signals import silence_notifications

MAX_CONCURRENT = 8
TIMEOUT_SECONDS = 60.0  # then the attempt has failed, even if it continues
_POLL_SECONDS = 0.5


class _Outbox(Protocol):
    """A module that stores notifications of one kind."""

    def claim(self, conn: Connection, now: datetime, busy: list[str]) -> Row | None: ...

    def deliver(
        self, row: Row, settings: DeliverySettings, sender: Sender, now: datetime
    ) -> DeliveryResult: ...

    def settle(self, conn: Connection, row: Row, outcome: DeliveryResult, now: datetime) -> str: ...


_OUTBOXES: tuple[_Outbox, ...] = (notifications, silence_notifications)
_Key = tuple[int, int]  # the index of the outbox, the ID of the notification


class _Attempt(NamedTuple):
    row: Row
    deadline: float


_Results = queue.SimpleQueue[tuple[_Key, DeliveryResult]]


def run_once(context: Context) -> int:
    """Returns the number of settled notifications when none is due or in progress."""
    context.notifications_waiting.clear()
    settings = DeliverySettings.from_config(context.config)
    results: _Results = queue.SimpleQueue()
    attempts: dict[_Key, _Attempt] = {}
    settled = 0
    while True:
        _start(context, settings, results, attempts)
        if not attempts:
            return settled
        for key, outcome in _wait(results, attempts):
            _settle(context, _OUTBOXES[key[0]], attempts.pop(key).row, outcome)
            settled += 1


def run_quietly(context: Context) -> int:
    """For the job loop, which logs what is not 0."""
    run_once(context)
    return 0


def _start(
    context: Context,
    settings: DeliverySettings,
    results: _Results,
    attempts: dict[_Key, _Attempt],
) -> None:
    while len(attempts) < MAX_CONCURRENT and not context.stopping.is_set():
        busy = [attempt.row["channel"] for attempt in attempts.values()]
        claimed = _claim(context, busy)
        if claimed is None:
            return
        key, row = claimed
        attempts[key] = _Attempt(row, time.monotonic() + TIMEOUT_SECONDS)
        # Not a thread of a pool: the process would wait for it at its end.
        arguments = (context, settings, key, row, results)
        threading.Thread(target=_send, args=arguments, name="notification", daemon=True).start()


def _claim(context: Context, busy: list[str]) -> tuple[_Key, Row] | None:
    for index, outbox in enumerate(_OUTBOXES):
        with context.database.autocommit() as conn:
            row = outbox.claim(conn, context.clock.now(), busy)
        if row is not None:
            return (index, row["id"]), row
    return None


def _send(
    context: Context,
    settings: DeliverySettings,
    key: _Key,
    row: Row,
    results: _Results,
) -> None:
    try:
        now = context.clock.now()
        outcome = _OUTBOXES[key[0]].deliver(row, settings, context.sender, now)
    except Exception as error:  # noqa: BLE001  a bug must not block the others
        what = f"sending notification {row['id']} failed"
        outcome = DeliveryResult(
            describe_fault(log_error(context.get_logger("notifications"), what, error))
        )
    results.put((key, outcome))


def _wait(results: _Results, attempts: dict[_Key, _Attempt]) -> list[tuple[_Key, DeliveryResult]]:
    """The next result, those that timed out, or none after a moment: others may be due by then."""
    try:
        key, outcome = results.get(timeout=_POLL_SECONDS)
        return [(key, outcome)] if key in attempts else []
    except queue.Empty:
        now, text = time.monotonic(), f"No result within {TIMEOUT_SECONDS:.0f} s."
        late = [key for key, attempt in attempts.items() if now > attempt.deadline]
        return [(key, DeliveryResult(text)) for key in late]


def _settle(context: Context, outbox: _Outbox, row: Row, outcome: DeliveryResult) -> None:
    type = msgspec.json.decode(row["channel"])["type"]
    with context.database.autocommit() as conn:
        result = outbox.settle(conn, row, outcome, context.clock.now())
    metric_result = "failed" if result == "waiting" else result
    context.telemetry.deliveries.count_notification(type, metric_result)
    if result == "given up":
        logger = context.get_logger("notifications")
        logger.warn("notification %d (%s) was given up: %s", row["id"], type, outcome.error)
