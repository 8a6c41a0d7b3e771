"""Notifications of alert rules: integrations, chosen by their names, get the changes of a state.
They are queued in the transaction of the change."""

from collections.abc import Sequence
from typing import Any, Literal

import msgspec

from sigservice.db import Connection, Row
from sigservice.outgoing.addresses import AddressPolicy
from sigservice.repository import outbox
from sigservice.services.apprise_channels import Text
from sigservice.services.channel_delivery import Message
from sigservice.services.channels import INTEGRATION, Channel, check_channels
from sigservice.services.problems import Problems
from sigservice.services.signals.state_signals import StateSignal

KIND = "alert-rule"  # in the outbox
TITLES = {"firing": "is firing", "resolved": "is resolved", "unknown": "is unknown"}
_SEVERITIES = {"firing": "failure", "resolved": "success", "unknown": "warning"}


class RuleChannel(Channel, omit_defaults=True, kw_only=True):
    """An integration that is notified of changes to one of the states `on`."""

    on: list[Literal["firing", "resolved", "unknown"]]


def read_channels(row: Row) -> list[RuleChannel]:
    return msgspec.json.decode(row["notifications"], type=list[RuleChannel])


def check(conn: Connection, channels: Sequence[RuleChannel], problems: Problems) -> None:
    """Adds to `problems`. The integrations stay until the end of the transaction."""
    check_channels(conn, channels, "notifications", problems, AddressPolicy())
    for index, channel in enumerate(channels):
        if channel.type != INTEGRATION:
            problems.add(f"notifications[{index}].type", "An alert rule notifies integrations.")


def queue(conn: Connection, changes: Sequence[tuple[Row, StateSignal]]) -> None:
    """Queues the notifications of the rules about their signals."""
    items = [
        {
            "kind": KIND,
            "subject_id": row["id"],
            "target": channel,
            "payload": _build_content(row, signal),
        }
        for row, signal in changes
        for channel in read_channels(row)
        if signal.status in channel.on
    ]
    if items:
        outbox.insert_many(conn, items)


def make_message(row: Row, public_url: str) -> Message:
    """The message that a row of the outbox sends."""
    content = msgspec.json.decode(row["payload"])
    data, status = content["data"], content["state"]
    title = f"Alert rule {data['rule']} {TITLES[status]}"
    url = f"{public_url}/admin/alert-rules/{data['id']}" if public_url else None
    payload = {
        "type": f"alert-rule.{status}",
        "timestamp": content["timestamp"],
        "data": data | {"url": url, "text": title},
    }
    lines = [data["reason"], *([f"Alert rule: {url}"] if url else [])]
    return Message(row["message_id"], payload, Text(title, "\n".join(lines), _SEVERITIES[status]))


def _build_content(row: Row, signal: StateSignal) -> dict[str, Any]:
    """Everything that is sent, because the rule may be deleted meanwhile."""
    data = {"id": row["id"], "status": signal.status, "state": signal.state, **signal.data}
    return {"state": signal.status, "timestamp": signal.data["to"], "data": data}
