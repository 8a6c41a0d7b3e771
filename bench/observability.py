"""Metrics and request log, compared with a service without them.

usage: python bench/observability.py [seconds]
Two services on one database get the same requests in turn; the log goes to a file. The ratios of
requests per second and of CPU time per request are the medians of the rounds.
"""

import os
import statistics
import sys
import tempfile

from load import build_get, measure_load
from processes import read_cpu_seconds
from seed import seed_flags
from service import CLIENT, TOKEN, Service, run_service

ROUNDS = 25
CONNECTIONS = 16


def main(seconds: float) -> None:
    with (
        tempfile.TemporaryFile() as log,
        run_service() as owner,  # of the database, which slows a process down a little
        run_service(
            stderr=log, REQUEST_LOGGER_ENABLE="true", SERVICE_DATA_DIR=owner.data
        ) as observed,
        run_service("bench/service_unobserved.py", SERVICE_DATA_DIR=owner.data) as unobserved,
    ):
        seed_flags(observed)
        etag, _ = observed.fetch_features()
        sdk = {
            "Authorization": CLIENT,
            "Unleash-Client-Spec": "5.1.9",
            "Unleash-AppName": "bench",
            "User-Agent": "bench",
        }
        requests = {
            "/health": build_get("/health", {}),
            "304": build_get("/api/client/features", sdk | {"If-None-Match": etag}),
            "whole body": build_get("/api/client/features", sdk),
            "projects": build_get("/api/admin/projects", {"Authorization": TOKEN}),
        }
        print(f"load of the machine: {os.getloadavg()[0]:.1f}")
        print(f"{'request':12} {'off req/s':>10} {'on req/s':>10} {'ratio':>6} {'of CPU':>7}")
        for kind, request in requests.items():
            rounds = [
                {
                    service.pid: measure_round(service, request, seconds)
                    for service in ((observed, unobserved) if n % 2 else (unobserved, observed))
                }
                for n in range(ROUNDS)
            ]
            rates, costs = (
                {
                    service.pid: [results[service.pid][what] for results in rounds]
                    for service in (observed, unobserved)
                }
                for what in (0, 1)
            )
            print(
                f"{kind:12} {statistics.median(rates[unobserved.pid]):10.0f} "
                f"{statistics.median(rates[observed.pid]):10.0f} "
                f"{find_median_ratio(rates[observed.pid], rates[unobserved.pid]):6.2f} "
                f"{find_median_ratio(costs[unobserved.pid], costs[observed.pid]):7.2f}"
            )
        print("target: at least 0.90")


def measure_round(service: Service, request: bytes, seconds: float) -> tuple[float, float]:
    """Requests per second, and CPU time of the service per request: other work on the machine
    affects it less."""
    before = read_cpu_seconds(service.pid)
    result = measure_load(service.port, [request], CONNECTIONS, seconds)
    assert not result["errors"]
    cpu_seconds = read_cpu_seconds(service.pid) - before
    return result["rate"], cpu_seconds / result["requests"]


def find_median_ratio(numerators: list[float], denominators: list[float]) -> float:
    return statistics.median(a / b for a, b in zip(numerators, denominators, strict=True))


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 0.4)
