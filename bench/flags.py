"""Polls of SDKs, compared with a response of two bytes from the same server.

usage: python bench/flags.py [seconds]
Prints requests per second for 304 and for whole bodies of 100 flags, at 1 and 16 connections, and
how long the body of 1 000 flags with 3 strategies each takes to build and to import.
"""

from __future__ import annotations

import statistics
import sys
import time

from load import build_get, measure_load
from service import run_service

ROUNDS = 5
PROJECT = "/api/admin/projects/default"


def main(seconds: float) -> None:
    with run_service("bench/service_with_baseline.py") as service:
        token = create_client_token(service)
        import_flags(service, 100, strategies=1)
        etag, body = service.fetch_features(token)
        print(f"100 flags: {len(body)} bytes")
        spec = {"Authorization": token, "Unleash-Client-Spec": "5.1.9"}
        requests = {
            "2 bytes": build_get("/bench/two", {}),
            "304": build_get("/api/client/features", spec | {"If-None-Match": etag}),
            "whole body": build_get("/api/client/features", spec),
            "whole body, gzip": build_get(
                "/api/client/features", spec | {"Accept-Encoding": "gzip"}
            ),
        }
        print(f"{'request':18} {'conns':>5} {'req/s':>8} {'p50 ms':>8} {'p99 ms':>8} ratio")
        for connections in (1, 16):
            rounds = {kind: [] for kind in requests}
            for _ in range(ROUNDS):
                for kind, request in requests.items():
                    rounds[kind].append(measure_load(service.port, request, connections, seconds))
            rates = {}
            for kind, results in rounds.items():
                medians = {
                    name: statistics.median(result[name] for result in results)
                    for name in ("rate", "p50", "p99")
                }
                rates[kind] = medians["rate"]
                print(
                    f"{kind:18} {connections:5} {medians['rate']:8.0f} {medians['p50']:8.2f} "
                    f"{medians['p99']:8.2f} {medians['rate'] / rates['2 bytes']:5.2f}"
                )
        print("targets: 304 at least 0.5, whole body at least 0.4")
        started_at = time.perf_counter()
        import_flags(service, 1000, strategies=3, prefix="many")
        print(f"import of 1000 flags with 3 strategies: {time.perf_counter() - started_at:.1f} s")
        times = []
        for n in range(7):
            state = "on" if n % 2 else "off"
            service.send(f"{PROJECT}/features/f-0/environments/development/{state}", {})
            started_at = time.perf_counter()
            service.fetch_features(token)
            times.append(1000 * (time.perf_counter() - started_at))
        print(
            f"body of 1100 flags after a change: {statistics.median(times):.0f} ms, socket included"
        )
        print("targets: import under 20 s, body under 50 ms")


def create_client_token(service) -> str:
    body = {"tokenName": "bench", "type": "client", "environment": "development"}
    return service.send("/api/admin/api-tokens", body)["secret"]


def import_flags(service, count: int, strategies: int, prefix: str = "f") -> None:
    """Creates flags through the import route, in one request."""
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
    service.send("/api/admin/features-batch/import", body)


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 2.0)
