"""Telling people: a message is written with the run that it tells of, and sent by a job.

At least once: whoever sends one has claimed it for a while; after a kill it is sent again.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import msgspec

from sigservice.clock import format_iso
from sigservice.db.pool import Connection
from sigservice.db.statements import Row
from sigservice.errors import ConflictError, NotFoundError
from sigservice.repository.actions import notifications
from sigservice.services import outbox
from sigservice.services.actions import action_sets
from sigservice.services.actions.action_channels import masked
from sigservice.services.actions.notification_channels import Outcome
from sigservice.services.identity import Identity
from sigservice.services.system import events

MOST_ATTEMPTS = 10
CLAIM = timedelta(minutes=3)  # longer than any attempt takes
SHOWN = 50


def enqueue(conn: Connection, run_ids: list[int]) -> None:
    """For runs that have ended, or were suppressed."""
    if run_ids:
        notifications.insert_of_runs(conn, run_ids)


def claim(conn: Connection, now: datetime, busy: list[str]) -> Row | None:
    """The next to send, nobody else's for a while; `busy` are channels that wait for an answer."""
    return notifications.claim(conn, now=now, until=now + CLAIM, busy=busy)


def settle(conn: Connection, row: Row, outcome: Outcome, now: datetime) -> str:
    """Notes what became of an attempt: sent, waiting or given up."""
    result = "waiting" if outcome.error else "sent"
    if outcome.error and (outcome.is_final or row["attempts"] >= MOST_ATTEMPTS):
        result = "given up"
    notifications.settle(
        conn,
        row["id"],
        attempts=row["attempts"],
        result=result,
        error=outcome.error[:500] or None,
        due_at=now + max(outbox.draw_retry_delay(row["attempts"]), outcome.pause),
        now=now,
    )
    return result


def list_of_set(conn: Connection, project: str, set_id: int) -> list[Row]:
    """The newest. Raises NotFoundError."""
    action_sets.get(conn, project, set_id)
    return notifications.list_newest(conn, set_id, limit=SHOWN)


def retry(conn: Connection, project: str, set_id: int, id: int, by: Identity) -> Row:
    """Makes one due at once. Raises NotFoundError, ConflictError for one that is sent."""
    _get(conn, project, set_id, id)
    if not notifications.retry(conn, id):
        raise ConflictError("This notification has been sent.")
    events.record(
        conn, "actions-notification-retried", by, data={"notificationId": id}, project=project
    )
    return _get(conn, project, set_id, id)


def to_json(row: Row) -> dict[str, Any]:
    """One on the wire, its channel without what is secret in it."""
    channel = msgspec.json.decode(row["channel"])
    state = outbox.describe_state(row)
    return {
        "id": row["id"],
        "runId": row["run_id"],
        "runState": row["run_state"],
        "channel": {"type": channel["type"], **masked(channel)},
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
        raise NotFoundError("There is no such notification.")
    return row
