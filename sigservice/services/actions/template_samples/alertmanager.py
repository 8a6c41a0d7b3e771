"""Prometheus Alertmanager: one notification per group of alerts, version 4 of the format."""

from typing import Any

_LABELS = {"alertname": "HighErrorRate", "service": "shop", "severity": "critical"}
_ALERT: dict[str, Any] = {
    "status": "firing",
    "labels": _LABELS,
    "annotations": {"summary": "5 % of the requests fail"},
    "startsAt": "2026-11-21T12:44:16Z",
    "endsAt": "0001-01-01T00:00:00Z",
    "generatorURL": "http://prometheus.example.org:9090/graph",
    "fingerprint": "caabbd059ced5a11",
}
FIRING: dict[str, Any] = {
    "version": "4",
    "groupKey": '{}:{alertname="HighErrorRate"}',
    "truncatedAlerts": 0,
    "status": "firing",
    "receiver": "sigservice",
    "groupLabels": {"alertname": "HighErrorRate"},
    "commonLabels": _LABELS,
    "commonAnnotations": {"summary": "5 % of the requests fail"},
    "externalURL": "http://alertmanager.example.org:9093",
    "alerts": [_ALERT],
}
RESOLVED = FIRING | {
    "status": "resolved",
    "alerts": [_ALERT | {"status": "resolved", "endsAt": "2026-11-21T12:52:46Z"}],
}
SETUP = """\
In alertmanager.yml:

receivers:
  - name: sigservice
    webhook_configs:
      - url: ENDPOINT_URL
        send_resolved: true
        max_alerts: 50
        http_config:
          authorization:
            credentials: SIGNAL_TOKEN

Name the receiver in a route, with a group_by that puts together what shall switch together, and a
group_wait as short as you want the reaction: Alertmanager waits that long before it reports.

Add filters for labels, such as commonLabels.service or alerts[*].labels.severity. A label stands
in commonLabels only when all alerts of the group have it with the same value.
"""
