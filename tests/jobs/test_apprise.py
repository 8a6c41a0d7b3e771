"""Channels by apprise, against a real receiver; and what is said when apprise is missing."""

from __future__ import annotations

import importlib.util
import json
import re
import socket
import sys

import pytest
import webtest

from sigservice.outgoing.addresses import Reach, Refused
from sigservice.services import apprise_channels
from sigservice.services.notification_text import Text
from tests.actions_kit import SETS
from tests.conftest import ADMIN, Make
from tests.jobs.test_notifications import Told
from tests.receiver import receiving

needs_apprise = pytest.mark.skipif(
    importlib.util.find_spec("apprise") is None, reason="apprise is not installed (extra notify)"
)
HERE = Reach(allow_private=True)
TEXT = Text("A title", "A line\n* <b>another</b>", "warning")


@pytest.fixture
def receiver():
    with receiving() as one:
        yield one


@pytest.fixture
def told(make_service, receiver):
    environ = {"SERVICE_WEBHOOK_ALLOW_PRIVATE": "true", "SERVICE_URL": "https://f.example"}
    service = make_service(environ=environ)
    web = webtest.TestApp(service.app)
    return Told(service, web, Make(web), receiver)


def address(receiver, more=""):
    return f"json://127.0.0.1:{receiver.port}/s3cret{more}"


@needs_apprise
def test_a_run_is_told(told, receiver):
    url = address(receiver)
    id = told.set_with({"type": "apprise", "url": url, "on": ["success"]})
    told.fire()
    receiver.answers = [(503, {}), (200, {})]
    told.tell()
    (seen,) = told.listed(id)
    assert seen["channel"]["type"] == "apprise"
    assert re.fullmatch("json://…[0-9a-f]{4}", seen["channel"]["url"])
    assert (seen["state"], seen["attempts"]) == ("waiting", 1)
    assert "s3cret" not in json.dumps(told.listed(id))
    told.clock.advance(10)
    told.tell()
    assert told.listed(id)[0]["state"] == "sent"
    first, second = (json.loads(asked.body) for asked in receiver.asked)
    assert first == second
    assert (second["title"], second["type"]) == ("Action set kill checkout ran", "success")
    (run,) = told.runs(id)
    link = f"https://f.example/admin/projects/default/actions/{id}/runs/{run['id']}"
    assert link in second["message"]


@needs_apprise
def test_text_stays_text(receiver):
    assert apprise_channels.send(address(receiver), TEXT, HERE) == ""
    assert json.loads(receiver.asked[0].body)["message"] == TEXT.body


@needs_apprise
def test_a_redirect_is_not_followed(receiver):
    receiver.answers = [(307, {"Location": f"{receiver.url}/other"})]
    assert apprise_channels.send(address(receiver, "?redirect=yes"), TEXT, HERE)
    assert [asked.path for asked in receiver.asked] == ["/s3cret"]


@needs_apprise
def test_private_hosts_are_refused(receiver, monkeypatch):
    with pytest.raises(Refused, match="private"):
        apprise_channels.send(address(receiver), TEXT, Reach())
    with pytest.raises(Refused, match="private"):
        apprise_channels.send(f"json://localhost:{receiver.port}/", TEXT, Reach())
    monkeypatch.setattr(
        socket, "getaddrinfo", lambda *args, **more: [(0, 0, 0, "", ("10.0.0.1", 0))]
    )
    with pytest.raises(Refused, match="private"):
        apprise_channels.send("mailto://u:p@example.com?smtp=a.example", TEXT, Reach())
    assert receiver.asked == []


@needs_apprise
@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("json://127.0.0.1/", "private"),
        ("json://2130706433/", "private"),
        ("json://0x7f.1/", "does not know"),
        ("ntfy://[::1]/topic", "private"),
        ("mailto://u:p@example.com?smtp=10.0.0.1", "private"),
        ("dbus://", "machine"),
        ("SYSLOG://", "machine"),
        ("windows://", "machine"),
        ("slack://T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ/?template=/etc/passwd", "machine"),
        ("slack://T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ/?Template=/etc/passwd", "machine"),
        ("fcm://project@1/token?keyfile=/etc/passwd", "machine"),
        ("nothing://x", "does not know"),
        ("slack://", "does not know"),
        ("no address", "does not know"),
        ("json://a.example/\n", "no address"),
        ("json://[", "no address"),
    ],
)
def test_addresses_that_are_refused(url, why):
    assert why in apprise_channels.problem(url, Reach())


@needs_apprise
@pytest.mark.parametrize(
    "url",
    [
        "slack://T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ/#alerts",
        "jsons://hooks.example/x",
        "mailto://u:p@example.com",
        "tgram://123456789:abcdefg_hijklmnop/12315544/",
        "pagerduty://ABCDEFGHIJKLMNOP@0123456789abcdef0123456789abcdef",
    ],
)
def test_addresses_that_are_taken(url):
    assert apprise_channels.problem(url, Reach()) == ""


def test_without_apprise(told, receiver, monkeypatch):
    """It can't be saved; what was saved before is given up, and says why."""
    channel = {"type": "apprise", "url": address(receiver), "on": ["success"]}
    id = told.set_with(channel) if importlib.util.find_spec("apprise") else None
    monkeypatch.setitem(sys.modules, "apprise", None)
    body = told.body(name="b", options={"notifications": [channel]})
    answer = told.web.post_json(SETS, body, headers=ADMIN, status=400).json
    assert answer["details"][0]["path"] == "options.notifications[0].url"
    assert "sigservice[notify]" in answer["message"]
    if id is not None:
        told.fire()
        told.tell()
        (seen,) = told.listed(id)
        assert (seen["state"], seen["attempts"]) == ("given up", 1)
        assert "not installed" in seen["lastError"]
        assert receiver.asked == []
