"""Channels by apprise, against a real receiver; and the error without apprise."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import signal
import sys
import threading
from contextlib import closing

import pytest
import webtest

from sigservice.outgoing.addresses import AddressPolicy, DestinationError
from sigservice.outgoing.apprise_service import AppriseMissingError
from sigservice.outgoing.post import DeliveryError
from sigservice.outgoing.proxies import Proxies
from sigservice.outgoing.sender import Sender
from sigservice.services import apprise_channels
from sigservice.services.apprise_channels import Text
from tests.actions_kit import SETS
from tests.conftest import ADMIN, Make
from tests.jobs.test_notifications import AlertsWithReceiver
from tests.receiver import CERTIFICATE, receiving
from tests.server.process import until
from tests.waiting import DEADLINE_SECONDS

pytestmark = pytest.mark.external

needs_apprise = pytest.mark.skipif(
    importlib.util.find_spec("apprise") is None, reason="apprise is not installed (extra notify)"
)
HERE = AddressPolicy(False, ("127.0.0.1", "localhost"))
TEXT = Text("A title", "A line\n* <b>another</b>", "warning")


@pytest.fixture
def alerts(make_service, receiver):
    environ = {
        "SERVICE_WEBHOOK_ALLOWED_HOSTS": "127.0.0.1,localhost",
        "SERVICE_URL": "https://f.example",
    }
    service = make_service(environ=environ)
    web = webtest.TestApp(service.app)
    return AlertsWithReceiver(service, web, Make(web), receiver)


@pytest.fixture(scope="module")
def sender():
    """One process for the tests of this file; it trusts the certificate of localhost."""
    with pytest.MonkeyPatch.context() as patch, closing(Sender()) as one:
        patch.setenv("REQUESTS_CA_BUNDLE", str(CERTIFICATE))
        yield one


@pytest.fixture
def send(sender):
    def send(url, policy=HERE, proxies=None):
        apprise_channels.send(url, TEXT, policy, proxies or Proxies(), sender)

    return send


def address(receiver, more=""):
    return f"json://127.0.0.1:{receiver.port}/s3cret{more}"


@needs_apprise
def test_a_run_is_sent(alerts, receiver):
    url = address(receiver)
    id = alerts.create_set_with({"type": "apprise", "url": url, "on": ["success"]})
    alerts.fire()
    receiver.answers = [(503, {}), (200, {})]
    alerts.send_due()
    (notification,) = alerts.list_notifications(id)
    assert notification["channel"]["type"] == "apprise"
    assert re.fullmatch("json://…[0-9a-f]{4}", notification["channel"]["url"])
    assert (notification["state"], notification["attempts"]) == ("waiting", 1)
    assert "s3cret" not in json.dumps(alerts.list_notifications(id))
    alerts.clock.advance(10)
    alerts.send_due()
    assert alerts.list_notifications(id)[0]["state"] == "sent"
    first, second = (json.loads(request.body) for request in receiver.requests)
    assert first == second
    assert (second["title"], second["type"]) == ("Action set kill checkout ran", "success")
    (run,) = alerts.runs(id)
    link = f"https://f.example/admin/projects/default/actions/{id}/runs/{run['id']}"
    assert link in second["message"]


@needs_apprise
def test_text_stays_text(receiver, send):
    send(address(receiver))
    assert json.loads(receiver.requests[0].body)["message"] == TEXT.body


@needs_apprise
def test_a_redirect_is_not_followed(receiver, send):
    receiver.answers = [(307, {"Location": f"{receiver.url}/other"})]
    with pytest.raises(DeliveryError):
        send(address(receiver, "?redirect=yes"))
    assert [request.path for request in receiver.requests] == ["/s3cret"]


NSEC = "1" * 64


@needs_apprise
@pytest.mark.parametrize(
    "url",
    [
        "json://localhost:{port}/",
        "json://127.0.0.1:{port}/",
        "zulip://bot@127.0.0.1/" + "a" * 32,
        "zulip://bot@localhost.localdomain/" + "a" * 32 + "?verify=no",
        "nostr://" + NSEC + "?relay=ws://localhost:{port}",
        "mailto://u:p@example.com?smtp=localhost&port={port}",
        "rsyslog://localhost:{port}",
        "irc://nick@localhost:{port}/%23room",
        "mqtt://localhost:{port}/topic",
        "matrix://u:p@localhost:{port}/%23room",
        "json://127.0.0.1:{port}/?attach=http://localhost:{port}/",
        "include://localhost:{port}/",
        "script:///bin/true",
    ],
)
def test_this_machine_is_refused_whatever_the_service(receiver, send, url):
    """Refused by the one rule or the other, and nothing connects before a later message does."""
    with pytest.raises((DestinationError, AppriseMissingError)):
        send(url.format(port=receiver.port), AddressPolicy(allow_private=True))
    send(address(receiver, "/later"))
    assert [request.path for request in receiver.requests] == ["/s3cret/later"]


@needs_apprise
def test_a_server_that_names_another_one_does_not_open_it(send):
    """Discovery of a Matrix server, which is allowed here, leads to an address that is not."""
    with receiving("https") as server:
        server.answers = [(200, {"Content-Type": "application/json"})]
        other = f"https://10.255.255.1:{server.port}"
        server.body = json.dumps({"m.homeserver": {"base_url": other}}).encode()
        url = f"matrixs://u:p@localhost:{server.port}/%23room?discovery=yes"
        with pytest.raises(DestinationError):
            send(url)
        assert {request.path for request in server.requests} == {"/.well-known/matrix/client"}


@needs_apprise
def test_certificates_are_verified(send):
    with receiving("https") as server:
        send(f"jsons://localhost:{server.port}/x")
        for url in (
            f"jsons://127.0.0.1:{server.port}/",
            f"jsons://localhost:{server.port}/?verify=0",
        ):
            with pytest.raises((DeliveryError, DestinationError)):
                send(url)
        assert [request.path for request in server.requests] == ["/x"]


@needs_apprise
def test_through_a_proxy(receiver, send):
    """A proxy may be anywhere; it receives no request for a forbidden address."""
    proxies = Proxies(http=receiver.url)
    for host in ("localhost", "127.0.0.1"):
        with pytest.raises(DestinationError):
            send(f"json://{host}:9999/", AddressPolicy(), proxies)
    send("json://hooks.example/x", AddressPolicy(), proxies)
    assert [request.path for request in receiver.requests] == ["http://hooks.example/x"]


@needs_apprise
@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("json://127.0.0.1/", "private"),
        ("json://2130706433/", "private"),
        ("json://0x7f.1/", "does not support"),
        ("ntfy://[::1]/topic", "private"),
        ("mailto://u:p@example.com?smtp=10.0.0.1", "private"),
        ("dbus://", "machine"),
        ("SYSLOG://", "machine"),
        ("windows://", "machine"),
        ("slack://T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ/?template=/etc/passwd", "machine"),
        ("slack://T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ/?Template=/etc/passwd", "machine"),
        ("fcm://project@1/token?keyfile=/etc/passwd", "machine"),
        ("zulip://bot@127.0.0.1/" + "a" * 32, "private"),
        ("mailto://u:p@example.com?pgppub=/etc/passwd", "machine"),
        ("jsons://a.example/?verify=no", "verify"),
        ("jsons://a.example/?verify=yes&verify=False", "verify"),
        ("zulip://bot@chat.example.com/" + "a" * 32 + "?Verify=off", "verify"),
        ("nothing://x", "does not support"),
        ("slack://", "does not support"),
        ("no address", "does not support"),
        ("json://a.example/\n", "not a valid URL"),
        ("json://[", "not a valid URL"),
    ],
)
def test_rejected_addresses(url, why):
    assert why in apprise_channels.find_problem(url, AddressPolicy())


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
def test_accepted_addresses(url):
    assert apprise_channels.find_problem(url, AddressPolicy()) == ""


def test_without_apprise(alerts, receiver, monkeypatch):
    """No such channel can be saved; a saved one is given up with the reason."""
    channel = {"type": "apprise", "url": address(receiver), "on": ["success"]}
    id = alerts.create_set_with(channel) if importlib.util.find_spec("apprise") else None
    monkeypatch.setitem(sys.modules, "apprise", None)
    body = alerts.body(name="b", options={"notifications": [channel]})
    answer = alerts.web.post_json(SETS, body, headers=ADMIN, status=400).json
    assert answer["details"][0]["path"] == "options.notifications[0].url"
    assert ".[notify]" in answer["message"]
    if id is not None:
        alerts.fire()
        alerts.send_due()
        (notification,) = alerts.list_notifications(id)
        assert (notification["state"], notification["attempts"]) == ("given up", 1)
        assert "not installed" in notification["lastError"]
        assert receiver.requests == []


@needs_apprise
def test_a_process_that_was_killed_is_replaced(receiver, sender, send):
    send(address(receiver))
    killed = sender._process
    os.kill(killed.pid, signal.SIGKILL)
    until(lambda: killed.poll() is not None, "its end")
    send(address(receiver))
    assert sender._process.pid != killed.pid
    assert len(receiver.requests) == 2


@needs_apprise
def test_sending_ends_with_the_service(receiver, sender, send):
    """The receiver holds its answer back; whatever waits for it is gone when `close` returns."""
    errors = []

    def run():
        try:
            send(address(receiver))
        except DeliveryError as error:
            errors.append(error)

    receiver.hold = threading.Event()
    thread = threading.Thread(target=run)
    thread.start()
    try:
        until(lambda: receiver.requests, "the message")
        process = sender._process
        sender.close()
        assert process.returncode is not None
        thread.join(DEADLINE_SECONDS)
        assert len(errors) == 1
        with pytest.raises(DeliveryError):
            send(address(receiver))
    finally:
        receiver.hold.set()
