"""What rules on silence cost: the CPU time of an idle service with and without them.

usage: python bench/silence.py [seconds]
One service, measured without endpoints, then with 100 endpoints that a rule watches, half of them
with cron, and a signal each. The CPU times of the process and of its PostgreSQL are separate.
"""

import json
import os
import sys
import time
import urllib.request
from pathlib import Path

from processes import read_cpu_seconds, read_stat
from service import Service, run_service

ENDPOINTS = 100
RULES = (
    {"everySeconds": 86_400, "graceSeconds": 600},
    {"cron": "30 2 * * *", "timezone": "Europe/Berlin", "graceSeconds": 600},
)
ROWS = ("process", "PostgreSQL")


def main(seconds: float) -> bool:
    """Whether the target is met."""
    with run_service(
        SERVICE_SIGNAL_ENDPOINTS_LIMIT=str(ENDPOINTS), SERVICE_ALERT_RULES_LIMIT=str(ENDPOINTS)
    ) as service:
        time.sleep(10)  # the work of the start
        before = measure_idle(service, seconds)
        create_endpoints(service)
        time.sleep(10)
        assert count_checked(service) == ENDPOINTS
        after = measure_idle(service, seconds)
    print(f"load of the machine: {os.getloadavg()[0]:.1f}; {seconds:.0f} s each")
    print(f"{'percent of a core':18} {'no rules':>9} {f'{ENDPOINTS} rules':>9} {'rules cost':>11}")
    for name, without, with_rules in zip(ROWS, before, after, strict=True):
        print(f"{name:18} {without:9.2f} {with_rules:9.2f} {with_rules - without:11.2f}")
    cost = sum(after) - sum(before)
    print(f"together {cost:.2f}% of a core; target: less than 1%")
    return cost < 1


def measure_idle(service: Service, seconds: float) -> tuple[float, float]:
    """Percent of a core: of the service's process, of its PostgreSQL."""
    postmaster = find_postmaster(service)
    starts = read_own_seconds(service.pid), read_cpu_seconds(postmaster)
    time.sleep(seconds)
    ends = read_own_seconds(service.pid), read_cpu_seconds(postmaster)
    own, database = (100 * (end - start) / seconds for start, end in zip(starts, ends, strict=True))
    return own, database


def find_postmaster(service: Service) -> int:
    (file,) = Path(service.data).rglob("postmaster.pid")
    return int(file.read_text().split()[0])


def read_own_seconds(pid: int) -> float:
    """Of the process without its descendants."""
    return sum(map(int, read_stat(pid)[11:13])) / os.sysconf("SC_CLK_TCK")


def create_endpoints(service: Service) -> None:
    """Each with a rule, a token and one signal."""
    for number in range(ENDPOINTS):
        name = f"silent-{number}"
        id = service.send("/api/admin/signal-endpoints", {"name": name})["id"]
        source = {"kind": "silence", "endpointId": id, **RULES[number % len(RULES)]}
        service.send("/api/admin/alert-rules", {"name": name, "source": source})
        path = f"/api/admin/signal-endpoints/{id}/tokens"
        token = service.send(path, {"name": "t"})["token"]
        request = urllib.request.Request(
            f"http://127.0.0.1:{service.port}/api/signal-endpoint/{name}",
            data=json.dumps({"number": number}).encode(),
            headers={"Authorization": f"Bearer {token}", "Content-Type": "application/json"},
        )
        urllib.request.urlopen(request).close()


def count_checked(service: Service) -> int:
    """How many rules are ok, which the job has evaluated."""
    return sum(
        rule["state"] == "ok" for rule in service.send("/api/admin/alert-rules")["alertRules"]
    )


if __name__ == "__main__":
    sys.exit(0 if main(float(sys.argv[1]) if len(sys.argv) > 1 else 70.0) else 1)
