"""Changes of silence: the service's own signal, and the texts of notifications."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec

from sigservice.clock import format_iso, format_optional
from sigservice.db import Row
from sigservice.services.apprise_channels import Text
from sigservice.services.channel_delivery import Message
from sigservice.services.signals.silence_rules import SilenceChannel
from sigservice.services.signals.state_signals import StateSignal

KIND = "silence"  # in the outbox
STATUSES = {"late": "pending", "down": "firing", "up": "resolved"}
_SEVERITIES = {"late": "warning", "down": "failure", "up": "success"}


@dataclass(frozen=True)
class Change:
    """`state` is late, down or up; `key` is the same from late or down until up."""

    endpoint_id: int
    endpoint_name: str
    state: str
    old_state: str
    key: str
    at: datetime
    last_signal_at: datetime | None
    expected_at: datetime | None
    silent_seconds: int
    channels: list[SilenceChannel]

    def list_channels(self) -> list[SilenceChannel]:
        """The channels to notify: for `up`, only channels that were notified of the old state."""
        expected = {self.state, self.old_state} if self.state == "up" else {self.state}
        return [channel for channel in self.channels if expected <= {*channel.on}]


def build_signal(change: Change) -> StateSignal:
    """The service's own signal, in the form of an alert."""
    status = STATUSES[change.state]
    return StateSignal(change.endpoint_id, "silence", status, change.state, _build_data(change))


def build_content(change: Change, signal_id: int) -> dict[str, Any]:
    """The stored content of a notification: all of it, because the endpoint may be deleted."""
    return {
        "state": change.state,
        "timestamp": format_iso(change.at),
        "data": {
            **_build_data(change),
            "endpointId": change.endpoint_id,
            "status": STATUSES[change.state],
            "state": change.state,
            "signalId": signal_id,
        },
    }


def make_message(row: Row, public_url: str) -> Message:
    """The message that a row of the outbox sends."""
    content = msgspec.json.decode(row["payload"])
    payload, text = build_payload(content, public_url), render_text(content, public_url)
    return Message(row["message_id"], payload, text)


def build_payload(message: Mapping[str, Any], public_url: str) -> dict[str, Any]:
    """The JSON of a webhook."""
    return {
        "type": f"signal-endpoint.silence.{message['state']}",
        "timestamp": message["timestamp"],
        "data": message["data"]
        | {"url": _make_url(message, public_url), "text": _make_title(message)},
    }


def render_text(message: Mapping[str, Any], public_url: str) -> Text:
    """The text for chats and emails. It has a link only if SERVICE_URL is configured."""
    data = message["data"]
    lines = []
    if data["lastSignalAt"]:
        lines.append(f"Last signal: {data['lastSignalAt']}")
    if data["expectedAt"]:
        label = "Next expected" if message["state"] == "up" else "Expected"
        lines.append(f"{label}: {data['expectedAt']}")
    lines.append(f"Silence: {data['silentSeconds']} seconds")
    if url := _make_url(message, public_url):
        lines.append(f"Signals: {url}")
    return Text(_make_title(message), "\n".join(lines), _SEVERITIES[message["state"]])


def _build_data(change: Change) -> dict[str, Any]:
    return {
        "key": change.key,
        "endpoint": change.endpoint_name,
        "lastSignalAt": format_optional(change.last_signal_at),
        "expectedAt": format_optional(change.expected_at),
        "silentSeconds": change.silent_seconds,
    }


def _make_title(message: Mapping[str, Any]) -> str:
    words = {"late": "is late", "down": "is down", "up": "is up again"}[message["state"]]
    return f"Signal endpoint {message['data']['endpoint']} {words}"


def _make_url(message: Mapping[str, Any], public_url: str) -> str | None:
    path = f"/admin/signals/{message['data']['endpointId']}/log"
    return public_url + path if public_url else None
