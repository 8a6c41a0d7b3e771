"""Datadog monitors: the payload follows the template of the webhook, which is part of the setup."""

from typing import Any

_DATA = {
    "id": "7245673456734567890",
    "transition": "Triggered",
    "cycle": "3286146520814722341",
    "monitor": "1234",
    "title": "[Triggered on {host:web-3}] Shop: error rate",
    "level": "error",
    "scope": "host:web-3",
    "tags": "host:web-3, monitor, service:shop",
    "date": "1795264996000",
    "link": "https://app.datadoghq.com/event/jump_to?event_id=1234567",
}
FIRING: dict[str, Any] = {"type": "datadog", "data": _DATA}
RESOLVED: dict[str, Any] = {
    "type": "datadog",
    "data": _DATA
    | {
        "id": "7245673466734567891",
        "transition": "Recovered",
        "title": "[Recovered on {host:web-3}] Shop: error rate",
        "level": "success",
        "date": "1795265506000",
    },
}
SETUP = """\
Integrations, Webhooks:

1. A custom variable SIGNAL_TOKEN with the token as its value; tick "hide from view".
2. A webhook named sigservice with the URL ENDPOINT_URL, which Datadog must reach from outside, and
   this payload:

{
  "type": "datadog",
  "data": {
    "id": "$ID",
    "transition": "$ALERT_TRANSITION",
    "cycle": "$ALERT_CYCLE_KEY",
    "monitor": "$ALERT_ID",
    "title": "$EVENT_TITLE",
    "level": "$ALERT_TYPE",
    "scope": "$ALERT_SCOPE",
    "tags": "$TAGS",
    "date": "$DATE",
    "link": "$LINK"
  }
}

3. Custom headers; leave "Encode as form" off:

{
  "Authorization": "Bearer $SIGNAL_TOKEN",
  "Content-Type": "application/json"
}

4. @webhook-sigservice in the message of each monitor that shall report.

Add a filter for data.monitor, the monitor's number, or for data.tags (STR_CONTAINS). The cycle is
the same from the beginning of an alert to its end. A warning is no reason to switch; add Warn and
No Data to the first filter if they shall be.
"""
