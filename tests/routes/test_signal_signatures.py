"""Calls that are signed instead of carrying a token, through the route; the signatures are computed
here as the senders document them, those of Standard Webhooks by its library."""

from __future__ import annotations

import base64
import gzip
import hashlib
import hmac
import json
from collections.abc import Callable
from datetime import timedelta
from typing import NamedTuple

import pytest
import webtest
from cryptography.fernet import Fernet
from standardwebhooks import Webhook

from sigservice.crypto.encryption import Encryption
from sigservice.jobs import buffers
from tests.conftest import ADMIN, ENCRYPTION_KEY
from tests.table_tests import each

PATH = "/api/admin/signal-endpoints"
URL = "/api/signal-endpoint/deploys"
SECRET = "0123456789abcdef-secret"
BODY = '{"type": "deploy", "name": "Übung"}'.encode()
ENVIRON = {
    "SIGNAL_ENDPOINT_RATE_LIMIT_PER_SECOND": "1000",
    "FAILED_AUTH_LIMIT_PER_MINUTE": "1000000",
}


def mac(secret, content, algorithm="sha256"):
    return hmac.new(secret.encode(), content, algorithm)


class Sender(NamedTuple):
    """`sign(secret, body, now)` returns the headers; `secret` is that of the sender, if it has one.
    `is_timed` if it signs the time."""

    signature: dict[str, object]
    sign: Callable[..., dict[str, str]]
    secret: str = ""
    is_timed: bool = False


def sign_github(secret, body, now):
    return {"X-Hub-Signature-256": "sha256=" + mac(secret, body).hexdigest()}


def sign_standard(secret, body, now):
    id, seconds = f"msg_{secret[-9:-1]}", str(int(now.timestamp()))
    signature = Webhook(secret).sign(id, now, body.decode())
    return {"webhook-id": id, "webhook-timestamp": seconds, "webhook-signature": signature}


def sign_svix(secret, body, now):
    headers = sign_standard(secret, body, now)
    return {name.replace("webhook-", "svix-"): text for name, text in headers.items()}


def sign_stripe(secret, body, now):
    seconds = str(int(now.timestamp()))
    digest = mac(secret, seconds.encode() + b"." + body).hexdigest()
    return {"Stripe-Signature": f"t={seconds},v1={'0' * 64},v1={digest}"}


def sign_slack(secret, body, now):
    seconds = str(int(now.timestamp()))
    digest = mac(secret, b"v0:" + seconds.encode() + b":" + body).hexdigest()
    return {"X-Slack-Request-Timestamp": seconds, "X-Slack-Signature": "v0=" + digest}


def sign_grafana(secret, body, now):
    seconds = str(int(now.timestamp()))
    digest = mac(secret, seconds.encode() + b":" + body).hexdigest()
    return {"X-Time": seconds, "X-Grafana-Alerting-Signature": digest}


def sign_generic(secret, body, now):
    seconds = str(int(now.timestamp()))
    digest = mac(secret, seconds.encode() + b"." + body, "sha512").digest()
    return {"X-Time": seconds, "X-Sig": "t1=" + base64.b64encode(digest).decode()}


SENDERS = {
    "github": Sender({"scheme": "github"}, sign_github),
    "github with its own secret": Sender({"scheme": "github"}, sign_github, SECRET),
    "gitlab": Sender({"scheme": "gitlab"}, sign_standard, is_timed=True),
    "standard-webhooks": Sender({"scheme": "standard-webhooks"}, sign_standard, is_timed=True),
    "standard-webhooks of Svix": Sender({"scheme": "standard-webhooks"}, sign_svix, is_timed=True),
    "stripe": Sender({"scheme": "stripe"}, sign_stripe, SECRET, is_timed=True),
    "grafana": Sender(
        {"scheme": "grafana", "timestampHeader": "X-Time"}, sign_grafana, is_timed=True
    ),
    "slack": Sender({"scheme": "slack"}, sign_slack, SECRET, is_timed=True),
    "sentry": Sender(
        {"scheme": "sentry"},
        lambda secret, body, now: {"Sentry-Hook-Signature": mac(secret, body).hexdigest()},
        SECRET,
    ),
    "pagerduty": Sender(
        {"scheme": "pagerduty"},
        lambda secret, body, now: {
            "X-PagerDuty-Signature": f"v1={'0' * 64},v1={mac(secret, body).hexdigest()}"
        },
        SECRET,
    ),
    "generic": Sender(
        {
            "scheme": "generic",
            "header": "X-Sig",
            "timestampHeader": "X-Time",
            "algorithm": "sha512",
            "encoding": "base64",
            "prefix": "t1=",
            "content": "{timestamp}.{body}",
            "toleranceSeconds": 60,
        },
        sign_generic,
        is_timed=True,
    ),
}


