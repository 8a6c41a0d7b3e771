"""Integrations from outside: the proxy that they use, what is counted, and that no log, metric or
answer has a secret."""

from __future__ import annotations

import pytest

from tests.application.test_app import Log
from tests.integrations_kit import ADDONS, ENVIRON, Integrations

SECRET = "hunter2"


@pytest.fixture
def log():
    return Log()


@pytest.fixture
def make_kit(make_service, receiver, clock, log):
    def make(**environ):
        return Integrations(make_service({"getLogger": log}, ENVIRON | environ), receiver, clock)

    return make


def read_metrics(kit):
    kit.clock.advance(10)
    return kit.web.get("/internal-backstage/prometheus").text


def test_requests_go_through_the_proxy(make_kit, receiver):
    kit = make_kit(HTTP_PROXY=receiver.url, SERVICE_SLACK_API_URL="http://slack.example/api/")
    ids = [
        kit.create("http://hooks.example/x"),
        kit.create(
            provider="slack-app", parameters={"accessToken": "xoxb-1", "defaultChannels": "aa"}
        ),
    ]
    receiver.answers, receiver.body = [(200, {})], b'{"ok": true}'
    kit.flag()
    kit.run()
    assert sorted(one.path for one in receiver.requests) == [
        "http://hooks.example/x",
        "http://slack.example/api/chat.postMessage",
    ]
    assert [kit.states(id) for id in ids] == [[("sent", None)]] * 2


def test_a_refused_address_is_not_requested_from_the_proxy_either(make_kit, receiver):
    kit = make_kit(HTTP_PROXY=receiver.url, SERVICE_WEBHOOK_ALLOWED_HOSTS="hooks.example")
    id = kit.create("http://localhost/x")
    kit.flag()
    kit.run()
    assert not receiver.requests
    assert kit.states(id)[0][0] == "given up"


def test_no_secret_is_in_logs_errors_metrics_or_deliveries(make_kit, receiver, log):
    kit = make_kit()
    parameters = {"authorization": SECRET, "customHeaders": f'{{"X-Key": "{SECRET}"}}'}
    id = kit.create(parameters=parameters | {"url": f"{receiver.url}/{SECRET}"})
    lost = kit.create(f"http://127.0.0.1:1/{SECRET}")
    receiver.answers = [(500, {}), (404, {}), (204, {})]
    for name in ("f1", "f2", "f3"):
        kit.flag(name)
        kit.run()
        kit.clock.advance(60)
        kit.run()
    kit.call("post", f"{ADDONS}/{lost}/test", {}, 200)
    assert {state for state, _ in kit.states(id)} == {"sent", "given up"}
    assert "Connection failed" in kit.states(lost)[0][1]
    texts = [str(log.lines), read_metrics(kit), str(kit.call("get", ADDONS))]
    texts += [str(kit.entries(one) + kit.deliveries(one)) for one in (id, lost)]
    assert "was given up" in texts[0]
    assert [text for text in texts if SECRET in text] == []


def test_attempts_and_what_waits_are_counted(make_kit, receiver):
    kit = make_kit()
    kit.create()
    receiver.answers = [(204, {}), (500, {})]
    for name in ("f1", "f2", "f3"):
        kit.flag(name)
        kit.run()
    metrics = read_metrics(kit)
    for result in ("success", "failed"):
        labels = f'destination="webhook",result="{result}"'
        assert f"addon_events_handled{{{labels}}} 1" in metrics
    assert "integration_deliveries_waiting 2" in metrics
    (age,) = [one for one in metrics.splitlines() if one.startswith("integration_deliveries_age")]
    assert float(age.split()[1]) > 0
