"""Messages of Amazon SNS: certificate, signature, topic, age; confirmation of subscriptions."""

from __future__ import annotations

import base64
import contextlib
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import cache, partial

import msgspec
import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.hashes import SHA1, SHA256
from cryptography.hazmat.primitives.serialization import Encoding

from sigservice.errors import UnavailableError
from sigservice.outgoing.addresses import AddressPolicy, DestinationError
from sigservice.outgoing.post import DeliveryError, Response, get
from sigservice.outgoing.proxies import Proxies
from sigservice.services.signals import sns
from sigservice.services.signals.signature_schemes import SignatureSettings
from sigservice.services.signals.signatures import WRONG_SIGNATURE
from sigservice.services.signals.sns import SnsVerifier, make_payload, parse_message
from sigservice.testing import FakeClock
from tests.receiver import CERTIFICATE, receiving
from tests.table_tests import each

TOPIC = "arn:aws:sns:us-east-2:123456789012:alarms"
ORIGIN = "https://sns.us-east-2.amazonaws.com"
CERTIFICATE_URL = f"{ORIGIN}/SimpleNotificationService-{'0123456789abcdef' * 2}.pem"
CONFIRM_URL = f"{ORIGIN}/?Action=ConfirmSubscription&TopicArn={TOPIC}&Token=2336412f37"
SETTINGS = SignatureSettings("aws-sns", topics=[TOPIC])
# The strings to sign of Amazon's documentation, "Verifying the signatures of Amazon SNS messages".
DOCUMENTED_TOPIC = "arn:aws:sns:us-east-2:123456789012:s4-MySNSTopic-1G1WEFCOXTC0P"
DOCUMENTED = """Message
My Test Message
MessageId
4d4dc071-ddbf-465d-bba8-08f81c89da64
Subject
My subject
Timestamp
2019-01-31T04:37:04.321Z
TopicArn
arn:aws:sns:us-east-2:123456789012:s4-MySNSTopic-1G1WEFCOXTC0P
Type
Notification
"""


@cache
def make_key():
    """One key for all tests: making one takes a tenth of a second."""
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


class Sns:
    """What signs messages, as Amazon does: a key and the certificate at a URL."""

    def __init__(self, clock, name="sns.amazonaws.com"):
        self.clock, self.urls, self.hold = clock, [], None
        self.key = make_key()
        self.response = Response(200, "", self.make_certificate(name))

    def make_certificate(self, name, key=None):
        subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(subject)
            .public_key((key or self.key).public_key())
            .serial_number(1)
            .not_valid_before(self.clock.now() - timedelta(days=1))
            .not_valid_after(self.clock.now() + timedelta(days=100))
            .sign(self.key, SHA256())
            .public_bytes(Encoding.PEM)
        )

    def fetch(self, url):
        self.urls.append(url)
        if self.hold is not None:
            self.hold.wait(60)
        if isinstance(self.response, Exception):
            raise self.response
        return self.response

    def sign(self, content, version="2"):
        digest = SHA1() if version == "1" else SHA256()
        signature = self.key.sign(content.encode(), padding.PKCS1v15(), digest)
        return base64.b64encode(signature).decode()

    def notify(self, content="Hello", version="2", **changes):
        return parse_message(self.make_body(content, version, **changes))

    def make_body(self, content="Hello", version="2", **changes):
        """The bytes of a signed message."""
        body = {
            "Type": "Notification",
            "MessageId": "22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324",
            "TopicArn": TOPIC,
            "Message": content,
            "Timestamp": self.clock.now().isoformat(),
            "SignatureVersion": version,
            "SigningCertURL": CERTIFICATE_URL,
            "UnsubscribeURL": f"{ORIGIN}/?Action=Unsubscribe",
        } | changes
        unsigned = ("SignatureVersion", "SigningCertURL", "UnsubscribeURL")
        names = sorted(name for name in body if name not in unsigned)
        text = "".join(f"{name}\n{body[name]}\n" for name in names)
        return json.dumps({"Signature": self.sign(text, version)} | body).encode()

    def ask_to_confirm(self, **changes):
        more = {"Type": "SubscriptionConfirmation", "Token": "2336412f37"}
        return self.notify("You have chosen …", **more | {"SubscribeURL": CONFIRM_URL} | changes)


