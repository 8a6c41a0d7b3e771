"""Alert rules on queries of Debian's Prometheus, which scrapes a value that a test sets.

Real processes; `hurry` makes rules due at once.
"""

from __future__ import annotations

import contextlib
import shutil
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from tests.deploy.prometheus_process import ask, run_prometheus
from tests.repository.kit import run
from tests.server.process import OPEN_LIMITS, Process, make_database_environ, run_service
from tests.waiting import until

RULES = "/api/admin/alert-rules"
SOURCES = "/api/admin/metric-sources"
FLAGS = "/api/admin/projects/default/features"
CONFIGURATION = """
global: {{scrape_interval: 1s}}
scrape_configs: [{{job_name: shop, static_configs: [{{targets: ["127.0.0.1:{port}"]}}]}}]
"""
QUERY = "max(checkout_error_ratio)"

pytestmark = pytest.mark.skipif(
    not shutil.which("prometheus"), reason="prometheus is not installed"
)


class Exporter:
    """Two series with the same value."""

    def __init__(self) -> None:
        self.value, self.port = 0.01, 0


@pytest.fixture(scope="module")
def exporter() -> Iterator[Exporter]:
    exporter = Exporter()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            lines = [
                f'checkout_error_ratio{{pod="{pod}"}} {exporter.value}\n' for pod in ("a", "b")
            ]
            self.send_response(200)
            self.send_header("Content-Type", "text/plain; version=0.0.4")
            self.end_headers()
            self.wfile.write("".join(lines).encode())

        def log_message(self, *_: Any) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    exporter.port = server.server_port
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield exporter
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture(scope="module")
def prometheus(exporter, tmp_path_factory) -> Iterator[str]:
    """Below a path, as behind a proxy."""
    folder = tmp_path_factory.mktemp("prometheus")
    (folder / "prometheus.yml").write_text(CONFIGURATION.format(port=exporter.port))
    with run_prometheus(folder, prefix="/prom") as url:
        until(lambda: ask(url, "query", query=QUERY)["result"], "the first sample")
        yield url


@pytest.fixture(scope="module")
def database(temporary_database) -> Iterator[Any]:
    temporary_database.empty()
    with contextlib.closing(temporary_database.connect()) as conn:
        yield conn


@pytest.fixture(scope="module")
def service(database, temporary_database, prometheus) -> Iterator[Process]:
    environ = OPEN_LIMITS | make_database_environ(temporary_database.options())
    with run_service(environ | {"SERVICE_WEBHOOK_ALLOWED_HOSTS": "127.0.0.1"}) as service:
        post(service, SOURCES, {"name": "main", "url": prometheus})
        service.create_sender("rules")
        yield service


def post(service: Process, path: str, body: Any = None, expected: int = 201) -> Any:
    status, answer = service.request("POST", path, body)
    assert status == expected, answer
    return answer


def get(service: Process, path: str) -> Any:
    status, answer = service.request("GET", path)
    assert status == 200, answer
    return answer


def make_rule(service: Process, query: str, **more: Any) -> dict[str, Any]:
    (endpoint,) = get(service, "/api/admin/signal-endpoints")["signalEndpoints"]
    source = {"kind": "prometheus", "source": "main", "query": query}
    return {"name": "errors", "endpointId": endpoint["id"], "source": source, "above": 0.05} | more


def create_action_set(service: Process, endpoint_id: int) -> None:
    """Switches the flag `checkout` off until the alert resolves."""
    post(service, FLAGS, {"name": "checkout"})
    strategies = f"{FLAGS}/checkout/environments/production/strategies"
    post(service, strategies, {"name": "default"}, 200)
    post(service, f"{FLAGS}/checkout/environments/production/on", expected=200)
    account = {"username": "robot", "name": "Robot", "rootRole": "Editor"}
    params = {"environment": "production", "featureName": "checkout"}
    firing = {"path": "status", "operator": "IN", "values": ["firing"]}
    resolved = {"path": "status", "values": ["resolved"], "key": "data.key"}
    body = {
        "name": "switch checkout off",
        "actorId": post(service, "/api/admin/service-account", account)["id"],
        "match": {"source": "signal-endpoint", "sourceId": endpoint_id, "filters": [firing]},
        "actions": [{"action": "TOGGLE_FEATURE_OFF", "executionParams": params, "sortOrder": 1}],
        "options": {"restoreWhenResolved": resolved},
    }
    post(service, "/api/admin/projects/default/actions", body)


def hurry(conn: Any) -> None:
    run(conn, "UPDATE alert_rules SET due_at = 'epoch'")


def wait_for_state(service: Process, conn: Any, rule: dict[str, Any], state: str) -> dict[str, Any]:
    def read() -> dict[str, Any] | None:
        current = get(service, f"{RULES}/{rule['id']}")
        if current["state"] == state:
            return current
        hurry(conn)
        return None

    # A rule that is made due during its query drops the answer.
    return until(read, f"the state {state}", pause=1)


def is_on(service: Process) -> bool:
    environments = get(service, f"{FLAGS}/checkout")["environments"]
    return next(item["enabled"] for item in environments if item["name"] == "production")


def test_a_query_switches_a_flag_off_and_on_again(service, database, exporter):
    body = make_rule(service, QUERY)
    create_action_set(service, body["endpointId"])
    rule = post(service, RULES, body)
    assert wait_for_state(service, database, rule, "ok")["value"] == 0.01
    assert is_on(service)
    exporter.value = 0.3
    firing = wait_for_state(service, database, rule, "firing")
    assert (firing["value"], firing["reason"]) == (0.3, "The query was 0.3 (limit 0.05).")
    until(lambda: not is_on(service), "the flag to be off")
    exporter.value = 0.02
    assert wait_for_state(service, database, rule, "ok")["value"] == 0.02
    until(lambda: is_on(service), "the flag to be on")
    payloads = run(database, "SELECT payload ->> 'status' FROM signals ORDER BY id")
    assert payloads == [("firing",), ("resolved",)]


def test_the_preview_reads_the_range_of_a_query(service, exporter):
    condition = make_rule(service, QUERY)
    del condition["name"], condition["endpointId"]
    preview = post(service, f"{RULES}/preview", condition, 200)
    assert (preview["state"], preview["value"]) == ("ok", exporter.value)
    assert [point["value"] for point in preview["series"]][-1] == exporter.value


def test_several_series_are_refused_with_their_labels(service):
    answer = post(service, RULES, make_rule(service, "checkout_error_ratio", name="two"), 400)
    assert answer["details"][0]["path"] == "source.query"
    assert "'pod': 'a'" in answer["message"]
    assert "'pod': 'b'" in answer["message"]


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("0 / 0", "The value isn't a finite number."),
        ("vector(1) / 0", "The value isn't a finite number."),
        ("no_such_metric", "The query has no result."),
        ("max(checkout_error_ratio", "The source answered 400:"),
        ('"text"', "The result is a string, no number."),
        ("checkout_error_ratio[1m]", "The result is a matrix, no number."),
        ("max(checkout_error_ratio offset 1h)", "The query has no result."),
    ],
)
def test_a_query_without_a_value_has_a_reason(service, query, reason):
    answer = post(service, f"{SOURCES}/main/query", {"query": query}, 200)
    assert answer["value"] is None
    assert answer["reason"].startswith(reason)


def test_a_scalar_is_a_value(service):
    answer = post(service, f"{SOURCES}/main/query", {"query": "scalar(vector(7)) * 2"}, 200)
    assert answer == {"value": 14, "reason": None, "warnings": []}
