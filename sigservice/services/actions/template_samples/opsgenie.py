"""Opsgenie and the operations of Jira Service Management: outgoing webhooks about alerts."""

from typing import Any

_ALERT: dict[str, Any] = {
    "alertId": "44f717bf-44bd-11c9-44c7-2d0cf1d07b23-1795265050262",
    "alias": "checkout-errors",
    "tinyId": "454",
    "message": "5% of the checkouts fail",
    "description": "The gateway does not answer",
    "entity": "shop",
    "priority": "P1",
    "tags": ["checkout", "production"],
    "teams": ["b9b2ef21-0b3a-4f0e-9d8c-9ce10ab2d1a5"],
    "details": {"region": "eu"},
    "source": "alertmanager",
    "username": "System",
    "createdAt": 1795265050262,
    "updatedAt": 1795265050262000101,
}
FIRING: dict[str, Any] = {
    "action": "Create",
    "alert": _ALERT,
    "source": {"name": "alertmanager", "type": "API"},
    "integrationId": "868be72a-8015-432e-8b23-c1f7f4374baa",
    "integrationName": "sigservice",
    "integrationType": "Webhook",
}
RESOLVED: dict[str, Any] = FIRING | {
    "action": "Close",
    "alert": _ALERT | {"updatedAt": 1795265560118000102},
}
SETUP = """\
Settings, Integrations, Add integration, Webhook (in Jira Service Management: Operations of the
project, Integrations):

  Webhook URL               ENDPOINT_URL
  Custom Headers            Authorization: Bearer SIGNAL_TOKEN
  Alert actions             Create, Close
  Add alert description     on
  Add alert details         on

Add filters for alert.priority, alert.tags[*], alert.entity or alert.source. alert.alertId is the
same until an alert is closed; alert.alias is used again by the next one.
"""
