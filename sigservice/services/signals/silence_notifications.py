"""Notifications of silence are stored with the change and sent by the job `notifications`."""

from datetime import datetime

import msgspec

from sigservice.db.pool import Connection
from sigservice.db.statements import Row
from sigservice.outgoing.sender import Sender
from sigservice.repository.signals import silence_notifications
from sigservice.services import channel_delivery, outbox
from sigservice.services.channel_delivery import DeliveryResult, DeliverySettings, Message
from sigservice.services.signals.silence_changes import build_payload, render_text


def claim(conn: Connection, now: datetime, busy: list[str]) -> Row | None:
    """Claims the next notification for outbox.CLAIM_DURATION; `busy` are channels with one in
    progress."""
    until = now + outbox.CLAIM_DURATION
    return silence_notifications.claim(conn, now=now, until=until, busy=busy)


def deliver(row: Row, settings: DeliverySettings, sender: Sender, now: datetime) -> DeliveryResult:
    """Sends a claimed notification. Takes long, so call it without a transaction."""
    content = msgspec.json.decode(row["message"])
    message = Message(
        f"msg_silence_{row['id']}_{int(row['created_at'].timestamp() * 1000)}",
        build_payload(content, settings.public_url),
        render_text(content, settings.public_url),
    )
    return channel_delivery.deliver(row["channel"], message, settings, sender, now)


def settle(conn: Connection, row: Row, outcome: DeliveryResult, now: datetime) -> str:
    """Stores and returns the result of an attempt: sent, waiting or given up."""
    attempt = outbox.describe_attempt(row, outcome, now)
    silence_notifications.settle(conn, row["id"], **attempt)
    return str(attempt["result"])
