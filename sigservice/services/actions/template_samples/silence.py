"""The service's own signals about an endpoint that expects signals."""

from typing import Any

_DATA: dict[str, Any] = {
    "key": "silence/nightly-backup",
    "endpoint": "nightly-backup",
    "lastSignalAt": "2026-11-20T01:31:07.512Z",
    "expectedAt": "2026-11-21T01:30:00.000Z",
    "silentSeconds": 88134,
}
FIRING: dict[str, Any] = {"type": "silence", "status": "firing", "state": "down", "data": _DATA}
RESOLVED: dict[str, Any] = {
    "type": "silence",
    "status": "resolved",
    "state": "up",
    "data": _DATA
    | {
        "lastSignalAt": "2026-11-21T02:10:42.118Z",
        "expectedAt": "2026-11-22T01:30:00.000Z",
        "silentSeconds": 88776,
    },
}
SETUP = """\
No sender is needed. In the settings of the endpoint, set how often it expects a signal, or a cron
expression, and a grace time. When no signal arrives in time, the service stores a signal of its own
at this endpoint: "status" is "pending" when the endpoint is late, "firing" when it is down, and
"resolved" when a sender reports again.
"""
