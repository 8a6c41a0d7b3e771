"""Scripts, and systems with a configurable payload."""

from typing import Any

_DATA = {"status": "firing", "key": "checkout-errors", "title": "5% of the checkouts fail"}
FIRING: dict[str, Any] = {"type": "alert", "data": _DATA}
RESOLVED: dict[str, Any] = {"type": "alert", "data": _DATA | {"status": "resolved"}}
SETUP = """\
When something starts to fail:

curl --fail-with-body --silent --show-error --retry 5 --max-time 10 \\
  -X POST ENDPOINT_URL \\
  -H 'Authorization: Bearer SIGNAL_TOKEN' \\
  -H 'Content-Type: application/json' \\
  -d '{"type": "alert", "data": {"status": "firing", "key": "checkout-errors"}}'

When it is resolved, send the same with "status": "resolved" and the same key. The key is any text
that both share and that differs for independent failures. Both fields are a convention of this
template: change the paths in the filter and in "Revert when resolved" to the fields of your system.
"""
