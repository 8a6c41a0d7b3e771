"""Notifications are stored with their run and sent by a job.

Delivery is at least once: a sender claims a notification for a while, and another one sends it
again if the first is killed.
"""

from datetime import datetime
from typing import Any

import msgspec

from sigservice.clock import format_iso
from sigservice.db.pool import Connection
from sigservice.db.statements import Row
from sigservice.errors import ConflictError, NotFoundError
from sigservice.outgoing.sender import Sender
from sigservice.repository.actions import notifications
from sigservice.services import channel_delivery, outbox
from sigservice.services.actions import action_sets
from sigservice.services.actions.notification_text import build_payload, render_text
from sigservice.services.channel_delivery import DeliveryResult, DeliverySettings, Message
from sigservice.services.channels import mask_channel
from sigservice.services.identity import Identity
from sigservice.services.system import events

MAX_LISTED = 50


def enqueue(conn: Connection, run_ids: list[int]) -> None:
    """For runs that ended or were suppressed."""
    if run_ids:
        notifications.insert_of_runs(conn, run_ids)


def claim(conn: Connection, now: datetime, busy: list[str]) -> Row | None:
    """Claims the next notification for outbox.CLAIM_DURATION; `busy` are channels with one in
    progress."""
    return notifications.claim(conn, now=now, until=now + outbox.CLAIM_DURATION, busy=busy)


def deliver(row: Row, settings: DeliverySettings, sender: Sender, now: datetime) -> DeliveryResult:
    """Sends a claimed notification. Takes long, so call it without a transaction."""
    if row["run_id"] is None:
        return DeliveryResult("The run was deleted.", is_final=True)
    message = Message(
        f"msg_{row['id']}_{int(row['created_at'].timestamp() * 1000)}",
        build_payload(row, settings.public_url),
        render_text(row, settings.public_url),
    )
    return channel_delivery.deliver(row["channel"], message, settings, sender, now)


def settle(conn: Connection, row: Row, outcome: DeliveryResult, now: datetime) -> str:
    """Stores and returns the result of an attempt: sent, waiting or given up."""
    attempt = outbox.describe_attempt(row, outcome, now)
    notifications.settle(conn, row["id"], **attempt)
    return str(attempt["result"])


def list_of_set(conn: Connection, project: str, set_id: int) -> list[Row]:
    """The newest notifications. Raises NotFoundError."""
    action_sets.get(conn, project, set_id)
    return notifications.list_newest(conn, set_id, limit=MAX_LISTED)


def retry(conn: Connection, project: str, set_id: int, id: int, by: Identity) -> Row:
    """Makes a notification due now. Raises NotFoundError, ConflictError for a sent one."""
    _get(conn, project, set_id, id)
    if not notifications.retry(conn, id):
        raise ConflictError("This notification was already sent.")
    events.record(
        conn, "actions-notification-retried", by, data={"notificationId": id}, project=project
    )
    return _get(conn, project, set_id, id)


def to_json(row: Row) -> dict[str, Any]:
    """The JSON of a notification, with a masked channel."""
    channel = msgspec.json.decode(row["channel"])
    state = outbox.describe_state(row)
    return {
        "id": row["id"],
        "runId": row["run_id"],
        "runState": row["run_state"],
        "channel": {"type": channel["type"], **mask_channel(channel)},
        "state": state,
        "attempts": row["attempts"],
        "lastError": row["last_error"],
        "createdAt": format_iso(row["created_at"]),
        "dueAt": format_iso(row["due_at"]) if state == "waiting" and row["attempts"] else None,
        "sentAt": format_iso(row["sent_at"]) if row["sent_at"] else None,
        "givenUpAt": format_iso(row["given_up_at"]) if row["given_up_at"] else None,
    }


def _get(conn: Connection, project: str, set_id: int, id: int) -> Row:
    action_sets.get(conn, project, set_id)
    row = notifications.find(conn, set_id, id)
    if row is None:
        raise NotFoundError("Notification not found.")
    return row
