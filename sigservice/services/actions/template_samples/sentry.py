"""Sentry: issue webhooks of an internal integration."""

from typing import Any

_ISSUE: dict[str, Any] = {
    "id": "1170820242",
    "shortId": "SHOP-2K",
    "title": "PaymentError: the gateway does not answer",
    "culprit": "shop.checkout in pay",
    "level": "error",
    "status": "unresolved",
    "substatus": "new",
    "statusDetails": {},
    "platform": "python",
    "type": "error",
    "metadata": {"type": "PaymentError", "value": "the gateway does not answer"},
    "project": {"id": "1", "name": "shop", "slug": "shop", "platform": "python"},
    "count": "1",
    "userCount": 1,
    "firstSeen": "2026-11-21T12:44:10.000000Z",
    "lastSeen": "2026-11-21T12:44:10.000000Z",
    "isUnhandled": True,
    "url": "https://sentry.io/api/0/organizations/example/issues/1170820242/",
    "web_url": "https://example.sentry.io/issues/1170820242/",
    "project_url": "https://example.sentry.io/issues/?project=1",
}
FIRING: dict[str, Any] = {
    "action": "created",
    "actor": {"id": "sentry", "name": "Sentry", "type": "application"},
    "data": {"issue": _ISSUE},
    "installation": {"uuid": "a8e5d37a-696c-4c54-adb5-b3f28d64c7de"},
}
RESOLVED: dict[str, Any] = FIRING | {
    "action": "resolved",
    "actor": {"id": 7, "name": "Ada", "type": "user"},
    "data": {"issue": _ISSUE | {"status": "resolved", "substatus": None}},
}
SETUP = """\
Settings, Custom Integrations, Create New Integration, Internal Integration:

  Webhook URL    ENDPOINT_URL, which Sentry must reach from outside
  Permissions    Issue & Event: Read
  Webhooks       issue

Sentry creates the Client Secret. Create a signature token with the scheme sentry and this secret.

Add filters for data.issue.project.slug, data.issue.metadata.type or data.issue.title: without
them every new error switches. An issue is resolved when a user or a release resolves it in
Sentry.

For metric alerts instead: filter action IN critical, resolved when action is resolved, and
data.metric_alert.id as what ties the two.
"""