@pytest.fixture
def clock():
    return FakeClock()


@pytest.fixture(scope="module")
def amazon():
    return Sns(FakeClock())


@pytest.fixture
def sender(amazon, clock):
    """Amazon with a key of the module, because making one takes a while."""
    amazon.clock, amazon.urls, amazon.hold = clock, [], None
    amazon.response = Response(200, "", amazon.make_certificate("sns.amazonaws.com"))
    return amazon


@pytest.fixture
def verifier(sender, clock):
    return SnsVerifier(sender.fetch, clock.monotonic)


@pytest.mark.parametrize("version", ["1", "2"])
@pytest.mark.parametrize("subject", [{}, {"Subject": "Alarm: wörd"}])
def test_a_signed_message_is_valid(sender, verifier, clock, version, subject):
    message = sender.notify('Hello\n\t"wörd"', version, **subject)
    assert verifier.verify(SETTINGS, message, clock.now()) == ""
    assert verifier.verify(SETTINGS, message, clock.now()) == ""
    assert sender.urls == [CERTIFICATE_URL]  # once


def test_what_is_signed_is_as_documented(sender, verifier, clock):
    lines = DOCUMENTED.splitlines()
    body = dict(zip(lines[::2], lines[1::2], strict=True))
    body |= {"SignatureVersion": "1", "SigningCertURL": CERTIFICATE_URL}
    body["Signature"] = sender.sign(DOCUMENTED, "1")
    settings = SignatureSettings("aws-sns", topics=[DOCUMENTED_TOPIC])
    reason = verifier.verify(settings, parse_message(json.dumps(body).encode()), clock.now())
    assert reason.startswith("The timestamp is ")  # the signature is checked before


@pytest.mark.parametrize(
    "changes",
    [
        {"Message": "Hallo"},
        {"MessageId": "other"},
        {"Subject": "new"},
        {"Timestamp": "2026-01-01T00:00:00.000Z"},
        {"Type": "UnsubscribeConfirmation"},
        {"SignatureVersion": "1"},
        {"Signature": "AAAA"},
        {"Signature": "not base64!"},
        {"Message": "\udcff"},
    ],
    ids=str,
)
def test_a_changed_message_is_refused(sender, verifier, clock, changes):
    message = msgspec.structs.replace(sender.notify(), **changes)
    assert verifier.verify(SETTINGS, message, clock.now()) == WRONG_SIGNATURE


def test_a_member_can_not_be_moved_into_the_one_before(sender, verifier, clock):
    message = sender.notify(Subject="Alarm")
    moved = msgspec.structs.replace(
        message, MessageId=f"{message.MessageId}\nSubject\nAlarm", Subject=None
    )
    assert verifier.verify(SETTINGS, moved, clock.now()) == "The MessageId has a line break."


def test_other_topics_and_versions_are_refused_before_anything_is_fetched(sender, verifier, clock):
    for changes, reason in (
        ({"TopicArn": TOPIC + "2"}, "The topic is not allowed."),
        ({"SignatureVersion": "3"}, "The SignatureVersion is neither 1 nor 2."),
        ({"Timestamp": "yesterday"}, "The timestamp is not a date."),
    ):
        message = msgspec.structs.replace(sender.notify(), **changes)
        assert verifier.verify(SETTINGS, message, clock.now()) == reason
    assert sender.urls == []


NAME = f"SimpleNotificationService-{'0' * 32}.pem"


@pytest.mark.parametrize(
    "url",
    [
        f"http://sns.us-east-2.amazonaws.com/{NAME}",
        f"https://sns.eu-west-1.amazonaws.com/{NAME}",  # not the region of the topic
        f"https://sns.us-east-2.amazonaws.com.cn/{NAME}",
        f"https://sns.us-east-2.amazonaws.com.evil.example/{NAME}",
        f"https://sns.us-east-2.amazonaws.com@evil.example/{NAME}",
        f"https://sns.us-east-2.amazonaws.com:8443/{NAME}",
        f"https://evil.example/sns.us-east-2.amazonaws.com/{NAME}",
        f"https://sns.s3.amazonaws.com/{NAME}",
        f"{ORIGIN}/{NAME}?Action=GetTopicAttributes",
        f"{ORIGIN}/{NAME}#x",
        f"{ORIGIN}/{NAME}\n",
        f"{ORIGIN}/a/../{NAME}",
        f"{ORIGIN}/other.pem",
        f"{ORIGIN}/?x=.pem",
        "",
    ],
)
def test_a_certificate_elsewhere_is_never_fetched(sender, verifier, clock, url):
    reason = verifier.verify(SETTINGS, sender.notify(SigningCertURL=url), clock.now())
    assert reason == "The SigningCertURL is not one of Amazon SNS for this topic."
    assert sender.urls == []


