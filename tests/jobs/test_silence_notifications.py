"""What silence causes: notifications to a real receiver, and action sets that run and revert."""

from __future__ import annotations

import base64

import pytest
import webtest
from standardwebhooks import Webhook

from sigservice.services.apprise_channels import Text
from sigservice.services.signals.silence_changes import render_text
from tests.actions_kit import Alerts
from tests.conftest import ADMIN, Make
from tests.jobs.silence_kit import ENDPOINTS, Silence, read_events

SECRET = "whsec_" + base64.b64encode(b"0123456789abcdef01234567").decode()
URL = "https://flags.example/base"


@pytest.fixture
def silence(make_service, clock):
    environ = {"SERVICE_WEBHOOK_ALLOWED_HOSTS": "127.0.0.1", "SERVICE_URL": URL}
    return Silence(make_service({}, environ), clock)


def channel(receiver, *on, path="/hook?key=s3cret", **more):
    return {"type": "webhook", "url": receiver.url + path, "on": [*on], **more}


def test_each_change_is_sent_once_and_signed(silence, receiver):
    hook = channel(receiver, "late", "down", "up", secret=SECRET)
    endpoint = silence.endpoint(everySeconds=60, graceSeconds=30, notifications=[hook])
    silence.send()
    silence.wait(100)
    assert silence.services[0].context.outbox_waiting.is_set()
    assert silence.notify() == 2
    silence.send()
    assert (silence.notify(), silence.notify()) == (1, 0)
    late, down, up = (
        Webhook(SECRET).verify(request.body, dict(request.headers)) for request in receiver.requests
    )
    assert [event["type"] for event in (late, down, up)] == [
        f"signal-endpoint.silence.{state}" for state in ("late", "down", "up")
    ]
    signals = silence.own_signals(endpoint)
    data = signals[1]["payload"]["data"] | {
        "endpointId": endpoint["id"],
        "status": "firing",
        "state": "down",
        "signalId": signals[1]["id"],
        "url": f"{URL}/admin/signals/{endpoint['id']}/log",
        "text": "Signal endpoint backup is down",
    }
    assert down["data"] == data


def test_up_is_only_sent_to_channels_that_were_notified_before(silence, receiver):
    hooks = [
        channel(receiver, "down", "up", path="/down"),
        channel(receiver, "late", "up", path="/late"),
    ]
    silence.endpoint(everySeconds=60, graceSeconds=300, notifications=hooks)
    silence.send()
    silence.wait(60)
    silence.send()
    silence.notify()
    assert [request.path for request in receiver.requests] == ["/late", "/late"]


def test_a_failed_notification_is_sent_again(silence, receiver):
    receiver.answers = [(500, {}), (204, {})]
    silence.endpoint(everySeconds=60, notifications=[channel(receiver, "down")])
    silence.send()
    silence.wait(60)
    silence.notify()
    silence.clock.advance(10)
    silence.notify()
    first, second = receiver.requests
    assert first.headers["webhook-id"] == second.headers["webhook-id"]
    assert first.body == second.body
    silence.clock.advance(3600)
    assert silence.notify() == 0


def test_a_notification_of_a_deleted_endpoint_is_sent(silence, receiver):
    endpoint = silence.endpoint(everySeconds=60, notifications=[channel(receiver, "down")])
    silence.send()
    silence.wait(60)
    silence.web.delete(f"{ENDPOINTS}/{endpoint['id']}", headers=ADMIN)
    silence.notify()
    (event,) = read_events(receiver)
    assert event["data"]["endpoint"] == "backup"


def test_the_text_for_people():
    data = {
        "endpoint": "backup",
        "endpointId": 7,
        "lastSignalAt": "2031-01-10T01:50:02.000Z",
        "expectedAt": "2031-01-10T02:00:00.000Z",
        "silentSeconds": 1200,
    }
    message = {"state": "down", "data": data}
    assert render_text(message, URL) == Text(
        "Signal endpoint backup is down",
        "Last signal: 2031-01-10T01:50:02.000Z\nExpected: 2031-01-10T02:00:00.000Z\n"
        f"Silence: 1200 seconds\nSignals: {URL}/admin/signals/7/log",
        "failure",
    )
    assert "http" not in render_text(message, "").body


def test_an_action_set_from_the_template_runs_and_reverts(make_service, clock):
    service = make_service()
    web = webtest.TestApp(service.app)
    alerts, silence = Alerts(service, web, Make(web)), Silence(service, clock)
    silence.tokens["alerts"] = alerts.token
    silence.put(alerts.endpoint, options={"silence": {"everySeconds": 60, "graceSeconds": 30}})
    recipes = web.get("/api/admin/action-recipes", headers=ADMIN).json["recipes"]
    (recipe,) = [recipe for recipe in recipes if recipe["name"] == "silence"]
    set = alerts.set(filters=recipe["filters"], options=recipe["options"])["id"]
    silence.send("alerts")
    silence.wait(60)
    alerts.work()
    assert (silence.state(alerts.endpoint), alerts.is_on()) == ("late", True)
    silence.wait(30)
    assert service.context.signals_waiting.is_set()
    alerts.work()
    assert not alerts.is_on()
    silence.send("alerts")
    alerts.work()
    assert alerts.is_on()
    assert [state for state in alerts.states(set) if state[1] == "success"] == [
        ("signal", "success"),
        ("resolved", "success"),
    ]
