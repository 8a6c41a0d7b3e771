"""PagerDuty: webhooks of version 3 about incidents."""

from typing import Any

_INCIDENT: dict[str, Any] = {
    "id": "Q2RT9ZKPM4XLVA",
    "type": "incident",
    "self": "https://api.pagerduty.com/incidents/Q2RT9ZKPM4XLVA",
    "html_url": "https://example.pagerduty.com/incidents/Q2RT9ZKPM4XLVA",
    "number": 42,
    "status": "triggered",
    "incident_key": "d3640fbd41094207a1c11e58e46b1662",
    "created_at": "2026-11-21T12:44:10Z",
    "title": "Checkouts fail",
    "service": {
        "id": "PF9KMXH",
        "type": "service_reference",
        "self": "https://api.pagerduty.com/services/PF9KMXH",
        "html_url": "https://example.pagerduty.com/services/PF9KMXH",
        "summary": "shop",
    },
    "assignees": [],
    "escalation_policy": {
        "id": "PUS0KTE",
        "type": "escalation_policy_reference",
        "summary": "Default",
    },
    "teams": [],
    "priority": {"id": "PSO75BM", "type": "priority_reference", "summary": "P1"},
    "urgency": "high",
    "conference_bridge": None,
    "resolve_reason": None,
}
_EVENT: dict[str, Any] = {
    "id": "01ELR7C7KMNZPX3QWJ9H2A4YTS",
    "event_type": "incident.triggered",
    "resource_type": "incident",
    "occurred_at": "2026-11-21T12:44:10.262Z",
    "agent": None,
    "client": None,
    "data": _INCIDENT,
}
FIRING: dict[str, Any] = {"event": _EVENT}
RESOLVED: dict[str, Any] = {
    "event": _EVENT
    | {
        "id": "01ELR7RXH8T2FB6MNCE5VQ0KJD",
        "event_type": "incident.resolved",
        "occurred_at": "2026-11-21T12:52:40.118Z",
        "data": _INCIDENT | {"status": "resolved"},
    }
}
SETUP = """\
Integrations, Generic Webhooks (v3), New Webhook:

  Webhook URL          ENDPOINT_URL, which PagerDuty must reach from outside
  Scope                the service whose incidents change flags
  Event Subscription   incident.triggered, incident.reopened, incident.resolved

PagerDuty then shows the signing secret once. Create a signature token with the scheme pagerduty and
this secret. Or add the Custom Header "Authorization: Bearer SIGNAL_TOKEN" instead.

Add filters for event.data.service.summary, event.data.priority.summary (missing for incidents
without a priority, and a missing value does not match) or event.data.urgency.
"""
