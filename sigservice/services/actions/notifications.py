"""Notifications of runs: messages of the outbox that are stored with their run."""

from typing import Any

import msgspec

from sigservice.clock import format_iso, format_optional
from sigservice.db import Connection, Row
from sigservice.errors import ConflictError, require_found
from sigservice.repository import outbox as message_rows
from sigservice.repository.actions import notifications
from sigservice.services import outbox
from sigservice.services.actions import action_sets
from sigservice.services.actions.notification_text import build_payload, render_text
from sigservice.services.channel_delivery import Message
from sigservice.services.channels import mask_channel
from sigservice.services.identity import Identity
from sigservice.services.system import events

KIND = "run"  # in the outbox
MAX_LISTED = 50


def enqueue(conn: Connection, run_ids: list[int]) -> None:
    """Queues the notifications of runs that ended or were suppressed."""
    if run_ids:
        notifications.insert_of_runs(conn, run_ids)


def make_message(message: Row, run: Row, public_url: str) -> Message:
    """The message that a row of the outbox sends."""
    payload, text = build_payload(run, public_url), render_text(run, public_url)
    return Message(message["message_id"], payload, text)


def list_of_set(conn: Connection, project: str, set_id: int) -> list[Row]:
    """The newest notifications. Raises NotFoundError."""
    action_sets.get(conn, project, set_id)
    return notifications.list_newest(conn, set_id, limit=MAX_LISTED)


def retry(conn: Connection, project: str, set_id: int, id: int, by: Identity) -> Row:
    """Makes a notification due now. Raises NotFoundError, ConflictError for a sent one."""
    name = action_sets.get(conn, project, set_id)["name"]
    _get(conn, project, set_id, id)
    if not message_rows.retry(conn, id):
        raise ConflictError("This notification was already sent.")
    data = {"notificationId": id, "actionSetName": name}
    events.record(conn, "actions-notification-retried", by, data=data, project=project)
    return _get(conn, project, set_id, id)


def to_json(row: Row) -> dict[str, Any]:
    """The JSON of a notification, with a masked channel."""
    channel = msgspec.json.decode(row["target"])
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
        "sentAt": format_optional(row["sent_at"]),
        "givenUpAt": format_optional(row["given_up_at"]),
    }


def _get(conn: Connection, project: str, set_id: int, id: int) -> Row:
    action_sets.get(conn, project, set_id)
    return require_found(notifications.find(conn, set_id, id), "Notification not found.")
