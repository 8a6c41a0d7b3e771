"""Verifies signatures of calls over the raw bytes of their bodies."""

import base64
import binascii
import hmac
import re
import secrets as random_secrets
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import islice

from sigservice.services.signals.signature_schemes import (
    TOLERANCE_SECONDS,
    Scheme,
    SignatureSettings,
    find_header,
    find_scheme,
)
from sigservice.wording import spell_duration

MAX_SIGNATURES = 20  # in one header
WRONG_SIGNATURE = "The signature is wrong."
SECRET_PREFIX = "whsec_"  # of Standard Webhooks
_TIMESTAMP = re.compile(r"[0-9]{1,13}", re.ASCII)
_MIN_MILLISECONDS = 10**11  # as seconds this would be the year 5138


def has_signature(settings: SignatureSettings, headers: Mapping[str, str]) -> bool:
    """Whether a call carries the credential of these settings. `headers` have lower-case names."""
    return bool(headers.get(find_header(settings)))


def verify(
    settings: SignatureSettings,
    secrets: Sequence[str],
    headers: Mapping[str, str],
    body: bytes,
    now: datetime,
) -> str:
    """Returns "" if a signature is valid for one of the secrets, otherwise the reason, for admins.

    `headers` have lower-case names. Not for the scheme aws-sns, which sns.py verifies.
    """
    scheme = find_scheme(settings)
    for name in (scheme.header, scheme.timestamp_header, scheme.id_header):
        if name and not headers.get(name.lower()):
            return f"The header {name} is missing."
    timestamp = headers[scheme.timestamp_header.lower()] if scheme.timestamp_header else ""
    if prefix := scheme.timestamp_prefix:
        timestamp = next(_split_header(timestamp, prefix), "")
        if not _TIMESTAMP.fullmatch(timestamp):
            return f"The header {scheme.header} has no Unix timestamp that begins with {prefix}"
    elif scheme.timestamp_header and not _TIMESTAMP.fullmatch(timestamp):
        return f"The header {scheme.timestamp_header} is not a Unix timestamp."
    signatures = _find_signatures(scheme, headers[scheme.header.lower()])
    if not signatures:
        return f"The header {scheme.header} has no signature that begins with {scheme.prefix}"
    id = headers[scheme.id_header.lower()] if scheme.id_header else ""
    content = _build_content(scheme, body, timestamp, id)
    if not any(_is_signed(scheme, secret, content, signatures) for secret in secrets):
        return WRONG_SIGNATURE
    return _check_age(settings, timestamp, now) if timestamp else ""


def generate_secret(settings: SignatureSettings) -> str:
    """A random secret; "" if the sender generates it, or needs none."""
    if settings.scheme == "aws-sns" or find_scheme(settings).is_secret_of_sender:
        return ""
    if find_scheme(settings).has_base64_key:
        return SECRET_PREFIX + base64.b64encode(random_secrets.token_bytes(32)).decode()
    return random_secrets.token_hex(32)


def decode_key(secret: str) -> bytes:
    """The key of a secret of Standard Webhooks, with or without whsec_. Raises ValueError."""
    text = secret.removeprefix(SECRET_PREFIX).rstrip("=")
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except binascii.Error:
        raise ValueError("The secret is not base64.") from None


def describe_age(sent_at: datetime, now: datetime, tolerance_seconds: float) -> str:
    """Returns "" if the time is within the tolerance before or after `now`, otherwise a reason."""
    age, tolerance = now - sent_at, timedelta(seconds=tolerance_seconds)
    if abs(age) <= tolerance:
        return ""
    text = f"{spell_duration(abs(age))} {'old' if now > sent_at else 'in the future'}"
    return f"The timestamp is {text}; the limit is {spell_duration(tolerance)}."


def _find_signatures(scheme: Scheme, header: str) -> list[str]:
    """The first MAX_SIGNATURES with the prefix of the scheme, without it."""
    if scheme.has_several:
        return list(islice(_split_header(header, scheme.prefix), MAX_SIGNATURES))
    text = header.strip()
    return [text.removeprefix(scheme.prefix)] if text.startswith(scheme.prefix) else []


def _split_header(header: str, prefix: str) -> Iterator[str]:
    """The parts between commas or spaces that begin with the prefix, without it. A prefix such as
    `v1,` may have these characters too."""
    matches = re.finditer(rf"(?:^|[, ]){re.escape(prefix)}([^, ]+)", header)
    return (match[1] for match in matches)


def _build_content(scheme: Scheme, body: bytes, timestamp: str, id: str) -> bytes:
    before, _, after = scheme.content.partition("{body}")
    values = {"{timestamp}": timestamp, "{id}": id}

    def fill(text: str) -> bytes:
        filled = re.sub(r"\{(timestamp|id)\}", lambda match: values[match[0]], text)
        return filled.encode("utf-8", "surrogatepass")

    return fill(before) + body + fill(after)


def _is_signed(scheme: Scheme, secret: str, content: bytes, signatures: Sequence[str]) -> bool:
    key = decode_key(secret) if scheme.has_base64_key else secret.encode()
    digest = hmac.digest(key, content, scheme.algorithm)
    if scheme.encoding == "hex":
        expected, candidates = digest.hex(), [signature.lower() for signature in signatures]
    else:
        expected = base64.b64encode(digest).decode().rstrip("=")
        candidates = [signature.rstrip("=") for signature in signatures]
    matches = [
        hmac.compare_digest(expected.encode(), candidate.encode("utf-8", "surrogatepass"))
        for candidate in candidates
    ]
    return any(matches)


def _check_age(settings: SignatureSettings, timestamp: str, now: datetime) -> str:
    number = int(timestamp)
    seconds = number / 1000 if number >= _MIN_MILLISECONDS else number
    sent_at = datetime.fromtimestamp(seconds, UTC)
    tolerance = settings.toleranceSeconds
    return describe_age(sent_at, now, TOLERANCE_SECONDS if tolerance is None else tolerance)
