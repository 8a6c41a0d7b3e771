"""Each sender of docs/senders, with its template, its credential, its headers and its payload."""

from __future__ import annotations

import hashlib
import hmac
import json
import uuid
from collections.abc import Callable
from typing import Any, NamedTuple

from tests.conftest import ADMIN
from tests.services.signals.test_sns import Sns
from tests.table_tests import each

PATH = "/api/admin/signal-endpoints"
FIRST_DELIVERY = "72d3162e-cc78-11e3-81ab-4c9367dc0958"


class Call(NamedTuple):
    """What a sender has to send: its credential, the body, the number of seconds since 1970, and
    an ID that is the same in a repeated delivery."""

    secret: str
    body: bytes
    now: int
    delivery: str


def bearer(call: Call) -> dict[str, str]:
    return {"Authorization": f"Bearer {call.secret}"}


def sign(call: Call, before: str = "") -> str:
    return hmac.digest(call.secret.encode(), before.encode() + call.body, hashlib.sha256).hex()


def grafana(call: Call) -> dict[str, str]:
    return {
        "X-Grafana-Alerting-Timestamp": str(call.now),
        "X-Grafana-Alerting-Signature": sign(call, f"{call.now}:"),
    }


def sentry(call: Call) -> dict[str, str]:
    return {
        "Request-ID": uuid.uuid4().hex,
        "Sentry-Hook-Resource": "issue",
        "Sentry-Hook-Timestamp": str(call.now),
        "Sentry-Hook-Signature": sign(call),
    }


def pagerduty(call: Call) -> dict[str, str]:
    return {
        "X-Webhook-Id": "c4c1a2a0-9f0e-4f5b-9bb0-3e5f2b2a0e11",
        "X-PagerDuty-Signature": f"v1={'0' * 64},v1={sign(call)}",  # the secret is rotating
    }


def github_webhooks(call: Call) -> dict[str, str]:
    return {
        "X-GitHub-Event": "workflow_run",
        "X-GitHub-Delivery": call.delivery,
        "X-Hub-Signature-256": f"sha256={sign(call)}",
    }


def gitlab(call: Call) -> dict[str, str]:
    return {
        "X-Gitlab-Event": "Pipeline Hook",
        "X-Gitlab-Token": call.secret,
        "Idempotency-Key": call.delivery,
    }


def with_key(call: Call) -> dict[str, str]:
    return bearer(call) | {"Idempotency-Key": call.delivery}


class Sender(NamedTuple):
    """`title` is the first value of the summary, `states` are those of the firing and of the
    resolved sample; `is_identified`: whether a repeated delivery is recognised."""

    template: str
    make_headers: Callable[[Call], dict[str, str]]
    title: str
    severity: str = ""
    is_identified: bool = False
    states: tuple[str, str] = ("firing", "resolved")
    content_type: str = "application/json"


SENDERS = [
    Sender("alertmanager", bearer, "HighErrorRate", "critical"),
    Sender("grafana", bearer, "Checkout errors"),
    Sender("grafana", grafana, "Checkout errors"),
    Sender("datadog", bearer, "[Triggered on {host:web-3}] Shop: error rate", "error", True),
    Sender("sentry", sentry, "created", "error"),
    Sender("pagerduty", pagerduty, "incident.triggered", "critical", True),
    Sender("pagerduty", bearer, "incident.triggered", "critical", True),
    Sender("github", with_key, "Smoke test", is_identified=True),
    Sender("github-webhooks", github_webhooks, "example/shop", is_identified=True),
    Sender("gitlab", gitlab, "pipeline", is_identified=True),
    Sender("uptime-kuma", bearer, "Checkout"),
    Sender("healthchecks", bearer, "Nightly backup", is_identified=True),
    Sender("opsgenie", bearer, "5% of the checkouts fail", "critical"),
    Sender(
        "cloudevents",
        bearer,
        "org.example.check.failed",
        is_identified=True,
        content_type="application/cloudevents+json; charset=utf-8",
    ),
    Sender("kubernetes", bearer, "BackOff", "warning", True, states=("", "")),
    Sender("generic", with_key, "5% of the checkouts fail", is_identified=True),
]
AMAZON = Sender("aws-sns", lambda call: {}, "checkout-5xx")  # signs in the body


def name_sender(sender: Sender) -> str:
    return f"{sender.template} {sender.make_headers.__name__}"


