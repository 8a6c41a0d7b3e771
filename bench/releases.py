"""What running releases cost: the CPU time of a service with 200 of them, each with two guards.

usage: python bench/releases.py [seconds]
One service with 1 000 series of impact metrics, measured without releases, then with 200 that stay
at their first step. Both guards of a release are ratios of five minutes, evaluated every 30 s.
"""

import sys
import time

from alert_rules import RULES, report
from service import Service, run_service
from silence import measure_idle

RELEASES, SERIES = 200, 1000
EVERY_SECONDS = 30
FEATURES = "/api/admin/projects/default/features"


def main(seconds: float) -> bool:
    """Whether the target is met."""
    with run_service() as service:
        report(service, SERIES)
        time.sleep(10)  # the work of the start
        before = measure_idle(service, seconds)
        for number in range(RELEASES):
            create_release(service, number)
        report(service, SERIES, minutes=1)
        time.sleep(EVERY_SECONDS)
        after = measure_idle(service, seconds)
        releases = service.send("/api/admin/releases?state=running")["releases"]
        states = [guard["state"] for release in releases for guard in release["guards"]]
        assert states == ["ok"] * 2 * RELEASES, states
    print(f"{'percent of a core':18} {'none':>7} {f'{RELEASES} releases':>13}")
    for name, without, with_releases in zip(("process", "PostgreSQL"), before, after, strict=True):
        print(f"{name:18} {without:7.2f} {with_releases:13.2f}")
    cost = sum(after) - sum(before)
    print(f"together {cost:.2f}% of a core; target: at most 3%")
    return cost <= 3


def create_release(service: Service, number: int) -> None:
    service.create_flag(f"flag-{number}")
    place = f"{FEATURES}/flag-{number}/environments/development"
    strategy = {"name": "flexibleRollout", "parameters": {"rollout": 0}}
    service.send(f"{place}/strategies", strategy)
    service.send(f"{place}/on", {})
    guards = [make_guard(2 * number + offset) for offset in (0, 1)]
    steps = [{"rollout": 1, "minutes": 1440}, {"rollout": 100}]
    service.send(f"{place}/releases", {"steps": steps, "guards": guards})


def make_guard(number: int) -> dict[str, object]:
    """Of the metrics of bench/alert_rules.py, whose ratios are 1."""
    source = {
        "kind": "impactMetric",
        "metric": f"metric_{2 * number % (2 * RULES)}",
        "per": f"metric_{(2 * number + 1) % (2 * RULES)}",
        "measure": "ratio",
        "environment": "development",
    }
    rule = {"source": source, "above": 2, "windowMinutes": 5, "everySeconds": EVERY_SECONDS}
    return {"kind": "rule", "rule": rule, "effect": "rollBack"}


if __name__ == "__main__":
    sys.exit(0 if main(float(sys.argv[1]) if len(sys.argv) > 1 else 60.0) else 1)
