"""The scrape configuration, the alerts and the dashboard, with Debian's Prometheus.

Real processes and real time.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from sigservice.application.service import JOBS
from tests.deploy.prometheus_process import ask, run_prometheus
from tests.server.process import OPEN_LIMITS, Process, make_database_environ, run_service
from tests.waiting import until

ROOT = Path(__file__).resolve().parents[2]
PROMETHEUS = ROOT / "deploy" / "prometheus"
RULES = PROMETHEUS / "sigservice.rules.yml"
CASES = Path(__file__).with_name("alerts.test.yml")
DASHBOARD = json.loads((ROOT / "deploy" / "grafana" / "sigservice.json").read_text())
PAGE = ROOT / "docs" / "metrics.md"
METRICS = "/internal-backstage/prometheus"
TOKEN = "scrape-token"
# Labels that Prometheus adds, and its own metric.
TARGET_LABELS = {"job", "instance"}
UP = {"up": TARGET_LABELS}
# Nothing fails or is dropped in these tests.
WITHOUT_SAMPLES = ("5..", "mails_sent_total", "_dropped_total")
WORDS = {"by", "on", "or", "unless", "offset", "le"}

pytestmark = pytest.mark.skipif(
    not (shutil.which("prometheus") and shutil.which("promtool")),
    reason="prometheus and promtool are not installed",
)


def list_rules() -> list[dict[str, Any]]:
    return [
        rule for group in yaml.safe_load(RULES.read_text())["groups"] for rule in group["rules"]
    ]


def list_queries() -> list[str]:
    """The expressions of the dashboard, for all processes, with what Grafana fills in."""
    texts = [target["expr"] for panel in DASHBOARD["panels"] for target in panel.get("targets", [])]
    values = {"$job": "sigservice", "$instance": ".+", "$__rate_interval": "1m"}
    return [re.sub("|".join(map(re.escape, values)), lambda m: values[m[0]], t) for t in texts]


def find_selectors(query: str) -> Iterator[tuple[str, set[str]]]:
    """Each metric of an expression with its labels, those after `by` and `on` included."""
    groups = re.findall(r"\b(?:by|on) \(([^)]*)\)", query)
    grouped = set(re.findall(r"\w+", " ".join(groups)))
    bare = re.sub(r"\b(?:by|on) \([^)]*\)|\[[^]]*\]", " ", query)
    for name, matchers in re.findall(r"\b([a-z]\w+)\b(?!\s*\()(\{[^}]*\})?", _hide_values(bare)):
        if name not in WORDS and not (name[-1] in "ms" and name[:-1].isdigit()):
            yield name, set(re.findall(r"(\w+)\s*[=!]", matchers)) | grouped


def _hide_values(query: str) -> str:
    return re.sub(r'"[^"]*"', '""', query)


@pytest.fixture(scope="module")
def service(temporary_database) -> Iterator[Process]:
    """A service that has received requests of each kind."""
    temporary_database.empty()
    environ = OPEN_LIMITS | make_database_environ(temporary_database.options())
    with run_service(environ | {"SERVICE_METRICS_TOKEN": TOKEN}) as service:
        use(service)
        yield service


def use(service: Process) -> None:
    """Sends signals, one of which switches a flag off, and requests of an SDK."""

    def create(path: str, body: dict[str, Any]) -> Any:
        status, answer = service.request("POST", path, body)
        assert status in (200, 201), answer
        return answer

    endpoint_id, token = service.create_sender()
    create("/api/admin/projects/default/features", {"name": "checkout"})
    account = {"username": "robot", "name": "Robot", "rootRole": "Editor"}
    params = {"environment": "production", "featureName": "checkout"}
    create(
        "/api/admin/projects/default/actions",
        {
            "name": "kill checkout",
            "actorId": create("/api/admin/service-account", account)["id"],
            "match": {"source": "signal-endpoint", "sourceId": endpoint_id, "payload": {}},
            "actions": [
                {"action": "TOGGLE_FEATURE_OFF", "executionParams": params, "sortOrder": 1}
            ],
        },
    )
    source = {"kind": "impactMetric", "metric": "logins", "measure": "rate"}
    source["environment"] = "production"
    rule = {"name": "logins", "endpointId": endpoint_id, "source": source, "below": 1}
    create("/api/admin/alert-rules", rule)
    assert service.request("POST", "/api/signal-endpoint/deploys", {}, token)[0] == 200
    assert service.request("POST", "/api/signal-endpoint/deploys", b"{", token)[0] == 400
    assert service.request("POST", "/api/signal-endpoint/deploys", {}, "wrong")[0] == 401
    sdk = {"tokenName": "sdk", "type": "client", "environment": "development"}
    secret = create("/api/admin/api-tokens", sdk)["secret"]
    assert service.request("GET", "/api/client/features", secret=secret)[0] == 200
    until(lambda: 'action_runs_total{state="success"}' in scrape(service), "the run")
    until(lambda: "alert_rule_evaluation_seconds_count{" in scrape(service), "an evaluation")


def scrape(service: Process) -> str:
    status, body = service.request("GET", METRICS, secret=TOKEN)
    assert status == 200
    return body.decode()


def test_each_metric_and_label_is_exposed(service):
    text = scrape(service)
    documented = {
        name: set(re.findall(r"\w+", labels))
        for names, labels in re.findall(
            r"^\| (`[^|\n]+`) \|[^|\n]*\|([^|\n]*)\|", PAGE.read_text(), re.M
        )
        for name in re.findall(r"\w+", names)
    }
    labels_by_name = dict(UP)
    for family, kind in re.findall(r"^# TYPE (\w+) (\w+)$", text, re.M):
        suffixes = ("_bucket", "_sum", "_count") if kind == "histogram" else ("",)
        for name in (family + suffix for suffix in suffixes):
            samples = re.findall(rf"^{name}\{{(.*)\}} ", text, re.M)
            # A counter has no labels before its first count.
            labels = {label for sample in samples for label in re.findall(r'(\w+)="', sample)}
            labels_by_name[name] = labels or documented.get(family, set())
    for query in [*list_queries(), *(rule["expr"] for rule in list_rules())]:
        selectors = list(find_selectors(query))
        assert selectors, query
        for name, labels in selectors:
            assert name in labels_by_name, query
            assert labels <= labels_by_name[name] | TARGET_LABELS, (query, name)


def test_the_jobs_of_the_alert_exist_and_run_often():
    (text,) = re.findall(r'jobId=~"([^"]*)"', RULES.read_text())
    often = {job.name for job in JOBS if job.work or job.every_seconds <= 5}
    assert set(text.split("|")) <= often | {"due work"}


def test_each_alert_is_in_the_documentation():
    names = {rule["alert"] for rule in list_rules()}
    assert set(re.findall(r"`(Sigservice\w+)`", PAGE.read_text())) == names


def test_the_rules_are_valid_and_fire_when_they_should(tmp_path):
    for file in (RULES, CASES):
        shutil.copy(file, tmp_path)
    for arguments in (["check", "rules", RULES.name], ["test", "rules", CASES.name]):
        done = subprocess.run(
            ["promtool", *arguments], capture_output=True, text=True, cwd=tmp_path
        )
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def prometheus(service, tmp_path_factory) -> Iterator[str]:
    """The address of a Prometheus with the configuration of deploy/, each second instead."""
    folder = tmp_path_factory.mktemp("prometheus")
    (folder / "sigservice.token").write_text(TOKEN)
    shutil.copy(RULES, folder)
    text = (PROMETHEUS / "prometheus.yml").read_text()
    for old, new in (
        ("/etc/prometheus", str(folder)),
        ("127.0.0.1:4242", f"127.0.0.1:{service.port}"),
        ("15s", "1s"),
    ):
        assert old in text
        text = text.replace(old, new)
    (folder / "prometheus.yml").write_text(text)
    with run_prometheus(folder) as url:
        yield url


def test_the_dashboard_shows_values(prometheus):
    for query in list_queries():
        if any(part in query for part in WITHOUT_SAMPLES):
            assert ask(prometheus, "query", query=query)["result"] == []
        else:
            until(lambda q=query: ask(prometheus, "query", query=q)["result"], query)


def test_the_alerts_are_evaluated_and_none_fires(prometheus):
    def list_evaluated() -> list[dict[str, Any]]:
        (group,) = ask(prometheus, "rules")["groups"]
        assert {rule["name"] for rule in group["rules"]} == {rule["alert"] for rule in list_rules()}
        return group["rules"] if all(x["health"] != "unknown" for x in group["rules"]) else []

    rules = until(list_evaluated, "an evaluation of each rule")
    assert [rule for rule in rules if rule["health"] != "ok" or rule["state"] == "firing"] == []