@pytest.fixture
def service(make_service):
    return make_service(environ=ENVIRON)


@pytest.fixture
def path(make):
    """Of the tokens of an endpoint, which may repeat a delivery."""
    endpoint = make.endpoint(options={"idempotency": {"differentBody": "accept"}})
    return f"{PATH}/{endpoint['id']}/tokens"


def create(web, path, signature, secret="", name="signed"):
    body = {"name": name, "signature": signature, "secret": secret}
    return web.post_json(path, body, headers=ADMIN, status=201).json


def post(web, headers, body=BODY, **more):
    return web.post(URL, body, headers=headers, content_type="application/json", status="*", **more)


def change_last_character(text):
    """The last one whose bits all count, if it is base64 with padding."""
    index = -4 if text.endswith("=") else -1
    character = "1" if text[index] != "1" else "2"
    return text[:index] + character + text[len(text) + index + 1 :]


def test_a_changed_header_differs_from_the_signed_one():
    for text in ("v1,AB1g==", "v1,AB2g==", "v1,A1Bg=", "v1,A2Bg=", "v1,111==", "0a1", "0a2"):
        changed = change_last_character(text)
        assert changed != text
        assert len(changed) == len(text)


@each("name", SENDERS)
def test_signed_calls_are_stored_and_every_change_of_them_is_401(web, path, clock, name):
    sender = SENDERS[name]
    token = create(web, path, sender.signature, sender.secret)
    assert not sender.secret or token["token"] == sender.secret
    headers = sender.sign(token["token"], BODY, clock.now())
    answer = post(web, headers)
    assert answer.status_int == 200, answer.text
    (signal,) = answer.json["signals"]
    assert signal["payload"] == json.loads(BODY)
    assert signal["createdBySourceTokenId"] == token["id"]

    refused = [post(web, headers, bytes([*BODY[:-2], BODY[-2] ^ 1, BODY[-1]]))]
    refused.append(post(web, headers, BODY + b" "))
    refused.append(post(web, sender.sign("QUFB" * 10, BODY, clock.now())))
    for header, value in headers.items():
        others = {key: text for key, text in headers.items() if key != header}
        refused.append(post(web, others))
        refused.append(post(web, others | {header: ""}))
        refused.append(post(web, others | {header: change_last_character(value)}))
    if sender.is_timed:
        clock.advance(3600)
        refused.append(post(web, headers))
        refused.append(post(web, sender.sign(token["token"], BODY, clock.now().replace(year=2200))))
    texts = {(answer.status_int, answer.json["message"]) for answer in refused}
    text = "The token is missing or doesn't belong to this signal endpoint."
    assert texts == {(401, text)}, [answer.status_int for answer in refused]
    web.delete(f"{path}/{token['id']}", headers=ADMIN)


def test_a_signature_is_that_of_the_compressed_body(web, path, clock):
    secret = create(web, path, {"scheme": "github"})["token"]
    data = gzip.compress(BODY)
    headers = sign_github(secret, data, clock.now()) | {"Content-Encoding": "gzip"}
    answer = post(web, headers, data)
    assert answer.json["signals"][0]["payload"] == json.loads(BODY)
    plain = sign_github(secret, BODY, clock.now()) | {"Content-Encoding": "gzip"}
    assert post(web, plain, data).status_int == 401


def test_a_signed_body_that_is_no_json_is_400(web, path, clock):
    secret = create(web, path, {"scheme": "github"})["token"]
    assert post(web, sign_github(secret, b"{", clock.now()), b"{").status_int == 400


def test_a_signed_body_above_the_limit_is_413(web, path, clock):
    secret = create(web, path, {"scheme": "github"})["token"]
    body = b'"' + b"x" * 102_400 + b'"'
    assert post(web, sign_github(secret, body, clock.now()), body).status_int == 413


def test_an_empty_body_can_be_signed(web, path, clock):
    secret = create(web, path, {"scheme": "github"})["token"]
    answer = post(web, sign_github(secret, b"", clock.now()), b"")
    assert answer.json["signals"][0]["payload"] == {}


