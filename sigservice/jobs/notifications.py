"""Sends what people are to be told: several channels at once, one message of a channel at a time.

Claimed in one transaction, sent in none, settled in another. A channel that is slow or dead holds
up nobody but itself. Killed in between, the claim runs out and the message is sent again, with the
same id.
"""

from __future__ import annotations

import queue
import threading
import time
from typing import NamedTuple

import msgspec

from sigservice.context import Context
from sigservice.db.statements import Row
from sigservice.errors import describe_fault
from sigservice.log import report
from sigservice.services.actions import notification_channels, notifications
from sigservice.services.actions.notification_channels import Outcome, Settings

AT_ONCE = 8
PATIENCE_SECONDS = 60.0  # then the attempt has failed, whatever it still does
_LOOK_AGAIN_SECONDS = 0.5


class _Sending(NamedTuple):
    row: Row
    until: float


def run_once(context: Context) -> int:
    """How many were settled, one way or another. Returns when none is due and none under way."""
    context.notifications_waiting.clear()
    settings = Settings.from_config(context.config)
    answers: queue.SimpleQueue[tuple[int, Outcome]] = queue.SimpleQueue()
    under_way: dict[int, _Sending] = {}
    done = 0
    while True:
        _start(context, settings, answers, under_way)
        if not under_way:
            return done
        for id, outcome in _wait(answers, under_way):
            _settle(context, under_way.pop(id).row, outcome)
            done += 1


def run_quietly(context: Context) -> int:
    """For the job loop, which logs what is not 0."""
    run_once(context)
    return 0


def _start(
    context: Context,
    settings: Settings,
    answers: queue.SimpleQueue[tuple[int, Outcome]],
    under_way: dict[int, _Sending],
) -> None:
    while len(under_way) < AT_ONCE and not context.stopping.is_set():
        busy = [sending.row["channel"] for sending in under_way.values()]
        with context.database.autocommit() as conn:
            row = notifications.claim(conn, context.clock.now(), busy)
        if row is None:
            return
        under_way[row["id"]] = _Sending(row, time.monotonic() + PATIENCE_SECONDS)
        # A thread of its own, not a pool's: those are waited for when the process ends.
        threading.Thread(
            target=_send, args=(context, settings, row, answers), name="notification", daemon=True
        ).start()


def _send(
    context: Context,
    settings: Settings,
    row: Row,
    answers: queue.SimpleQueue[tuple[int, Outcome]],
) -> None:
    try:
        now = context.clock.now()
        outcome = notification_channels.deliver(row, settings, context.sender, now)
    except Exception as error:  # noqa: BLE001  a bug must not leave the others waiting
        what = f"sending notification {row['id']} failed"
        outcome = Outcome(describe_fault(report(context.get_logger("notifications"), what, error)))
    answers.put((row["id"], outcome))


def _wait(
    answers: queue.SimpleQueue[tuple[int, Outcome]], under_way: dict[int, _Sending]
) -> list[tuple[int, Outcome]]:
    """What has come, or nothing after a moment: others may be due by then."""
    try:
        id, outcome = answers.get(timeout=_LOOK_AGAIN_SECONDS)
        return [(id, outcome)] if id in under_way else []
    except queue.Empty:
        late = [id for id, sending in under_way.items() if time.monotonic() > sending.until]
        text = f"There was no end to it within {PATIENCE_SECONDS:.0f} s."
        return [(id, Outcome(text)) for id in late]


def _settle(context: Context, row: Row, outcome: Outcome) -> None:
    kind = msgspec.json.decode(row["channel"])["type"]
    with context.database.autocommit() as conn:
        result = notifications.settle(conn, row, outcome, context.clock.now())
    context.telemetry.messages.count_notification(kind, "failed" if result == "waiting" else result)
    if result == "given up":
        logger = context.get_logger("notifications")
        logger.warn("notification %d (%s) is given up: %s", row["id"], kind, outcome.error)
