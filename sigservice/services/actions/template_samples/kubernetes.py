"""Kubernetes: events of the core API (v1), sent by kubectl and curl."""

from typing import Any

FIRING: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Event",
    "metadata": {
        "name": "shop-7d9c6b8f4-x2x7p.17a9c0ffee5d2f10",
        "namespace": "shop",
        "uid": "5a1f6a44-3f2c-4d1e-8b56-0c6a8c2f9a3b",
        "resourceVersion": "8812345",
        "creationTimestamp": "2026-11-21T12:41:10Z",
    },
    "involvedObject": {
        "apiVersion": "v1",
        "kind": "Pod",
        "name": "shop-7d9c6b8f4-x2x7p",
        "namespace": "shop",
        "uid": "a3c8f1c0-5d39-4e0c-a5f7-9f6f6f1f2d11",
    },
    "type": "Warning",
    "reason": "BackOff",
    "message": "Back-off restarting failed container shop in pod shop-7d9c6b8f4-x2x7p",
    "count": 7,
    "firstTimestamp": "2026-11-21T12:41:10Z",
    "lastTimestamp": "2026-11-21T12:44:10Z",
    "source": {"component": "kubelet", "host": "node-3"},
    "reportingComponent": "kubelet",
    "reportingInstance": "node-3",
}
RESOLVED: dict[str, Any] | None = None  # no event reports that a warning is over
SETUP = """\
On a machine with kubectl, or in a pod whose service account may list and watch events:

kubectl get events -A --watch-only -o json --field-selector type=Warning |
  jq -c --unbuffered . | while read -r event; do
    printf %s "$event" | curl --fail-with-body --silent --show-error --retry 5 --max-time 10 \\
      -X POST ENDPOINT_URL \\
      -H 'Authorization: Bearer SIGNAL_TOKEN' \\
      -H 'Content-Type: application/json' --data-binary @-
  done

Add filters for involvedObject.namespace and involvedObject.name (STR_STARTS_WITH). Kubernetes
reports no recovery: the changes are reverted after an hour. Change that in "Auto-revert after".
"""
