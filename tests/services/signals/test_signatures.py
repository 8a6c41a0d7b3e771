"""Signatures of senders: vectors of their documentation and libraries, and one byte changed."""

from __future__ import annotations

import base64
import hashlib
import hmac
from datetime import UTC, datetime, timedelta

import msgspec
import pytest
from standardwebhooks import Webhook

from sigservice.senders import SENDERS
from sigservice.services.signals import signatures
from sigservice.services.signals.signature_schemes import SignatureSettings, find_header
from sigservice.services.signals.signatures import (
    WRONG_SIGNATURE,
    generate_secret,
    has_signature,
    verify,
)
from tests.senders.kit import read_test
from tests.table_tests import each

NOW = datetime(2026, 8, 1, 12, tzinfo=UTC)
SECONDS = str(int(NOW.timestamp()))


class Call:
    """A call as a sender documents it."""

    def __init__(self, settings, secret, headers, body, now=NOW):
        self.settings, self.secret, self.body, self.now = settings, secret, body, now
        self.headers = {name.lower(): value for name, value in headers.items()}

    def verify(self, **changes):
        values = vars(self) | changes
        secrets = values["secret"]
        secrets = [secrets] if isinstance(secrets, str) else secrets
        return verify(values["settings"], secrets, values["headers"], values["body"], values["now"])


def read_vector(name):
    """The call that the documentation of a sender gives as an example."""
    vector = read_test(name)["vector"]
    body = vector["body"].encode()
    return Call(SENDERS[name].signature, vector["secret"], vector["headers"], body)


def sign(secret, content, algorithm="sha256"):
    return hmac.new(secret.encode(), content, algorithm).hexdigest()


