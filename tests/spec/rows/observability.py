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
from tests.server.process import Process, running, until
from tests.spec.kit import Asked, Row, Services

METRICS = "/internal-backstage/prometheus"
BUILT_IN = r"^\[\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z\] \[DEBUG\] database - migrated 0001\S*$"
PROVIDED = r"^mine: debug of database: migrated 0001\S*$"
VERSIONS = {"oss": "9.1.0", "enterprise": "9.1.0"}
# A job's first run is after a random part of some time: a hundredth here.
DICE = "import random; random.uniform = lambda low, high: 0.01; "
# After 0.3 s, and of jobs that have run once a metric tells. These run after 0.6 s.
CHECK, FILLING = {"version check"}, {"created-by of events", "created-by of flags"}
LATER = {"retention", "sessions", "reset tokens", "seen tokens"}


def provider(asked: Asked) -> None:
    """Of two that log their migrations, for which they are at debug."""
    if asked.value is None:
        service = asked.services.shared("environment", asked.rows)
    else:
        service = asked.start({"LOG_LEVEL": "debug"}, fresh=True)
    is_own = asked.value is not None
    assert bool(re.search(PROVIDED, service.stderr, re.M)) == is_own
    assert bool(re.search(BUILT_IN, service.stderr, re.M)) != is_own


def level(asked: Asked) -> None:
    log = asked.service.stderr  # which said this before its address
    assert ("[DEBUG] database" in log) == (asked.value == "debug")
    assert ("[INFO] server - No mail server" in log) == (asked.value in ("debug", "info"))


def request_log(asked: Asked) -> None:
    asked.ask("GET", "/health?token=s3cret")
    asked.ask("POST", "/no/such%0Apage")
    with socket.create_connection(("127.0.0.1", asked.service.port)) as sock:
        sock.sendall(b"GET /ready HTTP/1.1\r\nContent-Length: -1\r\n\r\n")
        sock.recv(1000)
    expected = ("200 GET /health\n", "404 POST /no/such\\npage\n", "400 GET /ready\n")
    for line in expected:
        if asked.value:
            until(lambda line=line: f"[INFO] HTTP - {line}" in asked.service.stderr, line)
        assert ("] HTTP - " in asked.service.stderr) == asked.value


def metrics(asked: Asked) -> None:
    answer = asked.ask("GET", METRICS, service=asked.service if asked.value else asked.start())
    assert answer.status == (200 if asked.value else 404)
    assert ("http_request_duration_milliseconds" in answer.text) == asked.value


def application_names(asked: Asked) -> None:
    with asked.api_token("client", "development") as token:
        asked.ask("GET", "/api/client/features", token=token, Unleash_AppName="zz")
        asked.ask("GET", "/api/client/features?appName=yy", token=token)
    text = asked.ask("GET", METRICS).text
    assert 'path="/api/client/features"' in text
    for name in ("zz", "yy"):
        assert (f'appName="{name}"' in text) != asked.value


def overrides(asked: Asked) -> None:
    told = asked.admin("GET", "/api/admin/ui-config")
    page = asked.ask("GET", "/sign-in").text
    head, _, foot = page.partition("<main")
    for key, part in (("environment", head), ("slogan", foot)):
        assert told[key] == asked.value.get(key, "")
        assert asked.value.get(key, "") in part
    assert ('class="badge"' in head) == bool(asked.value)


@dataclass
class Scene:
    """A service with events and flags of makers without ids, and whoever it asks for versions."""

    service: Process
    asks: Receiver
    rows: Any

    def await_jobs(self, names: set[str]) -> None:
        """Returns when each of these has run."""

        def all_ran() -> bool:
            text = self.service.ask("GET", METRICS)[1].decode()
            counts = re.findall(r'scheduler_duration_seconds_count\{jobId="(.+?)"\} (\d+)', text)
            return names <= {name for name, count in counts if int(count)}

        until(all_ran, f"a run of {names}")

    def makers(self, table: str) -> set[int | None]:
        with self.rows.cursor() as cursor:
            cursor.execute(f"SELECT created_by_user_id FROM {table} WHERE created_by = 'ada'")
            return {id for (id,) in cursor.fetchall()}


