"""Debian's Alertmanager, with the configuration of docs/senders, reports to a listening service.

Real processes and real time.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Any

import pytest
from bs4 import BeautifulSoup

import sigservice
from tests.conftest import ADMIN, ADMIN_TOKEN
from tests.server.process import find_free_port, until
from tests.waiting import DEADLINE_SECONDS

PROGRAM = shutil.which("prometheus-alertmanager")
RECIPE = Path(__file__).parents[2] / "docs" / "senders" / "files" / "alertmanager.yml"

LABELS = {"alertname": "HighErrorRate", "service": "shop", "severity": "critical"}

pytestmark = [
    pytest.mark.alertmanager,
    pytest.mark.skipif(PROGRAM is None, reason="prometheus-alertmanager is not installed"),
]


@pytest.fixture
def base_url(database) -> Iterator[str]:
    """A listening service with the real clock."""
    service = sigservice.start(
        {
            "db": database.options(),
            "logLevel": "error",
            # Graceful shutdown would replace the signal handlers of pytest.
            "server": {"host": "127.0.0.1", "port": 0, "gracefulShutdownEnable": False},
            "authentication": {
                "initialAdminUser": {"username": "ada", "password": "Correct-Horse-7"},
                "initApiTokens": [
                    {"type": "admin", "secret": ADMIN_TOKEN, "environment": "*", "project": "*"}
                ],
            },
        },
        {},
    )
    yield f"http://127.0.0.1:{service.port}"
    service.stop()


@pytest.fixture
def alertmanager(tmp_path) -> Iterator[Callable[[str], str]]:
    """`alertmanager(configuration)`: its address once it is ready."""
    started: list[subprocess.Popen[bytes]] = []

    def start(write_configuration: str) -> str:
        (tmp_path / "alertmanager.yml").write_text(write_configuration)
        log = tmp_path / "alertmanager.log"
        address = f"127.0.0.1:{find_free_port()}"
        with log.open("wb") as output:
            process = subprocess.Popen(
                [
                    PROGRAM,
                    f"--config.file={tmp_path / 'alertmanager.yml'}",
                    f"--storage.path={tmp_path / 'storage'}",
                    f"--web.listen-address={address}",
                    "--cluster.listen-address=",
                ],
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd=tmp_path,
            )
        started.append(process)

        def ready() -> bool:
            assert process.poll() is None, log.read_text()
            try:
                return fetch(f"http://{address}/-/ready").startswith("OK")
            except OSError:
                return False

        until(ready, "Alertmanager to be ready")
        return f"http://{address}"

    yield start
    for process in started:
        process.terminate()
        try:
            process.wait(DEADLINE_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def test_firing_and_resolved_alerts_are_shown(base_url, alertmanager):
    endpoint = call_api(base_url, "", {"name": "alerts", "template": "alertmanager"})
    token = call_api(base_url, f"/{endpoint['id']}/tokens", {"name": "alertmanager-eu"})
    address = alertmanager(write_configuration(endpoint["url"], token["token"]))
    view = open_browser(base_url)
    page = f"{base_url}/admin/signals/{endpoint['id']}/log"
    started_at = datetime.now(UTC) - timedelta(minutes=1)

    def list_received_statuses() -> list[str]:
        """The status of each notification in the JSON list, newest first."""
        rows = call_api(base_url, f"/{endpoint['id']}/signals")["signalEndpointSignals"]
        assert {row["tokenName"] for row in rows} <= {"alertmanager-eu"}
        assert {row["payload"]["version"] for row in rows} <= {"4"}
        assert all(row["payload"]["alerts"][0]["labels"] == LABELS for row in rows)
        return [row["payload"]["status"] for row in rows]

    def list_shown_statuses() -> list[str]:
        """The same from the page."""
        items = parse_html(fetch(page, opener=view)).find(id="signals").find_all("li")
        assert {item.find(class_="tag").text for item in items} <= {"alertmanager-eu"}
        return [json.loads(item.pre.text)["status"] for item in items]

    assert list_shown_statuses() == []
    send_alert(address, startsAt=started_at.isoformat())
    until(lambda: list_received_statuses() == ["firing"], "the firing notification")
    assert list_shown_statuses() == ["firing"]

    resolved_at = datetime.now(UTC) - timedelta(seconds=1)
    send_alert(address, startsAt=started_at.isoformat(), endsAt=resolved_at.isoformat())
    until(lambda: list_received_statuses() == ["resolved", "firing"], "the resolved notification")
    assert list_shown_statuses() == ["resolved", "firing"]


@pytest.mark.parametrize(
    "limit", [None, {"perSecond": 5, "burst": 1, "status": 503}], ids=["template", "exceeded"]
)
def test_ten_groups_at_once_are_ten_signals_before_the_next_interval(base_url, alertmanager, limit):
    body = {"name": "alerts", "template": "alertmanager"}
    if limit:  # Alertmanager repeats what is answered 503
        body["options"] = {"rateLimit": limit}
    endpoint = call_api(base_url, "", body)
    token = call_api(base_url, f"/{endpoint['id']}/tokens", {"name": "alertmanager-eu"})
    address = alertmanager(
        write_configuration(endpoint["url"], token["token"], group_interval="5m")
    )
    names = {f"Alert{number}" for number in range(10)}
    send_alerts(address, [{"labels": LABELS | {"alertname": name}} for name in names])

    def list_names() -> list[str]:
        rows = call_api(base_url, f"/{endpoint['id']}/signals")["signalEndpointSignals"]
        return [row["payload"]["groupLabels"]["alertname"] for row in rows]

    until(lambda: len(list_names()) == 10, "ten signals")
    assert set(list_names()) == names
    until(lambda: read_counter(address, "alertmanager_notifications_total") == 10, "ten successes")
    assert read_counter(address, "alertmanager_notifications_failed_total") == 0
    retries = read_counter(address, "alertmanager_notification_requests_failed_total")
    assert (retries > 0) is bool(limit)


def test_an_alert_rolls_back_a_release_that_stays_rolled_back(base_url, alertmanager):
    endpoint = call_api(base_url, "", {"name": "alerts", "template": "alertmanager"})
    token = call_api(base_url, f"/{endpoint['id']}/tokens", {"name": "alertmanager-eu"})
    address = alertmanager(write_configuration(endpoint["url"], token["token"]))
    flags = f"{base_url}/api/admin/projects/default/features"
    place = f"{flags}/checkout/environments/production"
    filters = [{"path": "commonLabels.service", "operator": "IN", "values": ["shop"]}]
    guard = {"kind": "signal", "endpointId": endpoint["id"], "effect": "rollBack"}
    body = {
        "steps": [{"rollout": 10, "minutes": 5}, {"rollout": 100}],
        "guards": [guard | {"filters": filters}],
    }
    fetch(flags, json.dumps({"name": "checkout"}).encode(), headers=ADMIN)
    release = json.loads(fetch(f"{place}/releases", json.dumps(body).encode(), headers=ADMIN))
    assert (release["state"], release["rollout"]) == ("running", 10)

    def read_state() -> tuple[str, int]:
        answer = json.loads(fetch(f"{place}/releases/{release['id']}", headers=ADMIN))
        return answer["state"], answer["rollout"]

    started_at = datetime.now(UTC) - timedelta(minutes=1)
    send_alert(address, startsAt=started_at.isoformat())
    until(lambda: read_state() == ("rolledBack", 0), "the rollback")
    resolved_at = datetime.now(UTC) - timedelta(seconds=1)
    send_alert(address, startsAt=started_at.isoformat(), endsAt=resolved_at.isoformat())

    def list_statuses() -> list[str]:
        rows = call_api(base_url, f"/{endpoint['id']}/signals")["signalEndpointSignals"]
        return [row["payload"]["status"] for row in rows]

    until(lambda: list_statuses()[0] == "resolved", "the resolved notification")
    assert read_state() == ("rolledBack", 0)


def read_counter(address: str, name: str) -> float:
    """A metric of Alertmanager about webhooks."""
    (line,) = re.findall(
        rf'^{name}\{{integration="webhook"\}} (.*)$', fetch(f"{address}/metrics"), re.MULTILINE
    )
    return float(line)


def write_configuration(url: str, token: str, *, group_interval: str = "2s") -> str:
    """The configuration of the page with this address and token, and shorter intervals."""
    text = RECIPE.read_text()
    ours = {
        "url": url,
        "credentials": token,
        "group_wait": "200ms",
        "group_interval": group_interval,
    }
    for key, value in ours.items():
        text, count = re.subn(rf"(\b{key}:) .+", rf"\1 {value}", text)
        assert count == 1, f"the recipe needs one line with {key}"
    return text


def send_alert(address: str, **times: str) -> None:
    send_alerts(address, [{"labels": LABELS, **times}])


def send_alerts(address: str, alerts: list[dict[str, Any]]) -> None:
    fetch(f"{address}/api/v2/alerts", json.dumps(alerts).encode())


def call_api(base_url: str, path: str, body: Any = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    return json.loads(fetch(f"{base_url}/api/admin/signal-endpoints{path}", data, headers=ADMIN))


def open_browser(base_url: str) -> urllib.request.OpenerDirector:
    """A browser with Ada's session."""
    browser = open_without_proxy(urllib.request.HTTPCookieProcessor(CookieJar()))
    page = parse_html(fetch(f"{base_url}/sign-in", opener=browser))
    form = {field["name"]: field["value"] for field in page.find_all("input", type="hidden")}
    form |= {"username": "ada", "password": "Correct-Horse-7"}
    kind = {"Content-Type": "application/x-www-form-urlencoded"}
    data = urllib.parse.urlencode(form).encode()
    fetch(f"{base_url}/sign-in", data, headers=kind, opener=browser)
    return browser


def parse_html(text: str) -> BeautifulSoup:
    return BeautifulSoup(text, "html.parser")


def open_without_proxy(*handlers: urllib.request.BaseHandler) -> urllib.request.OpenerDirector:
    """An opener without the proxies of the machine."""
    return urllib.request.build_opener(urllib.request.ProxyHandler({}), *handlers)


def fetch(
    url: str,
    data: bytes | None = None,
    *,
    headers: dict[str, str] | None = None,
    opener: urllib.request.OpenerDirector | None = None,
) -> str:
    """The text of the response. With `data` it is a POST, of JSON by default."""
    kind = {"Content-Type": "application/json"} if data is not None else {}
    request = urllib.request.Request(url, data, kind | (headers or {}))
    with (opener or open_without_proxy()).open(request, timeout=DEADLINE_SECONDS) as answer:
        return answer.read().decode()
