"""Authenticates the callers of signal endpoints."""

import ipaddress
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from sigservice.crypto import secrets
from sigservice.crypto.encryption import EncryptionError
from sigservice.errors import UnauthorizedError
from sigservice.services.signals import signatures
from sigservice.services.signals.endpoint_cache import EndpointSettings, TokenSettings
from sigservice.services.signals.signature_schemes import SignatureSettings
from sigservice.services.signals.sns import WRONG_TOPIC, SnsVerifier, parse_message


class Reason(StrEnum):
    """Why a call was refused, for admins. Callers get one text for all reasons."""

    MISSING = "The credentials are missing."
    NO_ENDPOINT = "No endpoint has this name."
    UNKNOWN = "The token is unknown or belongs to another endpoint."
    EXPIRED = "The token has expired."
    ROTATED = "The secret was replaced, and its grace period is over."
    ENCRYPTED = "The signing secret can't be decrypted: the encryption key is missing."
    SNS = "The body is not a message of Amazon SNS."
    SNS_RAW = (
        "Amazon SNS has sent the message without its signature. Disable raw message delivery in "
        "the subscription."
    )
    ADDRESS = "The token isn't allowed from this address."
    QUERY = "The endpoint doesn't allow tokens in the URL."


@dataclass(frozen=True)
class Caller:
    """The data that authenticates a call. `secret` is ""  without a token; `address` is "" for a
    unix socket. `headers` have lower-case names. `read_body()` returns the bytes as they were sent,
    and raises AppError."""

    secret: str
    is_from_query: bool
    address: str
    headers: Mapping[str, str]
    read_body: Callable[[], bytes]


class InvalidCredentialsError(UnauthorizedError):
    """`reason` is for admins; callers get one text, so that names and tokens can't be guessed."""

    def __init__(self, reason: str) -> None:
        super().__init__("The token is missing or doesn't belong to this signal endpoint.")
        self.reason = reason


def authenticate(
    endpoint: EndpointSettings | None, caller: Caller, now: datetime, sns: SnsVerifier
) -> TokenSettings:
    """The token that the caller sends, otherwise the one that it signs with.

    Raises InvalidCredentialsError, what reading the body raises, and UnavailableError if the
    certificate of Amazon SNS can't be fetched, for which it waits.
    """
    if endpoint is None:
        raise InvalidCredentialsError(Reason.NO_ENDPOINT)
    if not caller.secret:
        return _verify_signature(endpoint, caller, now, sns)
    if caller.is_from_query and not endpoint.options.allowQueryToken:
        raise InvalidCredentialsError(Reason.QUERY)
    digest = secrets.sha256(caller.secret).hex()
    token = endpoint.tokens_by_hash.get(digest)
    if token is None:
        raise InvalidCredentialsError(Reason.UNKNOWN)
    if digest != token.secretHash and _is_over(token.previousExpiresAt, now):
        raise InvalidCredentialsError(Reason.ROTATED)
    if restriction := _find_restriction(token, caller.address, now):
        raise InvalidCredentialsError(restriction)
    return token


def _find_restriction(token: TokenSettings, address: str, now: datetime) -> str:
    """Why the token isn't valid now or from this address, "" if it is."""
    if _is_over(token.expiresAt, now):
        return Reason.EXPIRED
    if token.networks:
        ip = ipaddress.ip_address(address) if address else None
        if ip is None or not any(ip in network for network in token.networks):
            return Reason.ADDRESS
    return ""


def _verify_signature(
    endpoint: EndpointSettings, caller: Caller, now: datetime, sns: SnsVerifier
) -> TokenSettings:
    """The first token that verifies and isn't restricted. Several tokens can share a scheme, even a
    secret, so all are tried."""
    failures: list[_Failure] = []
    for token in endpoint.tokens:
        if token.signature is None or not signatures.has_signature(token.signature, caller.headers):
            continue
        restriction, body = _find_restriction(token, caller.address, now), caller.read_body()
        if token.signature.scheme == "aws-sns":
            failure = _verify_sns(token.signature, restriction, body, caller, now, sns)
        else:
            failure = _verify_hmac(endpoint, token, restriction, caller.headers, body, now)
        if not failure.reason:
            return token
        failures.append(failure)
    best = max(failures, key=lambda failure: failure.clarity, default=_Failure(0, Reason.MISSING))
    raise InvalidCredentialsError(best.reason)


class _Failure(NamedTuple):
    """The higher `clarity` is, the more likely the sender means this token. `reason` is "" if the
    call is valid."""

    clarity: int
    reason: str


def _verify_sns(
    settings: SignatureSettings,
    restriction: str,
    body: bytes,
    caller: Caller,
    now: datetime,
    sns: SnsVerifier,
) -> _Failure:
    """A restricted token causes no request to Amazon."""
    message = parse_message(body)
    if message is None:
        is_raw = caller.headers.get("x-amz-sns-rawdelivery", "").lower() == "true"
        return _Failure(0, Reason.SNS_RAW if is_raw else Reason.SNS)
    if restriction and message.TopicArn in settings.topics:
        return _Failure(1, restriction)
    reason = sns.verify(settings, message, now, caller.address)
    return _Failure(0 if reason == WRONG_TOPIC else 2, reason)


def _verify_hmac(
    endpoint: EndpointSettings,
    token: TokenSettings,
    restriction: str,
    headers: Mapping[str, str],
    body: bytes,
    now: datetime,
) -> _Failure:
    """A restriction is the reason only if the signature is valid, which shows that the token is
    meant."""
    assert token.signature is not None
    try:
        signing_secrets = endpoint.find_signing_secrets(token)
    except EncryptionError:
        return _Failure(1, Reason.ENCRYPTED)
    valid_secrets = [item.secret for item in signing_secrets if not _is_over(item.valid_until, now)]
    reason = signatures.verify(token.signature, valid_secrets, headers, body, now)
    if reason == signatures.WRONG_SIGNATURE:
        return _Failure(0, reason)
    return _Failure(2, reason or restriction)


def _is_over(at: datetime | None, now: datetime) -> bool:
    return at is not None and at <= now