GITHUB = read_vector("github-webhooks")
SLACK = Call(  # "Verifying requests from Slack" of Slack's documentation
    SignatureSettings("slack"),
    "8f742231b10e8888abcd99yyyzzz85a5",
    {
        "X-Slack-Request-Timestamp": "1531420618",
        "X-Slack-Signature": "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503",
    },
    b"token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow"
    b"&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner"
    b"&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2F"
    b"T1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121."
    b"803a0bc887a14d10d2c447fce8b6703c",
    datetime.fromtimestamp(1531420618, UTC),
)
STANDARD_WEBHOOKS = Call(  # the test "sign function works" of its official libraries
    SignatureSettings("standard-webhooks"),
    "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
    {
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": "1614265330",
        "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    },
    b'{"test": 2432232314}',
    datetime.fromtimestamp(1614265330, UTC),
)
PAGERDUTY = read_vector("pagerduty")
# The others publish no vector: the formula of their documentation, computed here.
SENTRY_BODY = b'{"action": "created", "data": {}}'
SENTRY = Call(
    SignatureSettings("sentry"),
    "client-secret",
    {"Sentry-Hook-Signature": sign("client-secret", SENTRY_BODY)},
    SENTRY_BODY,
)
GRAFANA = Call(
    SignatureSettings("grafana", timestampHeader="X-Grafana-Alerting-Timestamp"),
    "grafana-secret",
    {
        "X-Grafana-Alerting-Timestamp": SECONDS,
        "X-Grafana-Alerting-Signature": sign("grafana-secret", f"{SECONDS}:{{}}".encode()),
    },
    b"{}",
)
GRAFANA_PLAIN = Call(
    SignatureSettings("grafana", header="X-My-Signature"),
    "grafana-secret",
    {"X-My-Signature": sign("grafana-secret", b"{}")},
    b"{}",
)
GENERIC = Call(
    SignatureSettings(
        "generic",
        header="X-Signature",
        timestampHeader="X-Time",
        algorithm="sha512",
        prefix="sig:",
        content="{timestamp}|{body}|end",
    ),
    "generic-secret",
    {
        "X-Time": SECONDS + "123",  # milliseconds
        "X-Signature": "sig:"
        + sign("generic-secret", f"{SECONDS}123|{{}}|end".encode(), "sha512").upper(),
    },
    b"{}",
)
STRIPE = Call(
    SignatureSettings("stripe"),
    "whsec_generated-by-stripe",
    {
        "Stripe-Signature": f"t={SECONDS},"
        f"v1={sign('whsec_generated-by-stripe', f'{SECONDS}.{{}}'.encode())}"
    },
    b"{}",
)
CALLS = {
    "github": GITHUB,
    "slack": SLACK,
    "standard-webhooks": STANDARD_WEBHOOKS,
    "pagerduty": PAGERDUTY,
    "sentry": SENTRY,
    "stripe": STRIPE,
    "grafana": GRAFANA,
    "grafana without a timestamp": GRAFANA_PLAIN,
    "generic": GENERIC,
}
each_call = pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
TIMED = {name: call for name, call in CALLS.items() if len(call.headers) > 1}


@each_call
def test_the_documented_call_is_valid(call):
    assert call.verify() == ""
    assert has_signature(call.settings, call.headers)


@each_call
def test_one_changed_byte_of_the_body_is_refused(call):
    for position in {0, len(call.body) // 2, len(call.body) - 1}:
        body = bytearray(call.body)
        body[position] ^= 1
        assert call.verify(body=bytes(body)) == WRONG_SIGNATURE
    assert call.verify(body=call.body + b"\n") == WRONG_SIGNATURE


@each_call
def test_one_changed_character_of_any_header_is_refused(call):
    for name, value in call.headers.items():
        for position, character in enumerate(value):
            other = "1" if character != "1" else "0"
            changed = value[:position] + other + value[position + 1 :]
            assert call.verify(headers=call.headers | {name: changed}) != "", (name, position)


@each_call
def test_a_missing_or_empty_header_is_named(call):
    for name in call.headers:
        rest = {key: value for key, value in call.headers.items() if key != name}
        for headers in (rest, rest | {name: ""}):
            reason = call.verify(headers=headers)
            assert name in reason.lower()
            assert reason.endswith("is missing.")


@each_call
def test_another_secret_is_refused_and_one_of_two_is_enough(call):
    other = generate_secret(SignatureSettings("standard-webhooks"))
    assert call.verify(secret=other) == WRONG_SIGNATURE
    assert call.verify(secret=[other, call.secret]) == ""
    assert call.verify(secret=[]) == WRONG_SIGNATURE


@pytest.mark.parametrize("call", TIMED.values(), ids=TIMED)
def test_a_replay_outside_of_the_tolerance_is_refused(call):
    for minutes in (-4.9, 4.9):
        assert call.verify(now=call.now + timedelta(minutes=minutes)) == ""
    assert call.verify(now=call.now + timedelta(minutes=12.1)) == (
        "The timestamp is 12 min old; the limit is 5 min."
    )
    assert call.verify(now=call.now - timedelta(hours=3)) == (
        "The timestamp is 3 h in the future; the limit is 5 min."
    )
    settings = msgspec.structs.replace(call.settings, toleranceSeconds=3600)
    assert call.verify(settings=settings, now=call.now + timedelta(minutes=12)) == ""


@each("call", TIMED.values())
@each("text", ["x", "-1", "1.5", " 1", "1" * 14, "١٢٣", "1\n", "{body}"])
def test_a_timestamp_that_is_none_is_refused(call, text):
    name = next(name for name in call.headers if "time" in name)
    assert call.verify(headers=call.headers | {name: text}).endswith("is not a Unix timestamp.")


@pytest.mark.parametrize(
    ("call", "separator"), [(STANDARD_WEBHOOKS, " "), (PAGERDUTY, ","), (PAGERDUTY, ", ")]
)
def test_one_of_several_signatures_is_enough(call, separator):
    name = find_header(call.settings)
    valid = call.headers[name]
    other = valid[:-3] + "000"
    other_version = valid.replace("v1", "v2")
    for values in ([other, valid], [other_version, valid, other], [valid, "", "v1"]):
        assert call.verify(headers=call.headers | {name: separator.join(values)}) == ""
    assert call.verify(headers=call.headers | {name: other + separator + other}) == WRONG_SIGNATURE
    reason = call.verify(headers=call.headers | {name: other_version})
    assert "has no signature that begins with v1" in reason
    flood = separator.join([other] * 1000 + [valid])
    assert call.verify(headers=call.headers | {name: flood}) == WRONG_SIGNATURE


@each("separator", [",", " ", ", "])
@each("prefix", ["", "v1=", "v1,", "sha256="])
def test_a_generic_header_can_have_several_signatures(prefix, separator):
    settings = SignatureSettings("generic", header="S", prefix=prefix)
    valid = prefix + sign("generic-secret", b"{}")
    other = prefix + "0" * 64
    for values in ([other, valid], [valid, other], ["v0=1", valid]):
        headers = {"s": separator.join(values)}
        assert verify(settings, ["generic-secret"], headers, b"{}", NOW) == ""
    headers = {"s": separator.join([other] * 20 + [valid])}
    assert verify(settings, ["generic-secret"], headers, b"{}", NOW) == WRONG_SIGNATURE


def test_stripe_signs_by_any_v1_for_the_first_timestamp():
    header = STRIPE.headers["stripe-signature"]
    time, valid = header.split(",")
    other, old = "v1=" + "0" * 64, f"t={int(SECONDS) - 1}"
    for text in (f"{time},{other},{valid},v0=1", f"{valid}, {time}", f"{time},{valid},{old}"):
        assert STRIPE.verify(headers={"stripe-signature": text}) == ""
    for text in (f"{old},{valid}", f"{old},{time},{valid}", f"{time},{other}"):
        assert STRIPE.verify(headers={"stripe-signature": text}) == WRONG_SIGNATURE
    for text in (valid, f"t=,{valid}", f"t=now,{valid}"):
        reason = STRIPE.verify(headers={"stripe-signature": text})
        assert reason == "The header Stripe-Signature has no Unix timestamp that begins with t="
    assert "begins with v1=" in STRIPE.verify(headers={"stripe-signature": f"{time},v0=1"})


def test_an_old_call_of_stripe_is_refused():
    reason = STRIPE.verify(now=NOW + timedelta(minutes=6))
    assert reason == "The timestamp is 6 min old; the limit is 5 min."


def test_a_comma_separates_no_signatures_of_other_senders():
    value = GITHUB.headers["x-hub-signature-256"]
    headers = {"x-hub-signature-256": f"sha256=0,{value}"}
    assert GITHUB.verify(headers=headers) == WRONG_SIGNATURE


@pytest.mark.parametrize("scheme", ["standard-webhooks", "gitlab"])
def test_what_the_library_of_standard_webhooks_signs_is_valid(scheme):
    settings = SignatureSettings(scheme)
    secret = generate_secret(settings)
    body = '{"title": "wörd"}'
    headers = {
        "webhook-id": "msg_1",
        "webhook-timestamp": SECONDS,
        "webhook-signature": Webhook(secret).sign("msg_1", NOW, body),
    }
    for text in (secret, secret.removeprefix("whsec_")):
        assert verify(settings, [text], headers, body.encode(), NOW) == ""
    assert verify(settings, [secret], headers | {"webhook-id": "2"}, body.encode(), NOW) != ""


@pytest.mark.parametrize("algorithm", ["sha1", "sha256", "sha512"])
def test_generic_signatures_in_base64(algorithm):
    digest = hmac.new(b"generic-secret", b"{}", getattr(hashlib, algorithm)).digest()
    settings = SignatureSettings("generic", header="S", algorithm=algorithm, encoding="base64")
    value = base64.b64encode(digest).decode()
    for text in (value, value.rstrip("=")):
        assert verify(settings, ["generic-secret"], {"s": text}, b"{}", NOW) == ""
    assert verify(settings, ["generic-secret"], {"s": digest.hex()}, b"{}", NOW) != ""


def test_generated_secrets_have_the_form_of_the_sender():
    assert len(generate_secret(SignatureSettings("github"))) == 64
    secret = generate_secret(SignatureSettings("gitlab"))
    assert len(signatures.decode_key(secret)) == 32
    for scheme in ("slack", "sentry", "pagerduty", "stripe", "aws-sns"):
        assert generate_secret(SignatureSettings(scheme)) == ""


ODD = (
    "", " ", ",", "=", "v1", "v1,", "v1=", "v0=", "sha256=", "\x00", "\ud800", "é", "v1,é", "v1,=",
    "v1," + "é" * 10_000, "v1=" + "=" * 10_000, "v1," * 5000, "v1 " * 5000,
    "sha256=" + "0" * 10_000, "1" * 13, "{timestamp}", "%s", "\\1", "\n",
)  # fmt: skip


@each_call
def test_odd_headers_are_refused_without_an_exception(call):
    for name in call.headers:
        for odd in ODD:
            assert call.verify(headers=call.headers | {name: odd}) != "", (name, odd)
    for odd in ODD:
        assert call.verify(headers=dict.fromkeys(call.headers, odd), body=b"\xff{id}") != ""
