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
    if case.value is None:
        service = case.services.get_shared("environment", case.rows)
    else:
        service = case.start({"LOG_LEVEL": "debug"}, fresh=True)
    is_own = case.value is not None
    assert bool(re.search(PROVIDED, service.stderr, re.M)) == is_own
    assert bool(re.search(BUILT_IN, service.stderr, re.M)) != is_own


def check_log_level(case: Case) -> None:
    log = case.service.stderr  # which said this before its address
    assert ("[DEBUG] database" in log) == (case.value == "debug")
    assert ("[INFO] server - No mail server" in log) == (case.value in ("debug", "info"))


def check_request_log(case: Case) -> None:
    case.request("GET", "/health?token=s3cret")
    case.request("POST", "/no/such%0Apage")
    with socket.create_connection(("127.0.0.1", case.service.port)) as sock:
        sock.sendall(b"GET /ready HTTP/1.1\r\nContent-Length: -1\r\n\r\n")
        sock.recv(1000)
    expected = ("200 GET /health\n", "404 POST /no/such\\npage\n", "400 GET /ready\n")
    for line in expected:
        if case.value:
            until(lambda line=line: f"[INFO] HTTP - {line}" in case.service.stderr, line)
        assert ("] HTTP - " in case.service.stderr) == case.value


def check_metrics(case: Case) -> None:
    answer = case.request("GET", METRICS, service=case.service if case.value else case.start())
    assert answer.status == (200 if case.value else 404)
    assert ("http_request_duration_milliseconds" in answer.text) == case.value


def check_application_names(case: Case) -> None:
    with case.create_api_token("client", "development") as token:
        case.request("GET", "/api/client/features", token=token, Unleash_AppName="zz")
        case.request("GET", "/api/client/features?appName=yy", token=token)

    def find_names() -> list[str]:  # a request is counted after its answer
        text = case.request("GET", METRICS).text
        assert 'path="/api/client/features"' in text
        return [name for name in ("zz", "yy") if f'appName="{name}"' in text]

    if case.value:
        assert find_names() == []
    else:
        until(lambda: len(find_names()) == 2, "the names of applications")


def check_ui_overrides(case: Case) -> None:
    ui_config = case.admin("GET", "/api/admin/ui-config")
    page = case.request("GET", "/sign-in").text
    head, _, foot = page.partition("<main")
    for key, part in (("environment", head), ("slogan", foot)):
        assert ui_config[key] == case.value.get(key, "")
        assert case.value.get(key, "") in part
    assert ('class="tag"' in head) == bool(case.value)


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


_ON = {"ENABLE_SCHEDULED_CREATED_BY_MIGRATION": "true"}
# By name: variables and in-code options; {url} is the server of the version check.
_SCENES: dict[str, tuple[dict[str, str], dict[str, Any]]] = {
    "default": ({"HTTP_PROXY": "{url}"}, {}),
    "environment": ({"SERVICE_VERSION_URL": "{url}/environment", **_ON}, {}),
    "code": (
        {"SERVICE_VERSION_URL": "{url}/environment", "CHECK_VERSION": "never", **_ON},
        {
            "versionCheck": {"url": "{url}/code", "enable": True},
            "server": {"enableScheduledCreatedByMigration": False},
        },
    ),
    "disabled": ({"SERVICE_VERSION_URL": "{url}/environment", "CHECK_VERSION": "never"}, {}),
}


@contextmanager
def _run_scene(services: Services, name: str) -> Iterator[Scene]:
    with receiving() as receiver:
        receiver.answers = [(200, {"Content-Type": "application/json"})]
        receiver.body = json.dumps({"versions": VERSIONS, "latest": False}).encode()
        text = json.dumps(_SCENES[name]).replace("{url}", receiver.url)
        environ, options = json.loads(text)
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
            script = f"{DICE}from tests.spec.run import main; main({json.dumps(options)!r})"
            with run_service(basis | environ, script) as service:
                yield Scene(service, receiver, rows)


def open_scene(case: Case, name: str) -> Scene:
    return case.services.open_once(_run_scene, case.services, name)


def check_version_url(case: Case) -> None:
    the_scene = open_scene(case, case.way)
    the_scene.wait_for_jobs(CHECK if case.value else LATER)
    assert [one.path for one in the_scene.receiver.requests] == ([case.value] if case.value else [])
    info = case.admin("GET", "/api/admin/ui-config", service=the_scene.service)["versionInfo"]
    if not case.value:
        assert (info["latest"], info["isLatest"]) == ({}, True)
        return
    assert (info["latest"], info["isLatest"]) == (VERSIONS, False)
    expected_body = {"versions": info["current"], "instanceId": info["instanceId"]}
    assert json.loads(the_scene.receiver.requests[0].body) == expected_body


def check_version_check(case: Case) -> None:
    names = {"default": "environment", "environment": "disabled", "code": "code", "": "environment"}
    the_scene, is_on = open_scene(case, names[case.way]), case.way == "" or case.value
    the_scene.wait_for_jobs(CHECK if is_on else LATER)
    assert len(the_scene.receiver.requests) == (1 if is_on else 0)


def check_created_by_migration(case: Case) -> None:
    the_scene = open_scene(case, case.way)
    the_scene.wait_for_jobs(FILLING if case.value else LATER)
    if case.value:
        assert the_scene.list_created_by("features") == {1}
        assert the_scene.list_created_by("events") == {1, None}, "100 at a time"
        text = case.request("GET", METRICS, service=the_scene.service).text
        assert "event_created_by_migration_count 100.0" in text
        assert "feature_created_by_migration_count 1.0" in text
        assert "created-by of events: 100 done" in the_scene.service.stderr
    else:
        assert (
            the_scene.list_created_by("features") == the_scene.list_created_by("events") == {None}
        )


ROWS = (
    Row("getLogger", check_log_provider, default=None, code={"call": "logger"}, alone=True),
    Row("logLevel", check_log_level, "LOG_LEVEL", "info", "debug", code="error"),
    Row("enableRequestLogger", check_request_log, default=False, code=True),
    Row("server.serverMetrics", check_metrics, default=True),
    Row("server.serverMetrics", check_metrics, code=False, alone=True),
    Row(
        "responseTimeWithAppNameKillSwitch",
        check_application_names,
        "SERVICE_RESPONSE_TIME_WITH_APP_NAME_KILL_SWITCH",
        False,
        "true",
        True,
        code=False,
    ),
    Row("ui", check_ui_overrides, default={}, code={"environment": "staging", "slogan": "Ship it"}),
    Row(
        "versionCheck.url",
        check_version_url,
        "SERVICE_VERSION_URL",
        None,
        "/environment",
        code="/code",
        alone=True,
    ),
    Row(
        "versionCheck.enable",
        check_version_check,
        "CHECK_VERSION",
        True,
        "never",
        False,
        code=True,
        alone=True,
    ),
    Row("versioning: the service asks for the latest version", check_version_check),
    Row(
        "server.enableScheduledCreatedByMigration",
        check_created_by_migration,
        "ENABLE_SCHEDULED_CREATED_BY_MIGRATION",
        False,
        "true",
        True,
        code=False,
        alone=True,
    ),
)