@pytest.mark.parametrize(
    ("name", "is_valid"),
    [
        ("sns-us-gov-west-1.amazonaws.com", True),
        ("sns-signing.eu-south-1.amazonaws.com", True),
        ("sns-cn-north-1.amazonaws.com.cn", True),
        ("sns-eusc-de-east-1.amazonaws.eu", True),
        ("sns.amazonaws.eu.evil.example", False),
        ("s3.amazonaws.com", False),
        ("sns.amazonaws.com.evil.example", False),
    ],
)
def test_the_certificate_must_have_a_name_of_sns(sender, verifier, clock, name, is_valid):
    sender.response = Response(200, "", sender.make_certificate(name))
    reason = verifier.verify(SETTINGS, sender.notify(), clock.now())
    assert reason == ("" if is_valid else "The certificate is not one of Amazon SNS.")


def test_a_certificate_of_another_key_or_time_is_refused(sender, verifier, clock):
    message = sender.notify()
    assert verifier.verify(SETTINGS, message, clock.now() + timedelta(days=101)) == (
        "The certificate has expired or is not yet valid."
    )
    other = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    sender.response = Response(200, "", sender.make_certificate("sns.amazonaws.com", other))
    assert SnsVerifier(sender.fetch, clock.monotonic).verify(SETTINGS, message, clock.now()) == (
        WRONG_SIGNATURE
    )


def test_old_messages_are_refused(sender, verifier, clock):
    message = sender.notify()
    assert verifier.verify(SETTINGS, message, clock.now() + timedelta(minutes=59)) == ""
    assert verifier.verify(SETTINGS, message, clock.now() + timedelta(minutes=90)) == (
        "The timestamp is 1 h 30 min old; the limit is 1 h."
    )
    patient = SignatureSettings("aws-sns", topics=[TOPIC], toleranceSeconds=86_400)
    assert verifier.verify(patient, message, clock.now() + timedelta(hours=20)) == ""


@pytest.mark.parametrize(
    "response", [Response(503, "", b""), DeliveryError("No connection within 5 s.")], ids=str
)
def test_sns_sends_again_what_can_not_be_verified_now(sender, verifier, clock, response):
    valid, sender.response = sender.response, response
    with pytest.raises(UnavailableError):
        verifier.verify(SETTINGS, sender.notify(), clock.now())
    sender.response = valid
    assert verifier.verify(SETTINGS, sender.notify(), clock.now()) == ""


@pytest.mark.parametrize("response", [Response(404, "", b""), Response(200, "", b"<html>")])
def test_a_certificate_that_does_not_exist_is_a_refusal(sender, verifier, clock, response):
    sender.response = response
    reason = verifier.verify(SETTINGS, sender.notify(), clock.now())
    assert reason == "The SigningCertURL has no certificate."


def test_invented_certificates_cause_few_fetches(sender, verifier, clock):
    sender.response = Response(404, "", b"")
    urls = [f"{ORIGIN}/SimpleNotificationService-{number:032x}.pem" for number in range(20)]
    for url in urls[: sns.MAX_FETCHES]:
        verifier.verify(SETTINGS, sender.notify(SigningCertURL=url), clock.now(), url)
    for url in urls[sns.MAX_FETCHES :]:
        with pytest.raises(UnavailableError, match="Too many"):
            verifier.verify(SETTINGS, sender.notify(SigningCertURL=url), clock.now(), url)
    assert len(sender.urls) == sns.MAX_FETCHES
    clock.advance(sns.FETCH_WINDOW_SECONDS)
    assert verifier.verify(SETTINGS, sender.notify(), clock.now()) != ""