class Endpoint:
    """An endpoint with the template of a sender, and a token of the type that it uses."""

    def __init__(self, web, clock, sender: Sender) -> None:
        self.web, self.clock, self.sender = web, clock, sender
        recipes = web.get("/api/admin/action-recipes", headers=ADMIN).json["recipes"]
        self.recipe = next(recipe for recipe in recipes if recipe["name"] == sender.template)
        body = {"name": "alerts", "template": sender.template}
        self.path = f"{PATH}/{web.post_json(PATH, body, headers=ADMIN).json['id']}"
        self.secret = self.create_token()

    def create_token(self) -> str:
        body: dict[str, Any] = {"name": "token"}
        if self.sender.make_headers not in (bearer, with_key, gitlab):
            body["signature"] = self.recipe["signature"]
            if self.sender is AMAZON:
                body["signature"] |= {"topics": [self.recipe["sample"]["TopicArn"]]}
            if self.sender.template in ("sentry", "pagerduty"):  # they generate the secret
                body["secret"] = "f2d9c1b07a6e4f5f8f0f6f3e1c0b9a8d"
        token = self.web.post_json(f"{self.path}/tokens", body, headers=ADMIN, status=201).json
        return token.get("token") or body.get("secret", "")

    def send(self, payload: Any, delivery: str = FIRST_DELIVERY):
        data = json.dumps(payload).encode()
        call = Call(self.secret, data, int(self.clock.now().timestamp()), delivery)
        headers = self.sender.make_headers(call) | {"Content-Type": self.sender.content_type}
        return self.web.post("/api/signal-endpoint/alerts", data, headers=headers)

    def list_signals(self) -> list[dict[str, Any]]:
        """Oldest first."""
        rows = self.web.get(f"{self.path}/signals", headers=ADMIN).json["signalEndpointSignals"]
        return rows[::-1]

    def delete(self) -> None:
        self.web.delete(self.path, headers=ADMIN)


def test_samples_are_stored_with_status_and_summary(web, clock):
    @each("sender", SENDERS, name=name_sender)
    def check(sender):
        endpoint = Endpoint(web, clock, sender)
        samples = [endpoint.recipe["sample"], endpoint.recipe["resolvedSample"]]
        samples = [sample for sample in samples if sample is not None]
        for number, sample in enumerate(samples):
            endpoint.send(sample, delivery=f"delivery-{number}")
        rows = endpoint.list_signals()
        endpoint.delete()
        assert [row["payload"] for row in rows] == samples
        assert [row["status"] for row in rows] == list(sender.states[: len(rows)])
        assert rows[0]["summary"][0]["text"] == sender.title
        assert rows[0]["severity"] == sender.severity

    check()


def test_repeated_deliveries_are_stored_once_where_the_sender_identifies_them(web, clock):
    @each("sender", SENDERS, name=name_sender)
    def check(sender):
        endpoint = Endpoint(web, clock, sender)
        first, second = (endpoint.send(endpoint.recipe["sample"]) for _ in range(2))
        count = len(endpoint.list_signals())
        endpoint.delete()
        is_replayed = second.headers.get("Idempotency-Replayed") == "true"
        assert (is_replayed, count) == ((True, 1) if sender.is_identified else (False, 2))
        is_same = first.json["signals"][0]["id"] == second.json["signals"][0]["id"]
        assert is_same is sender.is_identified

    check()


def test_a_hundred_groups_at_once_are_stored(web, clock):
    endpoint = Endpoint(web, clock, SENDERS[0])
    for number in range(100):
        endpoint.send(endpoint.recipe["sample"] | {"groupKey": str(number)})
    data = json.dumps(endpoint.recipe["sample"])
    headers = {"Authorization": f"Bearer {endpoint.secret}", "Content-Type": "application/json"}
    answer = web.post("/api/signal-endpoint/alerts", data, headers=headers, status=503)
    assert int(answer.headers["Retry-After"]) >= 1


def test_the_binary_mode_of_cloudevents_is_stored_as_its_sample(web, clock):
    endpoint = Endpoint(web, clock, next(s for s in SENDERS if s.template == "cloudevents"))
    sample = endpoint.recipe["sample"]
    attributes = {
        f"ce-{name}": text
        for name, text in sample.items()
        if name not in ("data", "datacontenttype")
    }
    headers = attributes | {
        "Authorization": f"Bearer {endpoint.secret}",
        "Content-Type": sample["datacontenttype"],
    }
    web.post("/api/signal-endpoint/alerts", json.dumps(sample["data"]), headers=headers)
    (row,) = endpoint.list_signals()
    assert row["payload"] == sample


def test_cloudwatch_alarms_are_stored_as_their_samples(service, web, clock):
    amazon = Sns(clock)
    service.context.sns.fetch = amazon.fetch
    endpoint = Endpoint(web, clock, AMAZON)
    samples = [endpoint.recipe[name] for name in ("sample", "resolvedSample")]
    answers = []
    for sample in samples * 2:  # each one is delivered twice
        changes = {name: sample[name] for name in ("MessageId", "TopicArn", "Subject")}
        url = f"https://sns.eu-central-1.amazonaws.com/SimpleNotificationService-{'0' * 32}.pem"
        body = amazon.make_body(json.dumps(sample["Message"]), SigningCertURL=url, **changes)
        headers = {"x-amz-sns-message-type": "Notification", "Content-Type": "text/plain"}
        answers.append(web.post("/api/signal-endpoint/alerts", body, headers=headers))
    rows = endpoint.list_signals()
    timestamp = {"Timestamp": clock.now().isoformat()}
    assert [row["payload"] for row in rows] == [sample | timestamp for sample in samples]
    assert [row["status"] for row in rows] == ["firing", "resolved"]
    assert rows[0]["summary"][0]["text"] == "checkout-5xx"
    replays = [answer.headers.get("Idempotency-Replayed") for answer in answers]
    assert replays == [None, None, "true", "true"]
