"""Changes of silence, and the service's own signal about them."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sigservice.clock import format_iso, format_optional
from sigservice.services.identity import SYSTEM
from sigservice.services.signals.state_signals import StateSignal
from sigservice.services.system.events import Event

STATUSES = {"late": "pending", "down": "firing", "up": "resolved"}


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

    @property
    def is_alert(self) -> bool:
        """Whether an alert begins or ends; a late endpoint that is up again had none."""
        return "down" in (self.state, self.old_state)


def build_signal(change: Change) -> StateSignal:
    """The service's own signal, in the form of an alert."""
    status = STATUSES[change.state]
    return StateSignal(change.endpoint_id, "silence", status, change.state, _build_data(change))


def build_event(change: Change) -> Event:
    """The event for integrations and the audit log: silence is recorded like an alert rule."""
    last = format_optional(change.last_signal_at)
    came = f"the last one came at {last}." if last else "none ever came."
    reason = f"No signal came in time: {came}"
    if change.state == "up":
        reason = "A signal came, or the rule was changed or removed."
    data = {
        "ruleId": None,
        "ruleName": f"{change.endpoint_name} (silence)",
        "source": "silence",
        "value": change.silent_seconds,
        "limit": None,
        "samples": None,
        "from": last,
        "to": format_iso(change.at),
        "reason": reason,
        "url": f"/admin/signals/{change.endpoint_id}/log",
    }
    return Event(f"alert-rule-{STATUSES[change.state]}", SYSTEM, {"data": data})


def _build_data(change: Change) -> dict[str, Any]:
    return {
        "key": change.key,
        "endpoint": change.endpoint_name,
        "lastSignalAt": format_optional(change.last_signal_at),
        "expectedAt": format_optional(change.expected_at),
        "silentSeconds": change.silent_seconds,
    }