def test_a_repeat_of_a_signed_call_is_no_new_signal_under_another_key(web, path, clock):
    token = create(web, path, {"scheme": "standard-webhooks"})
    headers = sign_standard(token["token"], BODY, clock.now())
    first = post(web, headers)
    repeat = post(web, headers | {"Idempotency-Key": "another"})
    assert (repeat.headers["Idempotency-Replayed"], repeat.json) == ("true", first.json)


def test_unsigned_headers_add_nothing_to_a_signed_payload(web, path, clock):
    token = create(web, path, {"scheme": "github"})
    event = {"ce-specversion": "1.0", "ce-id": "1", "ce-source": "other", "ce-type": "deploy"}
    headers = sign_github(token["token"], BODY, clock.now())
    assert post(web, headers | event).status_int == 400
    assert post(web, headers).status_int == 200


def test_the_first_of_several_tokens_that_verifies_is_the_sender(web, path, clock):
    ids = {}
    for name in ("a", "b", "c"):
        token = create(web, path, {"scheme": "github"}, name=name)
        ids[token["token"]] = token["id"]
    for secret, id in ids.items():
        answer = post(web, sign_github(secret, BODY, clock.now()))
        assert answer.json["signals"][0]["createdBySourceTokenId"] == id


def create_restricted(web, path, clock, name="restricted", secret="", **restriction):
    """A token of GitHub that expires in an hour, or has these restrictions."""
    body = {"name": name, "signature": {"scheme": "github"}, "secret": secret}
    body |= restriction or {"expiresAt": (clock.now() + timedelta(hours=1)).isoformat()}
    return web.post_json(path, body, headers=ADMIN, status=201).json["token"]


def list_reasons(web, service, path):
    buffers.store_counts(service.context)
    answer = web.get(path.replace("/tokens", "/refused-calls"), headers=ADMIN)
    return {call["reason"] for call in answer.json["refusedCalls"]}


@pytest.mark.parametrize("secret", ["", SECRET])
def test_an_expired_token_leaves_later_ones_of_its_scheme_valid(web, path, clock, secret):
    """Also one with the same secret, which the sender has chosen."""
    create_restricted(web, path, clock, "old", secret)
    new = create(web, path, {"scheme": "github"}, secret, name="new")
    clock.advance(7200)
    answer = post(web, sign_github(new["token"], BODY, clock.now()))
    assert answer.json["signals"][0]["createdBySourceTokenId"] == new["id"]


def test_a_token_of_other_addresses_leaves_later_ones_of_its_scheme_valid(web, path, clock):
    create_restricted(web, path, clock, allowedAddresses=["203.0.113.0/24"])
    new = create(web, path, {"scheme": "github"}, name="new")
    assert post(web, sign_github(new["token"], BODY, clock.now())).status_int == 200


def test_the_reason_of_a_refusal_is_that_of_the_token_that_signed(web, service, path, clock):
    """Whatever tokens are before and after it."""
    create(web, path, {"scheme": "github"}, name="first")
    expired = create_restricted(web, path, clock)
    bound = create_restricted(web, path, clock, "bound", allowedAddresses=["203.0.113.0/24"])
    create(web, path, {"scheme": "github"}, name="last")
    clock.advance(7200)

    def find_reason(secret):
        before = list_reasons(web, service, path)
        assert post(web, sign_github(secret, BODY, clock.now())).status_int == 401
        return list_reasons(web, service, path) - before

    assert find_reason(expired) == {"The token has expired."}
    assert find_reason(bound) == {"The token isn't allowed from this address."}
    assert find_reason("another") == {"The signature is wrong."}


def test_a_signature_of_another_endpoint_is_401(web, path, make, clock):
    other = f"{PATH}/{make.endpoint('other')['id']}/tokens"
    secret = create(web, other, {"scheme": "github"})["token"]
    assert post(web, sign_github(secret, BODY, clock.now())).status_int == 401


def test_the_signing_secret_is_no_bearer_token(web, path):
    secret = create(web, path, {"scheme": "github"})["token"]
    assert post(web, {"Authorization": f"Bearer {secret}"}).status_int == 401


def test_both_signing_secrets_are_valid_in_the_grace_period(web, path, clock):
    old = create(web, path, {"scheme": "github"})
    url = f"{path}/{old['id']}/rotate"
    new = web.post_json(url, {"graceHours": 1}, headers=ADMIN).json

    def statuses():
        return [
            post(web, sign_github(token["token"], BODY, clock.now())).status_int
            for token in (old, new)
        ]

    assert statuses() == [200, 200]
    clock.advance(3600)
    assert statuses() == [401, 200]