_ON = {"ENABLE_SCHEDULED_CREATED_BY_MIGRATION": "true"}
# By name: variables and in-code options; {url} is where whoever is asked listens.
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
def _playing(services: Services, name: str) -> Iterator[Scene]:
    with receiving() as asks:
        asks.answers = [(200, {"Content-Type": "application/json"})]
        asks.body = json.dumps({"versions": VERSIONS, "latest": False}).encode()
        text = json.dumps(_SCENES[name]).replace("{url}", asks.url)
        environ, options = json.loads(text)
        basis = services.basis(fresh=True)  # ids begin with 1
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
            with running(basis | environ, script) as service:
                yield Scene(service, asks, rows)


def scene(asked: Asked, name: str) -> Scene:
    return asked.services.once(_playing, asked.services, name)


def version_address(asked: Asked) -> None:
    found = scene(asked, asked.way)
    found.await_jobs(CHECK if asked.value else LATER)
    assert [one.path for one in found.asks.asked] == ([asked.value] if asked.value else [])
    info = asked.admin("GET", "/api/admin/ui-config", service=found.service)["versionInfo"]
    if not asked.value:
        assert (info["latest"], info["isLatest"]) == ({}, True)
        return
    assert (info["latest"], info["isLatest"]) == (VERSIONS, False)
    sent = {"versions": info["current"], "instanceId": info["instanceId"]}
    assert json.loads(found.asks.asked[0].body) == sent


def version_check(asked: Asked) -> None:
    names = {"default": "environment", "environment": "disabled", "code": "code", "": "environment"}
    found, is_on = scene(asked, names[asked.way]), asked.way == "" or asked.value
    found.await_jobs(CHECK if is_on else LATER)
    assert len(found.asks.asked) == (1 if is_on else 0)


def makers(asked: Asked) -> None:
    found = scene(asked, asked.way)
    found.await_jobs(FILLING if asked.value else LATER)
    if asked.value:
        assert found.makers("features") == {1}
        assert found.makers("events") == {1, None}, "100 at a time"
        text = asked.ask("GET", METRICS, service=found.service).text
        assert "event_created_by_migration_count 100.0" in text
        assert "feature_created_by_migration_count 1.0" in text
        assert "created-by of events: 100 done" in found.service.stderr
    else:
        assert found.makers("features") == found.makers("events") == {None}


ROWS = (
    Row("getLogger", provider, default=None, code={"call": "logger"}, alone=True),
    Row("logLevel", level, "LOG_LEVEL", "info", "debug", code="error"),
    Row("enableRequestLogger", request_log, default=False, code=True),
    Row("server.serverMetrics", metrics, default=True),
    Row("server.serverMetrics", metrics, code=False, alone=True),
    Row(
        "responseTimeWithAppNameKillSwitch",
        application_names,
        "SERVICE_RESPONSE_TIME_WITH_APP_NAME_KILL_SWITCH",
        False,
        "true",
        True,
        code=False,
    ),
    Row("ui", overrides, default={}, code={"environment": "staging", "slogan": "Ship it"}),
    Row(
        "versionCheck.url",
        version_address,
        "SERVICE_VERSION_URL",
        None,
        "/environment",
        code="/code",
        alone=True,
    ),
    Row(
        "versionCheck.enable",
        version_check,
        "CHECK_VERSION",
        True,
        "never",
        False,
        code=True,
        alone=True,
    ),
    Row("versioning: the service asks for the latest version", version_check),
    Row(
        "server.enableScheduledCreatedByMigration",
        makers,
        "ENABLE_SCHEDULED_CREATED_BY_MIGRATION",
        False,
        "true",
        True,
        code=False,
        alone=True,
    ),
)
