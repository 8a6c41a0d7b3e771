"""Authenticates the callers of signal endpoints."""

import ipaddress
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from sigservice import secrets
from sigservice.errors import UnauthorizedError
from sigservice.services.signals.endpoint_cache import EndpointSettings, TokenSettings


class Reason(StrEnum):
    """Why a call was refused, for admins. Callers get one text for all reasons."""

    MISSING = "The credentials are missing."
    NO_ENDPOINT = "No endpoint has this name."
    UNKNOWN = "The token is unknown or belongs to another endpoint."
    EXPIRED = "The token has expired."
    ROTATED = "The secret was replaced, and its grace period is over."
    ADDRESS = "The token isn't allowed from this address."
    QUERY = "The endpoint doesn't allow tokens in the URL."


class Caller(NamedTuple):
    """The credentials of a call. `secret` is "" if it has none; `address` is "" for a unix
    socket."""

    secret: str
    is_from_query: bool
    address: str


class InvalidCredentialsError(UnauthorizedError):
    """`reason` is for admins; callers get one text, so that names and tokens can't be guessed."""

    name = "UnauthorizedError"

    def __init__(self, reason: str) -> None:
        super().__init__("The token is missing or doesn't belong to this signal endpoint.")
        self.reason = reason


def authenticate(endpoint: EndpointSettings | None, caller: Caller, now: datetime) -> TokenSettings:
    """The token of the caller. Raises InvalidCredentialsError."""
    if not caller.secret:
        raise InvalidCredentialsError(Reason.MISSING)
    if endpoint is None:
        raise InvalidCredentialsError(Reason.NO_ENDPOINT)
    if caller.is_from_query and not endpoint.options.allowQueryToken:
        raise InvalidCredentialsError(Reason.QUERY)
    digest = secrets.sha256(caller.secret).hex()
    token = endpoint.tokens_by_hash.get(digest)
    if token is None:
        raise InvalidCredentialsError(Reason.UNKNOWN)
    if digest != token.secretHash and _is_over(token.previousExpiresAt, now):
        raise InvalidCredentialsError(Reason.ROTATED)
    check_token(token, caller.address, now)
    return token


def check_token(token: TokenSettings, address: str, now: datetime) -> None:
    """Raises InvalidCredentialsError if the token has expired or isn't allowed from there."""
    if _is_over(token.expiresAt, now):
        raise InvalidCredentialsError(Reason.EXPIRED)
    if token.networks:
        ip = ipaddress.ip_address(address) if address else None
        if ip is None or not any(ip in network for network in token.networks):
            raise InvalidCredentialsError(Reason.ADDRESS)


def _is_over(at: datetime | None, now: datetime) -> bool:
    return at is not None and at <= now
