"""Uptime Kuma: the notification type Webhook with the preset application/json."""

from typing import Any

_HEARTBEAT: dict[str, Any] = {
    "monitorID": 29,
    "status": 0,
    "time": "2026-11-21 12:44:10.262",
    "msg": "Request failed with status code 502",
    "important": True,
    "duration": 60,
    "retries": 2,
    "timezone": "Europe/Berlin",
    "timezoneOffset": "+01:00",
    "localDateTime": "2026-11-21 13:44:10",
}
FIRING: dict[str, Any] = {
    "heartbeat": _HEARTBEAT,
    "monitor": {
        "id": 29,
        "name": "Checkout",
        "type": "http",
        "url": "https://shop.example.org/checkout/health",
        "interval": 60,
        "maxretries": 2,
        "active": True,
        "tags": [],
    },
    "msg": "[Checkout] [🔴 Down] Request failed with status code 502",
}
RESOLVED: dict[str, Any] = FIRING | {
    "heartbeat": _HEARTBEAT
    | {
        "status": 1,
        "time": "2026-11-21 12:52:40.118",
        "msg": "200 - OK",
        "ping": 81,
        "localDateTime": "2026-11-21 13:52:40",
    },
    "msg": "[Checkout] [✅ Up] 200 - OK",
}
SETUP = """\
Settings, Notifications, Setup Notification:

  Notification Type    Webhook
  Post URL             ENDPOINT_URL
  Request Body         Preset - application/json
  Additional Headers   {"Authorization": "Bearer SIGNAL_TOKEN"}

Select the notification in each monitor that shall report. The status is 0 (down), 1 (up), 2
(pending) or 3 (maintenance). Add a filter for monitor.name. The button Test sends a signal without
heartbeat, which no filter matches.
"""