def test_the_sender_gives_its_next_secret_too(web, path, clock):
    token = create(web, path, {"scheme": "slack"}, SECRET)
    url = f"{path}/{token['id']}/rotate"
    problem = web.post_json(url, {}, headers=ADMIN, status=400).json
    assert problem["details"][0]["path"] == "secret"
    assert web.post_json(url, {"secret": "next-" + SECRET}, headers=ADMIN).json["token"]
    for secret in (SECRET, "next-" + SECRET):
        assert post(web, sign_slack(secret, BODY, clock.now())).status_int == 200


def test_expiry_and_addresses_apply_to_signatures(web, path, clock):
    body = {
        "name": "signed",
        "signature": {"scheme": "github"},
        "allowedAddresses": ["203.0.113.0/24"],
        "expiresAt": clock.now().replace(year=clock.now().year + 1).isoformat(),
    }
    secret = web.post_json(path, body, headers=ADMIN).json["token"]
    headers = sign_github(secret, BODY, clock.now())
    inside, outside = {"REMOTE_ADDR": "203.0.113.7"}, {"REMOTE_ADDR": "203.0.114.7"}
    assert post(web, headers, extra_environ=inside).status_int == 200
    assert post(web, headers, extra_environ=outside).status_int == 401
    clock.advance(366 * 86_400)
    assert post(web, headers, extra_environ=inside).status_int == 401


def test_nothing_of_a_signing_secret_is_shown_or_stored_readable(web, path, rows):
    secret = "a-very-telling-secret"
    token = create(web, path, {"scheme": "github"}, secret)
    rotated = web.post_json(f"{path}/{token['id']}/rotate", {}, headers=ADMIN).json["token"]
    (token_row,) = rows("SELECT t::text FROM signal_endpoint_tokens t")
    (event_rows,) = rows("SELECT string_agg(e::text, ' ') FROM events e")
    responses = [
        web.get(url, headers=ADMIN).text
        for url in (PATH, path, f"{path}/{token['id']}", "/api/admin/events")
    ]
    for text in (secret, rotated):
        for place in (*token_row, *event_rows, *responses):
            assert text not in place
            assert text[:8] not in place
            assert text.encode().hex() not in place
            assert hashlib.sha256(text.encode()).hexdigest() not in place


@pytest.fixture
def lost(web, path, rows):
    """A token whose secret was encrypted with a key that the service doesn't have."""
    token = create(web, path, {"scheme": "github"}, name="lost")
    foreign = Encryption([Fernet.generate_key().decode()]).encrypt(token["token"])
    rows(
        "UPDATE signal_endpoint_tokens SET encrypted_secret = %s WHERE id = %s",
        foreign,
        token["id"],
    )
    rows("UPDATE signal_endpoints SET version = version + 1")
    return token


def test_a_secret_of_another_key_is_401_for_senders(web, path, clock, lost):
    assert post(web, sign_github(lost["token"], BODY, clock.now())).status_int == 401


def test_a_secret_of_another_key_leaves_the_other_tokens_valid(web, path, clock, lost):
    other = create(web, path, {"scheme": "github"}, name="other")["token"]
    slack = create(web, path, {"scheme": "slack"}, SECRET, name="slack")["token"]
    assert post(web, sign_github(other, BODY, clock.now())).status_int == 200
    assert post(web, sign_slack(slack, BODY, clock.now())).status_int == 200


def test_a_secret_of_another_key_can_be_replaced(web, path, clock, lost):
    """Also while its grace period lasts."""
    url = f"{path}/{lost['id']}/rotate"
    new = web.post_json(url, {"graceHours": 24}, headers=ADMIN).json["token"]
    assert post(web, sign_github(new, BODY, clock.now())).status_int == 200
    assert post(web, sign_github(lost["token"], BODY, clock.now())).status_int == 401


def test_a_key_file_that_comes_back_needs_no_restart(make_service, tmp_path, clock):
    file = tmp_path / "keys"
    file.write_text(ENCRYPTION_KEY)
    environ = ENVIRON | {"SERVICE_ENCRYPTION_KEY_FILE": str(file)}
    web = webtest.TestApp(make_service(environ=environ).app)
    endpoint = web.post_json(PATH, {"name": "deploys"}, headers=ADMIN).json
    secret = create(web, f"{PATH}/{endpoint['id']}/tokens", {"scheme": "github"})["token"]
    headers = sign_github(secret, BODY, clock.now())
    file.unlink()
    assert post(web, headers).status_int == 401
    file.write_text(ENCRYPTION_KEY)
    assert post(web, headers).status_int == 200
