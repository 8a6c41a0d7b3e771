"""Grafana Alerting: a webhook contact point sends Alertmanager's format with a few more fields."""

from typing import Any

_LABELS = {"alertname": "Checkout errors", "grafana_folder": "shop", "team": "payments"}
_ALERT: dict[str, Any] = {
    "status": "firing",
    "labels": _LABELS,
    "annotations": {"summary": "More than 2 % of the checkouts fail"},
    "startsAt": "2026-11-21T12:44:10Z",
    "endsAt": "0001-01-01T00:00:00Z",
    "values": {"A": 0.031, "C": 1},
    "generatorURL": "https://grafana.example.org/alerting/grafana/fdz1kq7/view",
    "fingerprint": "c6eadffa33fcdf37",
    "silenceURL": "https://grafana.example.org/alerting/silence/new",
    "dashboardURL": "",
    "panelURL": "",
}
FIRING: dict[str, Any] = {
    "receiver": "sigservice",
    "status": "firing",
    "orgId": 1,
    "alerts": [_ALERT],
    "groupLabels": {"alertname": "Checkout errors", "grafana_folder": "shop"},
    "commonLabels": _LABELS,
    "commonAnnotations": {"summary": "More than 2 % of the checkouts fail"},
    "externalURL": "https://grafana.example.org/",
    "version": "1",
    "groupKey": '{}:{alertname="Checkout errors", grafana_folder="shop"}',
    "truncatedAlerts": 0,
    "title": "[FIRING:1] Checkout errors shop (payments)",
    "state": "alerting",
    "message": "**Firing**",
}
RESOLVED = FIRING | {
    "status": "resolved",
    "alerts": [_ALERT | {"status": "resolved", "endsAt": "2026-11-21T12:52:40Z"}],
    "title": "[RESOLVED] Checkout errors shop (payments)",
    "state": "ok",
    "message": "**Resolved**",
}
SETUP = """\
Alerting, Contact points, Add contact point:

  Integration                           Webhook
  URL                                   ENDPOINT_URL
  HTTP Method                           POST
  Authorization Header - Scheme         Bearer
  Authorization Header - Credentials    SIGNAL_TOKEN
  Max Alerts                            50
  Disable resolved message              off

Leave the fields of Basic Authentication empty. Instead of the token, Grafana 12 can sign: create a
signature token with the scheme grafana, and enter its secret and the header names of
docs/senders/grafana.md under HMAC Signature. Name the contact point in a notification policy;
its group wait is the delay before Grafana reports.

The button Test sends an alert named TestAlert. The second filter keeps it from switching flags:
try the set with its tester instead. Add filters for labels, such as alerts[*].labels.team.
"""
