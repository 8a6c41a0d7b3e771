"""Messages of Amazon SNS at a signal endpoint."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
import webtest

from sigservice.jobs import buffers
from tests.conftest import ADMIN
from tests.services.signals.test_sns import CONFIRM_URL, TOPIC, Sns

URL = "/api/signal-endpoint/deploys"
CONFIRMATION = {
    "Type": "SubscriptionConfirmation",
    "Token": "2336412f37",
    "SubscribeURL": CONFIRM_URL,
}
ALARM = json.dumps({"AlarmName": "errors", "NewStateValue": "ALARM"})


@pytest.fixture
def endpoint(make):
    return make.endpoint(options={"idempotency": {"paths": ["MessageId"]}})


@pytest.fixture
def amazon(service, web, clock, endpoint, monkeypatch):
    """Signs messages; the endpoint accepts its topic."""
    amazon = Sns(clock)
    monkeypatch.setattr(service.context.sns, "fetch", amazon.fetch)
    signature = {"scheme": "aws-sns", "topics": [TOPIC]}
    path = f"/api/admin/signal-endpoints/{endpoint['id']}/tokens"
    web.post_json(path, {"name": "sns", "signature": signature}, headers=ADMIN)
    return amazon


@pytest.fixture
def send(web, clock):
    def post(body, status=200):
        clock.advance(1)
        message_type = json.loads(body)["Type"]
        headers = {"x-amz-sns-message-type": message_type, "Content-Type": "text/plain"}
        return web.post(URL, body, headers=headers, status=status)

    return post


def test_a_notification_is_a_signal_with_the_parsed_message(amazon, send):
    (signal,) = send(amazon.make_body(ALARM)).json["signals"]
    assert signal["payload"]["Message"]["NewStateValue"] == "ALARM"
    assert "Signature" not in signal["payload"]


def test_a_repeated_notification_is_one_signal(amazon, send):
    body = amazon.make_body(ALARM)
    first = send(body)
    assert send(body).json == first.json


def test_a_raw_message_is_named(amazon, service, web, endpoint):
    headers = {"x-amz-sns-message-type": "Notification", "x-amz-sns-rawdelivery": "true"}
    web.post(URL, ALARM, headers=headers, content_type="text/plain", status=401)
    buffers.store_counts(service.context)
    path = f"/api/admin/signal-endpoints/{endpoint['id']}/refused-calls"
    (call,) = web.get(path, headers=ADMIN).json["refusedCalls"]
    assert "Disable raw message delivery" in call["reason"]


def test_a_changed_message_is_401(amazon, send):
    send(amazon.make_body(ALARM).replace(b"ALARM", b"CLEAR"), status=401)


def test_a_subscription_is_confirmed_and_no_signal_is_stored(amazon, send, web, endpoint):
    body = amazon.make_body("You have chosen", **CONFIRMATION)
    assert send(body).json == {"signals": []}
    assert amazon.urls[-1] == CONFIRM_URL
    path = f"/api/admin/signal-endpoints/{endpoint['id']}/signals"
    assert web.get(path, headers=ADMIN).json["signalEndpointSignals"] == []


def test_repeated_confirmations_are_limited(amazon, send, clock):
    body = amazon.make_body("You have chosen", **CONFIRMATION)
    send(body)
    clock.advance(-1)
    send(body, status=429)
    assert amazon.urls.count(CONFIRM_URL) == 1


def test_a_forged_confirmation_is_not_confirmed(amazon, send):
    body = amazon.make_body("You have chosen", **CONFIRMATION)
    send(body.replace(b"You have", b"I have"), status=401)
    assert CONFIRM_URL not in amazon.urls


def test_a_token_that_another_process_has_deleted_confirms_nothing(
    amazon, send, make_service, web, endpoint
):
    send(amazon.make_body(ALARM))
    path = f"/api/admin/signal-endpoints/{endpoint['id']}/tokens"
    (token,) = web.get(path, headers=ADMIN).json["signalEndpointTokens"]
    another = webtest.TestApp(make_service().app)
    another.delete(f"{path}/{token['id']}", headers=ADMIN)
    send(amazon.make_body("You have chosen", **CONFIRMATION), status=401)
    assert CONFIRM_URL not in amazon.urls


def test_an_expired_token_leaves_another_one_of_its_topic_valid(amazon, send, web, endpoint, clock):
    path = f"/api/admin/signal-endpoints/{endpoint['id']}/tokens"
    (old,) = web.get(path, headers=ADMIN).json["signalEndpointTokens"]
    web.delete(f"{path}/{old['id']}", headers=ADMIN)
    body = {"name": "old", "signature": {"scheme": "aws-sns", "topics": [TOPIC]}}
    expiry = {"expiresAt": (clock.now() + timedelta(hours=1)).isoformat()}
    web.post_json(path, body | expiry, headers=ADMIN)
    clock.advance(7200)
    send(amazon.make_body(ALARM), status=401)
    assert amazon.urls == []
    web.post_json(path, body | {"name": "new"}, headers=ADMIN)
    send(amazon.make_body(ALARM))
