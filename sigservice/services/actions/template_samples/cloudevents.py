"""CloudEvents 1.0, https://cloudevents.io. The service stores both modes of HTTP as one object."""

from typing import Any

FIRING: dict[str, Any] = {
    "specversion": "1.0",
    "id": "b7f2c1de-1f5c-4a0a-8d0a-2c4de0cb7e43",
    "source": "/monitoring/shop",
    "type": "org.example.check.failed",
    "subject": "checkout",
    "time": "2026-11-21T12:44:10.262Z",
    "datacontenttype": "application/json",
    "data": {"status": "failed", "title": "5% of the checkouts fail"},
}
RESOLVED: dict[str, Any] = FIRING | {
    "id": "0d5a2f3c-9a43-4f6c-b1f8-0d1f4c2f6a10",
    "type": "org.example.check.passed",
    "time": "2026-11-21T12:52:40.118Z",
    "data": {"status": "passed", "title": "All checkouts succeed"},
}
SETUP = """\
Send events in the structured mode (Content-Type: application/cloudevents+json) or in the binary
mode (attributes in headers). In the binary mode, for example:

curl --fail-with-body --silent --show-error --retry 5 --max-time 10 \\
  -X POST ENDPOINT_URL \\
  -H 'Authorization: Bearer SIGNAL_TOKEN' \\
  -H 'ce-specversion: 1.0' -H 'ce-id: 4711' -H 'ce-source: /monitoring/shop' \\
  -H 'ce-type: org.example.check.failed' -H 'ce-subject: checkout' \\
  -H 'Content-Type: application/json' -d '{"status": "failed"}'

A broker that can't set headers can have the token as password in the URL (Basic authentication).
Replace both types by those of your events, in the filter and in "Revert when resolved"; the subject
ties the two. Members of the data have paths such as data.status.
"""
