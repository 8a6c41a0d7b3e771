"""What metrics and the request log cost together, against a service that has neither.

usage: python bench/observability.py [seconds]
Two services on one database, the same requests in turn; the log goes to a file. The ratios, of
requests a second and of the processor's time for one, are the medians of the rounds.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile

from flags import client_token, import_flags
from load import get, measure
from service import Running, running

ROUNDS = 25
CONNECTIONS = 16


def main(seconds: float) -> None:
    with (
        tempfile.TemporaryFile() as log,
        running() as owner,  # of the database, which makes a process a little slower
        running(stderr=log, REQUEST_LOGGER_ENABLE="true", SERVICE_DATA_DIR=owner.data) as watched,
        running("bench/service_unobserved.py", SERVICE_DATA_DIR=owner.data) as unwatched,
    ):
        token = client_token(watched)
        import_flags(watched, 100, strategies=1)
        etag, _ = watched.features(token)
        sdk = {
            "Authorization": token,
            "Unleash-Client-Spec": "5.1.9",
            "Unleash-AppName": "bench",
            "User-Agent": "bench",
        }
        kinds = {
            "/health": get("/health", {}),
            "304": get("/api/client/features", sdk | {"If-None-Match": etag}),
            "whole body": get("/api/client/features", sdk),
            "projects": get("/api/admin/projects", {"Authorization": "*:*.bench"}),
        }
        print(f"load of the machine: {os.getloadavg()[0]:.1f}")
        print(f"{'request':12} {'off req/s':>10} {'on req/s':>10} {'ratio':>6} {'of CPU':>7}")
        for kind, request in kinds.items():
            rounds = [
                {
                    service.pid: one_round(service, request, seconds)
                    for service in ((watched, unwatched) if n % 2 else (unwatched, watched))
                }
                for n in range(ROUNDS)
            ]
            rates, costs = (
                {
                    service.pid: [results[service.pid][what] for results in rounds]
                    for service in (watched, unwatched)
                }
                for what in (0, 1)
            )
            print(
                f"{kind:12} {statistics.median(rates[unwatched.pid]):10.0f} "
                f"{statistics.median(rates[watched.pid]):10.0f} "
                f"{middle_ratio(rates[watched.pid], rates[unwatched.pid]):6.2f} "
                f"{middle_ratio(costs[unwatched.pid], costs[watched.pid]):7.2f}"
            )
        print("target: at least 0.90")


def one_round(service: Running, request: bytes, seconds: float) -> tuple[float, float]:
    """Requests a second, and seconds of the service's processor for each: the machine's other
    work takes less part in these."""
    before = processor_seconds(service.pid)
    found = measure(service.port, request, CONNECTIONS, seconds)
    assert not found["errors"]
    spent = processor_seconds(service.pid) - before
    return found["rate"], spent / (found["rate"] * seconds)


def processor_seconds(pid: int) -> float:
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rpartition(") ")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def middle_ratio(left: list[float], right: list[float]) -> float:
    return statistics.median(a / b for a, b in zip(left, right, strict=True))


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 0.4)
