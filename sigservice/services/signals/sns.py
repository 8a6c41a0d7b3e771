"""Amazon SNS: verifies messages by their certificate, and confirms subscriptions.

The certificate and the confirmation are at the host of SNS in the region of the topic, and an admin
allows the topic, so a message can't name another destination.
"""

from __future__ import annotations

import base64
import re
import threading
from collections import OrderedDict, deque
from collections.abc import Callable
from datetime import datetime
from typing import Any, Literal
from urllib.parse import parse_qs, urlsplit

import msgspec

from sigservice.clock import parse_iso
from sigservice.concurrency.limiter import TokenBuckets
from sigservice.concurrency.workers import release_turn
from sigservice.errors import BadDataError, UnavailableError
from sigservice.late import cryptography_exceptions, hashes, padding, rsa, x509
from sigservice.outgoing.addresses import DestinationError
from sigservice.outgoing.post import DeliveryError, Response
from sigservice.payload import parse
from sigservice.services.signals.signature_schemes import SNS_TOLERANCE_SECONDS, SignatureSettings
from sigservice.services.signals.signature_settings import find_sns_host
from sigservice.services.signals.signatures import WRONG_SIGNATURE, describe_age

MAX_CERTIFICATES = 50  # in memory
MAX_WAITING = 4  # calls that wait for a certificate
FETCH_SECONDS = 5.0
MAX_FETCHES, MAX_FETCHES_PER_ADDRESS, FETCH_WINDOW_SECONDS = 10, 4, 60.0
WRONG_TOPIC = "The topic is not allowed."
_CERTIFICATE_PATH = re.compile(r"/SimpleNotificationService-[0-9a-f]{16,64}\.pem")
# sns.amazonaws.com, sns-us-gov-west-1.amazonaws.com, sns-signing.eu-south-1.amazonaws.com …
_CERTIFICATE_NAME = re.compile(
    r"sns(-signing)?([.-][a-z]+(-[a-z]+)+-[0-9]{1,2})?\.amazonaws\.(com|com\.cn|eu)"
)
_HASHES = {"1": "SHA1", "2": "SHA256"}
_SIGNED_MEMBERS = {
    "Notification": ("Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type"),
    "SubscriptionConfirmation": (
        "Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type",
    ),
}  # fmt: skip
_SIGNED_MEMBERS["UnsubscribeConfirmation"] = _SIGNED_MEMBERS["SubscriptionConfirmation"]


class SnsMessage(msgspec.Struct, frozen=True, omit_defaults=True):
    """The body of a call, with the names that SNS uses."""

    Type: Literal["Notification", "SubscriptionConfirmation", "UnsubscribeConfirmation"]
    MessageId: str
    TopicArn: str
    Message: str
    Timestamp: str
    SignatureVersion: str
    Signature: str
    SigningCertURL: str
    Subject: str | None = None
    Token: str | None = None
    SubscribeURL: str | None = None

    @property
    def is_confirmation(self) -> bool:
        """Whether `SnsVerifier.confirm` must be called instead of storing a signal."""
        return self.Type == "SubscriptionConfirmation"


def parse_message(body: bytes) -> SnsMessage | None:
    """None if the body is not a message of SNS. SNS sends it as text/plain."""
    try:
        return msgspec.json.decode(body, type=SnsMessage)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return None


def make_payload(message: SnsMessage) -> bytes:
    """The payload to store: the message without the credentials of its signature and
    subscription. `Message` is parsed if it is an object or array in JSON."""
    payload = {
        "Type": message.Type,
        "MessageId": message.MessageId,
        "TopicArn": message.TopicArn,
        "Timestamp": message.Timestamp,
    }
    if message.Subject is not None:
        payload["Subject"] = message.Subject
    return msgspec.json.encode(payload | {"Message": _parse_content(message.Message)})


def _parse_content(text: str) -> Any:
    """The object or array that the text is in JSON, otherwise the text."""
    try:
        content = parse(text.encode())
    except BadDataError:
        return text
    return content if isinstance(content, dict | list) else text


class SnsError(ValueError):
    """Why a message is refused, for admins."""


