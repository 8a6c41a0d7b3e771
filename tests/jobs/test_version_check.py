"""The version check with a real server: request, validation, and where the result appears."""

from __future__ import annotations

import json
import threading
import time

import pytest
import webtest

from sigservice.application import service
from sigservice.jobs import version_check
from sigservice.services.system import version_check as service_module
from tests.conftest import ADMIN

UI_CONFIG = "/api/admin/ui-config"
NEWER = {"versions": {"oss": "9.1.0", "enterprise": "9.1.0"}, "latest": False}


class Lines:
    """A log provider that collects the info lines."""

    def __init__(self):
        self.lines = []

    def __call__(self, name):
        return self

    def debug(self, *args): ...
    def warn(self, *args): ...
    def error(self, *args): ...
    def info(self, text, *args):
        self.lines.append(text % args)


def answer(receiver, body, status=200):
    receiver.body = body if isinstance(body, bytes) else json.dumps(body).encode()
    receiver.answers = [(status, {"Content-Type": "application/json"})]


def test_a_newer_version_is_logged_and_shown(make_service, receiver):
    answer(receiver, NEWER)
    lines = Lines()
    url = {"versionCheck": {"url": f"{receiver.url}/v?x=1"}, "getLogger": lines}
    service = make_service(url)
    web = webtest.TestApp(service.app)
    before = web.get(UI_CONFIG, headers=ADMIN).json["versionInfo"]
    assert (before["latest"], before["isLatest"]) == ({}, True)
    version_check.run_once(service.context)
    (request,) = receiver.requests
    assert (request.path, json.loads(request.body)) == (
        "/v?x=1",
        {
            "versions": {"oss": before["current"]["oss"], "enterprise": ""},
            "instanceId": before["instanceId"],
        },
    )
    after = web.get(UI_CONFIG, headers=ADMIN).json["versionInfo"]
    assert (after["latest"], after["isLatest"]) == (NEWER["versions"], False)
    assert lines.lines == ["version 9.1.0 is available"]
    assert "9.1.0" not in web.get("/sign-in").text
    page = web.get("/sign-in")
    page.form["username"], page.form["password"] = "ada", "Correct-Horse-7"
    page.form.submit()
    assert "Version 9.1.0 is available." in web.get("/").text
    answer(receiver, NEWER | {"latest": True})
    version_check.run_once(service.context)
    assert web.get(UI_CONFIG, headers=ADMIN).json["versionInfo"]["isLatest"] is True
    assert "newer version" not in web.get("/").text


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 200),
        (b"[]", 200),
        (b'{"more":' + b"[" * 60_000, 200),
        (b"\xff", 200),
        ({"versions": {"oss": "<b>1</b>"}, "latest": False}, 200),
        ({"versions": {"oss": "9" * 65}, "latest": False}, 200),
        ({"versions": {"oss": "9.1.0"}}, 200),
        (NEWER, 500),
        (b" " * 100_000 + json.dumps(NEWER).encode(), 200),
    ],
)
def test_an_invalid_response_is_logged_and_ignored(make_service, receiver, body, status):
    answer(receiver, body, status)
    lines = Lines()
    service = make_service({"versionCheck": {"url": receiver.url}, "getLogger": lines})
    version_check.run_once(service.context)
    assert len(receiver.requests) == len(lines.lines) == 1
    assert lines.lines[0].startswith("version check failed: ")
    assert service.context.version_status.versions is None


def test_a_slow_server_is_a_timeout(make_service, receiver, monkeypatch):
    monkeypatch.setattr(service_module, "TIMEOUT_SECONDS", 0.2)
    receiver.hold = threading.Event()
    lines = Lines()
    service = make_service({"versionCheck": {"url": receiver.url}, "getLogger": lines})
    began = time.monotonic()
    version_check.run_once(service.context)
    receiver.hold.set()
    assert time.monotonic() - began < 30
    assert len(lines.lines) == 1


def test_the_check_uses_the_proxy(make_service, receiver):
    answer(receiver, NEWER)
    environ = {"SERVICE_VERSION_URL": "http://versions.example/v", "HTTP_PROXY": receiver.url}
    service = make_service({}, environ)
    version_check.run_once(service.context)
    assert [request.path for request in receiver.requests] == ["http://versions.example/v"]
    assert service.context.version_status.newer_version == "9.1.0"


@pytest.mark.parametrize(
    ("url", "enable", "is_enabled"),
    [
        ("http://a.example", "", True),
        ("http://a.example", "true", True),
        ("http://a.example", "false", False),
        ("http://a.example", "never", False),
        ("", "true", False),
    ],
)
def test_the_check_depends_on_the_configuration(url, enable, is_enabled):
    from sigservice.config import load_config

    environ = {"SERVICE_VERSION_URL": url, "CHECK_VERSION": enable}
    jobs = service._list_jobs(load_config({}, environ).config)
    assert (service.VERSION_CHECK in jobs) is is_enabled
    assert (service.VERSION_CHECK.every_seconds, service.VERSION_CHECK.first_seconds) == (
        172800,
        30,
    )
