"""Healthchecks.io: the integration Webhook; the payload follows the template in the setup."""

from typing import Any

_DATA = {
    "status": "down",
    "check": "803f680d-e89b-492b-82ef-2be7b774a92d",
    "name": "Nightly backup",
    "tags": "backup production",
    "time": "2026-11-21T12:44:10+00:00",
}
FIRING: dict[str, Any] = {"type": "healthchecks", "data": _DATA}
RESOLVED: dict[str, Any] = FIRING | {
    "data": _DATA | {"status": "up", "time": "2026-11-21T12:52:40+00:00"}
}
SETUP = """\
Integrations, Webhook, Add Integration. The same values in both halves, "Execute when a check goes
down" and "Execute when a check goes up":

  HTTP method       POST
  URL               ENDPOINT_URL
  Request Headers   Authorization: Bearer SIGNAL_TOKEN
                    Content-Type: application/json
  Request Body      as follows

{
  "type": "healthchecks",
  "data": {
    "status": "$STATUS",
    "check": "$CODE",
    "name": $NAME_JSON,
    "tags": "$TAGS",
    "time": "$NOW"
  }
}

Add a filter for data.name or data.tags (STR_CONTAINS). The button Test! reports a check named TEST,
which the second filter excludes.
"""
