"""Impact metrics of the official SDKs: exact totals, although one report of each is refused."""

from __future__ import annotations

import json
import threading
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from prometheus_client.parser import text_string_to_metric_families
from UnleashClient.impact_metrics import MetricFlagContext

from tests.sdk.conftest import CLIENT_TOKEN, FRONTEND_TOKEN
from tests.sdk.test_server_side import connect
from tests.waiting import until

# Those of the connection, and the one that makes the SDK stream.
UNFORWARDED = ("content-length", "connection", "transfer-encoding", "fetch-mode")


class RefusingProxy:
    """Answers the second report with samples of each application with 503, and forwards all other
    requests, for polling only. `reports` counts the reports with samples by application."""

    def __init__(self, target: str) -> None:
        self.reports: Counter[str] = Counter()
        proxy = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self._forward(None)

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                app_name = find_app_name(body) if self.path.endswith("/metrics") else ""
                if proxy.reports[app_name] == 1 and app_name:
                    self.send_response(503)
                    self.send_header("Content-Length", "0")
                    self.end_headers()
                else:
                    self._forward(body)
                if app_name:
                    proxy.reports[app_name] += 1

            def _forward(self, body: bytes | None) -> None:
                headers = {name: value for name, value in self.headers.items() if name != "Host"}
                request = urllib.request.Request(target + self.path, body, headers)
                try:
                    answer = urllib.request.urlopen(request)
                except urllib.error.HTTPError as error:
                    answer = error
                with answer:
                    data = answer.read()
                    self.send_response(answer.status)
                    for name, value in answer.headers.items():
                        if name.lower() not in UNFORWARDED:
                            self.send_header(name, value)
                if answer.status != 304:
                    self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data if answer.status != 304 else b"")

            def log_message(self, *_: object) -> None:
                """Quiet."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def find_app_name(body: bytes) -> str:
    """That of a report with samples that have labels."""
    report = json.loads(body)
    metrics = report.get("impactMetrics") or []
    has_labels = any(sample["labels"] for metric in metrics for sample in metric["samples"])
    return str(report["appName"]) if has_labels else ""


@pytest.fixture
def proxy(flags) -> Iterator[RefusingProxy]:
    proxy = RefusingProxy(flags.url)
    yield proxy
    proxy.close()


def scrape(server, app_name, origin="sdk"):
    """{line without the labels that all have: value}; fails if the text is not valid."""
    with urllib.request.urlopen(f"{server.url}/internal-backstage/impact/metrics") as answer:
        families = [*text_string_to_metric_families(answer.read().decode())]
    totals = {}
    for family in families:
        for name, labels, value, *_ in family.samples:
            if labels.pop("appName") == app_name:
                assert labels.pop("environment") == "development"
                assert (labels.pop("metric_type"), labels.pop("origin")) == (family.type, origin)
                totals[name, *sorted(labels.items())] = value
    return totals


def make_expected(*values):
    """The totals of `values` with the flag `rollout` and of the last one with `color` too."""
    rollout, color = ("rollout", "enabled"), ("color", "red")
    expected = {}
    for labels, observed in (((rollout,), values[:-1]), ((color, rollout), values[-1:])):
        expected["purchases_total", *labels] = sum(observed)
        expected["users", *labels] = observed[-1]
        expected["lat_sum", *labels] = sum(observed)
        expected["lat_count", *labels] = len(observed)
        for bound, le in ((0.1, "0.1"), (1, "1.0"), (99, "+Inf")):
            bucket = ("lat_bucket", *sorted([*labels, ("le", le)]))
            expected[bucket] = sum(value <= bound for value in observed)
    return expected


def test_totals_of_server_sdks_are_exact(flags, proxy, node, tmp_path, request):
    sdk = node("node_sdk.cjs", proxy.url, CLIENT_TOKEN)
    python = connect(proxy, tmp_path)
    request.addfinalizer(python.destroy)
    python.initialize_client()
    impact = python.impact_metrics
    impact.define_counter("purchases", "Purchases")
    impact.define_gauge("users", "Users")
    impact.define_histogram("lat", "Latency", [0.1, 1])
    sdk.ask(do="ready")
    sdk.ask(do="define")
    names = ["rollout"]
    for number, value in enumerate((1, 2, 4), 1):
        if number == 3:
            names.append("color")
        sdk.ask(do="measure", value=value + 0.5, flags=names)
        labels = MetricFlagContext(names, {"userId": "1"})
        impact.increment_counter("purchases", value, labels)
        impact.update_gauge("users", value, labels)
        impact.observe_histogram("lat", value, labels)
        counts = proxy.reports
        until(lambda: min(counts["node-app"], counts["python-app"]) >= number, "the reports")  # noqa: B023
    python_totals, node_totals = make_expected(1, 2, 4), make_expected(1.5, 2.5, 4.5)
    until(lambda: scrape(flags, "node-app") == node_totals, "all totals of Node")
    until(lambda: scrape(flags, "python-app") == python_totals, "all totals of Python")
    path = "/api/admin/impact-metrics/features/color"
    data = flags.admin("GET", path)["data"]
    values = {
        (metric["appName"], metric["variant"]): metric["value"]
        for metric in data
        if metric["metricName"] == "purchases"
    }
    assert values == {("node-app", "red"): 4.5, ("python-app", "red"): 4}


def test_clicks_of_the_browser_sdk_are_counted(flags, node):
    sdk = node("proxy_sdk.cjs", flags.url, FRONTEND_TOKEN)
    sdk.ask(do="start")
    sdk.ask(do="measure", value=2)
    sdk.ask(do="measure", value=1)
    clicks = {("clicks_total",): 3}
    until(lambda: scrape(flags, "page", "frontend") == clicks, "the clicks")