class SnsVerifier:
    """Fetches certificates by `fetch(url)`, which raises DestinationError and DeliveryError, and
    keeps them in memory. Thread-safe."""

    def __init__(self, fetch: Callable[[str], Response], monotonic: Callable[[], float]) -> None:
        self.fetch, self._monotonic = fetch, monotonic
        self._certificates: OrderedDict[str, x509.Certificate] = OrderedDict()
        self._fetch_times: deque[float] = deque(maxlen=MAX_FETCHES)
        self._lock, self._fetch_lock = threading.Lock(), threading.Lock()
        self._waiting = threading.BoundedSemaphore(MAX_WAITING)
        self._fetches_by_address = TokenBuckets(
            MAX_FETCHES_PER_ADDRESS / FETCH_WINDOW_SECONDS, MAX_FETCHES_PER_ADDRESS, monotonic
        )

    def verify(
        self, settings: SignatureSettings, message: SnsMessage, now: datetime, address: str = ""
    ) -> str:
        """Returns "" if the message is valid and its topic is allowed, otherwise the reason, for
        admins. Raises UnavailableError if the certificate can't be fetched at the moment.

        May wait for the network: call it outside of transactions.
        """
        if message.TopicArn not in settings.topics:
            return WRONG_TOPIC
        sent_at = parse_iso(message.Timestamp)
        if sent_at is None:
            return "The timestamp is not a date."
        if message.SignatureVersion not in _HASHES:
            return "The SignatureVersion is neither 1 nor 2."
        try:
            key = check_certificate(self._find_certificate(message, address), now)
            key.verify(
                base64.b64decode(message.Signature, validate=True),
                _build_content(message),
                padding.PKCS1v15(),
                getattr(hashes, _HASHES[message.SignatureVersion])(),
            )
        except SnsError as error:
            return str(error)
        except (cryptography_exceptions.InvalidSignature, ValueError):  # also of base64, UTF-8
            return WRONG_SIGNATURE
        tolerance = settings.toleranceSeconds
        return describe_age(sent_at, now, SNS_TOLERANCE_SECONDS if tolerance is None else tolerance)

    def confirm(self, message: SnsMessage) -> str:
        """Confirms the subscription of a message that `verify` accepted. Returns "", or the reason
        why it isn't confirmed. Raises UnavailableError if SNS can't be reached or refuses; SNS
        sends another message later.

        Waits for the network: call it outside of transactions.
        """
        url = message.SubscribeURL or ""
        if not url.startswith(f"{_find_origin(message.TopicArn)}/?"):
            return "The SubscribeURL is not one of Amazon SNS for this topic."
        query = parse_qs(urlsplit(url).query)
        expected = {"Action": ["ConfirmSubscription"], "TopicArn": [message.TopicArn]}
        if not expected.items() <= query.items():
            return "The SubscribeURL doesn't confirm a subscription to this topic."
        if (status := self._fetch(url).status) != 200:
            raise UnavailableError(f"The subscription can't be confirmed: status {status}.")
        return ""

    def _find_certificate(self, message: SnsMessage, address: str) -> x509.Certificate:
        """Raises SnsError, UnavailableError. Limits the fetches that an address causes, because a
        caller can invent names of certificates."""
        url, origin = message.SigningCertURL, _find_origin(message.TopicArn)
        path = url.removeprefix(origin)
        if not url.startswith(origin) or not _CERTIFICATE_PATH.fullmatch(path):
            raise SnsError("The SigningCertURL is not one of Amazon SNS for this topic.")
        if certificate := self._find_cached(url):
            return certificate
        if not self._fetches_by_address.consume(address).is_allowed:
            raise UnavailableError("Too many certificates were fetched. Try again in a minute.")
        release_turn()
        if not self._waiting.acquire(blocking=False):
            raise UnavailableError("The certificate is being fetched. Try again.")
        try:
            with self._fetch_lock:
                return self._find_cached(url) or self._fetch_certificate(url)
        finally:
            self._waiting.release()

    def _find_cached(self, url: str) -> x509.Certificate | None:
        with self._lock:
            if certificate := self._certificates.get(url):
                self._certificates.move_to_end(url)
            return certificate

    def _fetch_certificate(self, url: str) -> x509.Certificate:
        """Fetches at most MAX_FETCHES certificates in a window."""
        times, now = self._fetch_times, self._monotonic()
        if len(times) == MAX_FETCHES and now - times[0] < FETCH_WINDOW_SECONDS:
            raise UnavailableError("Too many certificates were fetched. Try again in a minute.")
        times.append(now)
        response = self._fetch(url)
        if response.status >= 500:
            raise UnavailableError(f"The certificate can't be fetched: status {response.status}.")
        try:
            certificate = x509.load_pem_x509_certificate(response.body)
        except ValueError:
            raise SnsError("The SigningCertURL has no certificate.") from None
        with self._lock:
            self._certificates[url] = certificate
            if len(self._certificates) > MAX_CERTIFICATES:
                self._certificates.popitem(last=False)
        return certificate

    def _fetch(self, url: str) -> Response:
        release_turn()
        try:
            return self.fetch(url)
        except (DestinationError, DeliveryError) as error:
            raise UnavailableError(f"Amazon SNS can't be reached: {error}") from None


def check_certificate(certificate: x509.Certificate, now: datetime) -> rsa.RSAPublicKey:
    """The key of a certificate that is valid now and is one of SNS. Raises SnsError.

    SNS publishes it without intermediate certificates. As in most of Amazon's libraries, TLS to the
    host of SNS shows that it is Amazon's.
    """
    begin, end = certificate.not_valid_before_utc, certificate.not_valid_after_utc
    if not begin <= now <= end:
        raise SnsError("The certificate has expired or is not yet valid.")
    if not any(_CERTIFICATE_NAME.fullmatch(name) for name in _list_names(certificate)):
        raise SnsError("The certificate is not one of Amazon SNS.")
    key = certificate.public_key()
    if not isinstance(key, rsa.RSAPublicKey):
        raise SnsError("The certificate has no RSA key.")
    return key


def _list_names(certificate: x509.Certificate) -> list[str]:
    subject = certificate.subject.get_attributes_for_oid(x509.NameOID.COMMON_NAME)
    names = [str(attribute.value) for attribute in subject]
    try:
        extension = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName)
        return names + extension.value.get_values_for_type(x509.DNSName)
    except (x509.ExtensionNotFound, ValueError):
        return names


def _find_origin(topic: str) -> str:
    """The URL of SNS in the region of the topic, which an admin has allowed."""
    return f"https://{find_sns_host(topic)}"


def _build_content(message: SnsMessage) -> bytes:
    """Raises SnsError."""
    lines = []
    for name in _SIGNED_MEMBERS[message.Type]:
        value = getattr(message, name)
        if value is not None:
            if "\n" in value and name != "Message":  # the next members could be moved into it
                raise SnsError(f"The {name} has a line break.")
            lines += [name, value]
    return "".join(f"{line}\n" for line in lines).encode()