def test_one_address_does_not_use_up_the_fetches_of_others(sender, verifier, clock):
    valid, sender.response = sender.response, Response(404, "", b"")
    for number in range(sns.MAX_FETCHES_PER_ADDRESS + 1):
        url = f"{ORIGIN}/SimpleNotificationService-{number:032x}.pem"
        message = sender.notify(SigningCertURL=url)
        with contextlib.suppress(UnavailableError):
            verifier.verify(SETTINGS, message, clock.now(), "192.0.2.1")
    assert len(sender.urls) == sns.MAX_FETCHES_PER_ADDRESS
    sender.response = valid
    assert verifier.verify(SETTINGS, sender.notify(), clock.now(), "192.0.2.2") == ""


def test_calls_at_once_share_one_fetch_and_only_a_few_wait(sender, verifier, clock):
    sender.hold = threading.Event()
    message = sender.notify()

    def verify(_):
        try:
            return verifier.verify(SETTINGS, message, clock.now())
        except UnavailableError:
            return "unavailable"
        finally:
            results.append(1)
            if len(results) == 12 - sns.MAX_WAITING:
                sender.hold.set()

    results = []
    with ThreadPoolExecutor(12) as pool:
        reasons = list(pool.map(verify, range(12)))
    assert sorted(reasons) == [""] * sns.MAX_WAITING + ["unavailable"] * (12 - sns.MAX_WAITING)
    assert sender.urls == [CERTIFICATE_URL]


def test_a_subscription_is_confirmed_at_sns(sender, verifier, clock):
    message = sender.ask_to_confirm()
    assert message.is_confirmation
    assert verifier.verify(SETTINGS, message, clock.now()) == ""
    assert verifier.confirm(message) == ""
    assert sender.urls == [CERTIFICATE_URL, CONFIRM_URL]
    assert not sender.notify().is_confirmation
    sender.response = Response(403, "", b"")
    with pytest.raises(UnavailableError, match="403"):
        verifier.confirm(message)


@pytest.mark.parametrize(
    "url",
    [
        CONFIRM_URL.replace("https:", "http:"),
        CONFIRM_URL.replace("us-east-2.amazonaws.com", "us-east-2.amazonaws.com.evil.example"),
        CONFIRM_URL.replace("ConfirmSubscription", "Unsubscribe"),
        CONFIRM_URL.replace(":alarms", ":other"),
        CONFIRM_URL.replace("/?", "/x?"),
        "",
    ],
)
def test_nothing_else_is_called_to_confirm(sender, verifier, url):
    assert verifier.confirm(sender.ask_to_confirm(SubscribeURL=url)) != ""
    assert sender.urls == []


def test_the_payload_has_the_message_and_no_credentials(sender):
    assert json.loads(make_payload(sender.notify('{"AlarmName": "cpu"}', Subject="ALARM"))) == {
        "Type": "Notification",
        "MessageId": "22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324",
        "TopicArn": TOPIC,
        "Timestamp": sender.clock.now().isoformat(),
        "Subject": "ALARM",
        "Message": {"AlarmName": "cpu"},
    }
    for text in ("Hello", "5", "null", "{", '{"a": "\\u0000"}', "[" * 10_000):
        assert json.loads(make_payload(sender.notify(text)))["Message"] == text


@each("body", [b"", b"\xff", b"{}", b"[]", b"[" * 100_000, b'{"Type": "Other"}', b'{"Type": 1}'])
def test_what_is_no_message_is_none(body):
    assert parse_message(body) is None


def test_certificate_and_confirmation_over_tls(sender, clock):
    """With the real client; the host of SNS is replaced by a server on this machine."""
    with receiving("https") as receiver:
        receiver.answers, receiver.body = [(200, {})], sender.response.body
        reach = partial(
            get,
            policy=AddressPolicy(False, ("localhost",)),
            proxies=Proxies(),
            ca_file=str(CERTIFICATE),
        )
        verifier = SnsVerifier(
            lambda url: reach(url.replace(ORIGIN, receiver.url)), clock.monotonic
        )
        message = sender.ask_to_confirm()
        assert verifier.verify(SETTINGS, message, clock.now()) == ""
        assert verifier.confirm(message) == ""
        paths = [request.path for request in receiver.requests]
        assert paths == [url.removeprefix(ORIGIN) for url in (CERTIFICATE_URL, CONFIRM_URL)]


def test_the_service_reaches_only_public_addresses_for_certificates(service):
    with pytest.raises(DestinationError):
        service.context.sns.fetch("https://127.0.0.1/")
