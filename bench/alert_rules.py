"""What alert rules cost, and how soon a running program has the change of a flag.

usage: python bench/alert_rules.py [cost|reaction] [seconds or changes]
`cost`: one service for each number of series, which ten applications have reported for ten minutes.
It is measured without rules, then with 50 ratios of five minutes, each of its own metrics if there
are enough, that are evaluated every 15 s. The default is half as often.
`reaction`: from the evaluation of a rule that fires or resolves to the other answer of `is_enabled`
in programs that stream. Needs Node.js with `npm install --prefix tests/sdk`.
"""

import contextlib
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from seed import PROJECT, seed_flags
from service import CLIENT, ROOT, Service, run_service
from silence import measure_idle
from streaming import PROGRAMS, describe, find_p99, run_program

sys.path.insert(0, ROOT)
from tests.prometheus_script import serve_prometheus, vector

COUNTS = (100, 1000, 10_000)
RULES, APPLICATIONS, MINUTES = 50, 10, 10
EVERY_SECONDS, DEFAULT_SECONDS = 15, 30


def measure_costs(seconds: float) -> bool:
    """Whether the target is met."""
    print(
        f"{'series':>7} {'no rules':>9} {f'{RULES} rules':>9} {'every 30 s, percent of a core':>30}"
    )
    costs = [measure(count, seconds) for count in COUNTS]
    costs.append(measure_queries(seconds))
    print(f"target: less than 1% with {COUNTS[-1]} series, and with queries")
    return max(costs[-2:]) < 1


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


def measure_queries(seconds: float) -> float:
    """The cost of rules that each send a query of their own to a Prometheus in this process."""
    with serve_prometheus() as script, run_service(SERVICE_WEBHOOK_ALLOWED_HOSTS="127.0.0.1") as s:
        script.answer = vector((4e9, "1"))
        s.send("/api/admin/metric-sources", {"name": "main", "url": script.url})
        time.sleep(10)  # the work of the start
        before = sum(measure_idle(s, seconds))
        id, _ = s.create_signal_token("rules")
        for number in range(RULES):
            source = {"kind": "prometheus", "source": "main", "query": f"query_{number}"}
            rule = {"name": f"rule-{number}", "endpointId": id, "source": source, "above": 2}
            s.send("/api/admin/alert-rules", rule | {"everySeconds": EVERY_SECONDS})
        time.sleep(EVERY_SECONDS)
        after = sum(measure_idle(s, seconds))
    cost = (after - before) * EVERY_SECONDS / DEFAULT_SECONDS
    print(f"queries {before:9.2f} {after:9.2f} {cost:30.2f}", flush=True)
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


def measure_reaction(changes: int) -> bool:
    """Whether the target is met. The limit of a rule is below and above its value in turn."""
    with contextlib.ExitStack() as stack:
        service = stack.enter_context(run_service())
        seed_flags(service)
        service.create_flag("checkout")
        service.send(f"{PROJECT}/features/checkout/environments/development/on", {})
        id, _ = service.create_signal_token("rules")
        actor = service.create_service_account()
        for state, status in (("off", "firing"), ("on", "resolved")):
            service.create_action_set(state, actor, id, state, "checkout", status=status)
        source = {"kind": "impactMetric", "metric": "queue", "measure": "average"}
        source["environment"] = "development"
        rule = {"name": "queue", "endpointId": id, "source": source, "windowMinutes": 60}
        url = f"http://127.0.0.1:{service.port}"
        programs = {
            name: stack.enter_context(run_program([*command, url, CLIENT, "checkout"]))
            for name, command in PROGRAMS.items()
        }
        path = "/api/admin/alert-rules"
        path += f"/{service.send(path, rule | {'above': 100})['id']}"
        for lines in programs.values():
            lines.wait_for("on")
        times: dict[str, list[float]] = {program: [] for program in programs}
        for number in range(changes + changes % 2):
            report_queue(service)
            limits = {"above": (10, 100)[number % 2], "everySeconds": 3600}
            service.send(path, rule | limits, method="PUT")  # the next run evaluates it
            state = ("off", "on")[number % 2]
            arrivals = {program: lines.wait_for(state) for program, lines in programs.items()}
            ago = time.time() - time.perf_counter()
            evaluated_at = datetime.fromisoformat(service.send(path)["evaluatedAt"]).timestamp()
            for program, arrival in arrivals.items():
                times[program].append(arrival + ago - evaluated_at)
    for program in programs:
        print(f"evaluation to is_enabled {program:7} {describe(times[program])}", flush=True)
    print("target: p99 100 ms")
    return find_p99(times["Node"]) <= 0.1


def report_queue(service: Service) -> None:
    client = Service(service.pid, service.port, service.data, CLIENT)
    metric = {"name": "queue", "type": "gauge", "samples": [{"value": 50}]}
    client.send("/api/client/metrics", {"appName": "shop", "impactMetrics": [metric]})


def main(arguments: list[str]) -> bool:
    parts = [part for part in arguments if not part.isdigit()] or ["cost", "reaction"]
    (number,) = [int(text) for text in arguments if text.isdigit()] or [60]
    is_met = [{"cost": measure_costs, "reaction": measure_reaction}[part](number) for part in parts]
    return all(is_met)


if __name__ == "__main__":
    sys.exit(0 if main(sys.argv[1:]) else 1)
