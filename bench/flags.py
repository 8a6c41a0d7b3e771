"""What polling flags costs, against the same server answering two bytes.

usage: python bench/flags.py [seconds]
Prints requests a second for 304 and for whole bodies of 100 flags, at 1 and 16 connections, and
how long the body of 1 000 flags with 3 strategies each takes to build and to import.
"""

from __future__ import annotations

import statistics
import sys
import time

from load import get, measure
from service import running

ROUNDS = 5
PROJECT = "/api/admin/projects/default"


def main(seconds: float) -> None:
    with running("bench/service_with_baseline.py") as service:
        token = client_token(service)
        import_flags(service, 100, strategies=1)
        etag, body = service.features(token)
        print(f"100 flags: {len(body)} bytes")
        spec = {"Authorization": token, "Unleash-Client-Spec": "5.1.9"}
        kinds = {
            "2 bytes": get("/bench/two", {}),
            "304": get("/api/client/features", spec | {"If-None-Match": etag}),
            "whole body": get("/api/client/features", spec),
            "whole body, gzip": get("/api/client/features", spec | {"Accept-Encoding": "gzip"}),
        }
        print(f"{'request':18} {'conns':>5} {'req/s':>8} {'p50 ms':>8} {'p99 ms':>8} ratio")
        for connections in (1, 16):
            rounds = {kind: [] for kind in kinds}
            for _ in range(ROUNDS):
                for kind, request in kinds.items():
                    rounds[kind].append(measure(service.port, request, connections, seconds))
            rates = {}
            for kind, results in rounds.items():
                middle = {
                    name: statistics.median(result[name] for result in results)
                    for name in ("rate", "p50", "p99")
                }
                rates[kind] = middle["rate"]
                print(
                    f"{kind:18} {connections:5} {middle['rate']:8.0f} {middle['p50']:8.2f} "
                    f"{middle['p99']:8.2f} {middle['rate'] / rates['2 bytes']:5.2f}"
                )
        print("targets: 304 at least 0.5, whole body at least 0.4")
        began = time.perf_counter()
        import_flags(service, 1000, strategies=3, prefix="many")
        print(f"import of 1000 flags with 3 strategies: {time.perf_counter() - began:.1f} s")
        times = []
        for n in range(7):
            state = "on" if n % 2 else "off"
            service.call(f"{PROJECT}/features/f-0/environments/development/{state}", {})
            began = time.perf_counter()
            service.features(token)
            times.append(1000 * (time.perf_counter() - began))
        print(
            f"body of 1100 flags after a change: {statistics.median(times):.0f} ms, socket included"
        )
        print("targets: import under 20 s, body under 50 ms")


def client_token(service) -> str:
    body = {"tokenName": "bench", "type": "client", "environment": "development"}
    return service.call("/api/admin/api-tokens", body)["secret"]


def import_flags(service, count: int, strategies: int, prefix: str = "f") -> None:
    """Through the public import, in one request."""
    names = [f"{prefix}-{n}" for n in range(count)]
    constraint = {"contextName": "country", "operator": "IN", "values": ["de", "fr", "no"]}
    data = {
        "features": [{"name": name, "type": "release"} for name in names],
        "featureStrategies": [
            {
                "name": "flexibleRollout",
                "featureName": name,
                "parameters": {"rollout": "50", "stickiness": "default", "groupId": name},
                "constraints": [constraint],
            }
            for name in names
            for _ in range(strategies)
        ],
        "featureEnvironments": [
            {"name": name, "featureName": name, "enabled": True, "environment": "development"}
            for name in names
        ],
        "contextFields": [],
        "featureTags": [],
        "segments": [],
        "tagTypes": [],
    }
    body = {"project": "default", "environment": "development", "data": data}
    service.call("/api/admin/features-batch/import", body)


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 2.0)
