"""What is logged, measured, told of versions, filled in behind, and shown of the installation."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any

import sigservice
from tests.receiver import Receiver, receiving
from tests.server.process import Process, run_service, until
from tests.spec.kit import Case, Row, Services

METRICS = "/internal-backstage/prometheus"
BUILT_IN = r"^\[\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z\] \[DEBUG\] database - migrated 0001\S*$"
PROVIDED = r"^mine: debug of database: migrated 0001\S*$"
VERSIONS = {"oss": "9.1.0", "enterprise": "9.1.0"}
# A job's first run is after a random part of some time: a hundredth here.
DICE = "import random; random.uniform = lambda low, high: 0.01; "
# After 0.3 s, and of jobs that have run once a metric tells. These run after 0.6 s.
CHECK, FILLING = {"version check"}, {"created-by of events", "created-by of flags"}
LATER = {"retention", "sessions", "reset tokens", "last uses"}


def check_log_provider(case: Case) -> None:
    """Of two that log their migrations, for which they are at debug."""
    built_in = case.services.get_shared("environment", case.rows).stderr
    provided = case.start({"LOG_LEVEL": "debug"}, fresh=True).stderr
    assert re.search(BUILT_IN, built_in, re.M)
    assert re.search(PROVIDED, provided, re.M)
    assert not re.search(BUILT_IN, provided, re.M)


def check_log_level(case: Case) -> None:
    """At its start, before the address."""
    assert "[DEBUG] database" in case.service.stderr


def check_request_log(case: Case) -> None:
    case.request("GET", "/health?token=s3cret")
    case.request("POST", "/no/such%0Apage")
    with socket.create_connection(("127.0.0.1", case.service.port)) as sock:
        sock.sendall(b"GET /ready HTTP/1.1\r\nContent-Length: -1\r\n\r\n")
        sock.recv(1000)
    expected = ("200 GET /health\n", "404 POST /no/such\\npage\n", "400 GET /ready\n")
    for line in expected:
        until(lambda line=line: f"[INFO] HTTP - {line}" in case.service.stderr, line)


def check_no_metrics(case: Case) -> None:
    assert case.request("GET", METRICS, service=case.start()).status == 404


def check_no_application_names(case: Case) -> None:
    with case.create_api_token("client", "development") as token:
        case.request("GET", "/api/client/features", token=token, Unleash_AppName="zz")

    def read_counts() -> str:  # a request is counted after its answer
        text = case.request("GET", METRICS).text
        return text if 'path="/api/client/features"' in text else ""

    assert 'appName="zz"' not in until(read_counts, "the count of the request")


def check_ui_overrides(case: Case) -> None:
    ui_config = case.admin("GET", "/api/admin/ui-config")
    page = case.request("GET", "/sign-in").text
    head, _, foot = page.partition("<main")
    for key, part in (("environment", head), ("slogan", foot)):
        assert ui_config[key] == case.value[key]
        assert case.value[key] in part
    assert 'class="tag"' in head


@dataclass
class Scene:
    """A service with events and flags without user IDs, and a server for the version check."""

    service: Process
    receiver: Receiver
    rows: Any

    def wait_for_jobs(self, names: set[str]) -> None:
        """Returns when each of these has run."""

        def all_ran() -> bool:
            text = self.service.request("GET", METRICS)[1].decode()
            counts = re.findall(r'scheduler_duration_seconds_count\{jobId="(.+?)"\} (\d+)', text)
            return names <= {name for name, count in counts if int(count)}

        until(all_ran, f"a run of {names}")

    def list_created_by(self, table: str) -> set[int | None]:
        with self.rows.cursor() as cursor:
            cursor.execute(f"SELECT created_by_user_id FROM {table} WHERE created_by = 'ada'")
            return {id for (id,) in cursor.fetchall()}


# The variables of a service by name; {url} is the server of the version check.
_SCENES = {
    "on": {
        "SERVICE_VERSION_URL": "{url}/environment",
        "ENABLE_SCHEDULED_CREATED_BY_MIGRATION": "true",
    },
    "off": {"SERVICE_VERSION_URL": "{url}/environment", "CHECK_VERSION": "never"},
}


@contextmanager
def _run_scene(services: Services, name: str) -> Iterator[Scene]:
    with receiving() as receiver:
        receiver.answers = [(200, {"Content-Type": "application/json"})]
        receiver.body = json.dumps({"versions": VERSIONS, "latest": False}).encode()
        environ = {key: text.format(url=receiver.url) for key, text in _SCENES[name].items()}
        basis = services.make_environ(fresh=True)  # ids begin with 1
        sigservice.create({}, basis).stop()  # makes the tables
        with closing(services.connect(basis)) as rows, rows.cursor() as cursor:
            cursor.execute(
                "INSERT INTO features (name, project, type, created_by) "
                "VALUES ('old', 'default', 'release', 'ada')"
            )
            cursor.execute(
                "INSERT INTO events (type, created_by, feature_name) "
                "SELECT 'feature-created', 'ada', 'old' FROM generate_series(1, 102)"
            )
            script = f"{DICE}from tests.spec.run import main; main('{{}}')"
            with run_service(basis | environ, script) as service:
                yield Scene(service, receiver, rows)


def open_scene(case: Case, name: str) -> Scene:
    return case.services.open_once(_run_scene, case.services, name)


def check_version_url(case: Case) -> None:
    scene = open_scene(case, "on")
    scene.wait_for_jobs(CHECK)
    (request,) = scene.receiver.requests
    info = case.admin("GET", "/api/admin/ui-config", service=scene.service)["versionInfo"]
    assert (request.path, info["latest"], info["isLatest"]) == ("/environment", VERSIONS, False)
    expected_body = {"versions": info["current"], "instanceId": info["instanceId"]}
    assert json.loads(request.body) == expected_body


def check_no_version_check(case: Case) -> None:
    scene = open_scene(case, "off")
    scene.wait_for_jobs(LATER)
    assert not scene.receiver.requests
    assert scene.list_created_by("features") == scene.list_created_by("events") == {None}


def check_created_by_migration(case: Case) -> None:
    scene = open_scene(case, "on")
    scene.wait_for_jobs(FILLING)
    assert scene.list_created_by("features") == {1}
    assert scene.list_created_by("events") == {1, None}, "100 at a time"
    text = case.request("GET", METRICS, service=scene.service).text
    assert "event_created_by_migration_count 100.0" in text
    assert "feature_created_by_migration_count 1.0" in text
    assert "created-by of events: 100 done" in scene.service.stderr


ROWS = (
    Row("getLogger", check_log_provider, code={"call": "logger"}, alone=True),
    Row("logLevel", check_log_level, "LOG_LEVEL", "debug"),
    Row("enableRequestLogger", check_request_log, code=True),
    Row("server.serverMetrics", check_no_metrics, code=False, alone=True),
    Row(
        "responseTimeWithAppNameKillSwitch",
        check_no_application_names,
        "SERVICE_RESPONSE_TIME_WITH_APP_NAME_KILL_SWITCH",
        "true",
    ),
    Row("ui", check_ui_overrides, code={"environment": "staging", "slogan": "Ship it"}),
    Row("versionCheck.url", check_version_url, "SERVICE_VERSION_URL", alone=True),
    Row("versionCheck.enable", check_no_version_check, "CHECK_VERSION", alone=True),
    Row("versioning: the service asks for the latest version", check_version_url),
    Row(
        "server.enableScheduledCreatedByMigration",
        check_created_by_migration,
        "ENABLE_SCHEDULED_CREATED_BY_MIGRATION",
        alone=True,
    ),
)
