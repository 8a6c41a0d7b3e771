"""What 50 alert rules on impact metrics cost: the CPU time of a service with 100 to 10 000 series.

usage: python bench/alert_rules.py [seconds]
One service for each number of series, which ten applications have reported for ten minutes. It is
measured without rules, then with 50 ratios of five minutes, each of its own metrics if there are
enough, that are evaluated every 15 s. The default is half as often.
"""

import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from service import CLIENT, Service, run_service
from silence import measure_idle

COUNTS = (100, 1000, 10_000)
RULES, APPLICATIONS, MINUTES = 50, 10, 10
EVERY_SECONDS, DEFAULT_SECONDS = 15, 30


def main(seconds: float) -> bool:
    """Whether the target is met."""
    print(
        f"{'series':>7} {'no rules':>9} {f'{RULES} rules':>9} {'every 30 s, percent of a core':>30}"
    )
    costs = [measure(count, seconds) for count in COUNTS]
    print(f"target: less than 1% with {COUNTS[-1]} series")
    return costs[-1] < 1


def measure(count: int, seconds: float) -> float:
    with run_service() as service:
        report(service, count)
        time.sleep(10)  # the work of the start
        before = sum(measure_idle(service, seconds))
        create_rules(service, count)
        time.sleep(EVERY_SECONDS)
        report(service, count, minutes=1)
        rules = service.send("/api/admin/alert-rules")["alertRules"]
        assert [rule["state"] for rule in rules] == ["ok"] * RULES, rules[0]["reason"]
        after = sum(measure_idle(service, seconds))
    cost = (after - before) * EVERY_SECONDS / DEFAULT_SECONDS
    print(f"{count:7} {before:9.2f} {after:9.2f} {cost:30.2f}", flush=True)
    return cost


def report(service: Service, count: int, minutes: int = MINUTES) -> None:
    """As SDKs do, once for each application and minute."""
    client = Service(service.pid, service.port, service.data, CLIENT)
    now = datetime.now(UTC)
    for application in range(APPLICATIONS):
        metrics = list(make_metrics(count // APPLICATIONS))
        for minute in range(minutes):
            stop = now - timedelta(minutes=minute)
            start = stop - timedelta(minutes=1)
            bucket = {"start": start.isoformat(), "stop": stop.isoformat(), "toggles": {}}
            body = {"appName": f"app-{application}", "bucket": bucket, "impactMetrics": metrics}
            client.send("/api/client/metrics", body)


def make_metrics(count: int) -> Iterator[dict[str, Any]]:
    """`count` series of at most two counters for each rule."""
    for number in range(min(2 * RULES, count)):
        labels = range(count // min(2 * RULES, count))
        samples = [{"labels": {"shard": f"{label}"}, "value": 10} for label in labels]
        yield {"name": f"metric_{number}", "type": "counter", "samples": samples}


def create_rules(service: Service, count: int) -> None:
    id, _ = service.create_signal_token("rules")
    metrics = min(2 * RULES, count // APPLICATIONS)
    for number in range(RULES):
        source = {
            "kind": "impactMetric",
            "metric": f"metric_{2 * number % metrics}",
            "per": f"metric_{(2 * number + 1) % metrics}",
            "measure": "ratio",
            "environment": "development",
        }
        rule = {"name": f"rule-{number}", "endpointId": id, "source": source, "above": 2}
        times = {"windowMinutes": 5, "minSamples": 1, "everySeconds": EVERY_SECONDS}
        service.send("/api/admin/alert-rules", rule | times)


if __name__ == "__main__":
    sys.exit(0 if main(float(sys.argv[1]) if len(sys.argv) > 1 else 60.0) else 1)
