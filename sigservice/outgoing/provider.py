"""Requests to the OpenID provider: where they may go, their limits, and JSON objects as answers."""

import re
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Self
from urllib.parse import urlencode, urlsplit

import msgspec

from sigservice.outgoing.addresses import (
    DEFAULT_PORTS,
    AddressPolicy,
    DestinationError,
    parse_ip,
    resolve,
)
from sigservice.outgoing.post import DeliveryError, Response, get, post
from sigservice.outgoing.proxies import Proxies
from sigservice.outgoing.special_addresses import classify_address

MAX_SECONDS, MAX_BYTES = 8.0, 262_144  # of a response
MAX_REQUESTS = 4  # at the same time
OTHER_ADDRESS = "The provider may only name public addresses, or private ones if it has one too."
_JWT = re.compile(rb"[\w-]+(\.[\w-]*){2,4}")
_ANYWHERE_PRIVATE = AddressPolicy(allow_private=True)


class ProviderError(Exception):
    """The provider can't be reached, or its answer isn't usable; the text has no part of it."""


class Answer(NamedTuple):
    """`content` is None if the body isn't a JSON object, `is_jwt` if it is signed or encrypted;
    `date` is the clock of the provider."""

    status: int
    content: dict[str, Any] | None
    date: str
    is_jwt: bool


class Document(NamedTuple):
    content: dict[str, Any]
    date: str


class ProviderClient:
    """`observe(endpoint, result, seconds)` is called after each request."""

    def __init__(
        self,
        issuer: str,
        proxies: Proxies,
        ca_file: str | None,
        observe: Callable[[str, str, float], None],
    ) -> None:
        self._origin = find_origin(issuer)
        self._proxies, self._ca_file, self._observe = proxies, ca_file, observe
        self._slots = threading.BoundedSemaphore(MAX_REQUESTS)

    @classmethod
    def from_config(
        cls, config: Mapping[str, Any], observe: Callable[[str, str, float], None]
    ) -> Self:
        settings = config["authentication"]["oidc"]
        return cls(settings["issuer"], Proxies.from_config(config), settings["caFile"], observe)

    def fetch(self, endpoint: str, url: str, deadline: float) -> Document:
        """A JSON object by GET. Raises like `request`, also for any other answer."""
        answer = self.request(endpoint, url, deadline)
        if answer.status != 200 or answer.content is None:
            raise ProviderError(f"{endpoint}: the status is {answer.status}, or it isn't JSON.")
        return Document(answer.content, answer.date)

    def request(
        self,
        endpoint: str,
        url: str,
        deadline: float,
        *,
        headers: Mapping[str, str] | None = None,
        form: Mapping[str, str] | None = None,
    ) -> Answer:
        """A POST if there is a form. `endpoint` is for the metrics; `deadline` is a
        time.monotonic(). Raises ProviderError, also for a 5xx and for an incomplete body."""
        seconds = min(MAX_SECONDS, deadline - time.monotonic())
        if seconds <= 0 or not self._slots.acquire(blocking=False):
            self._observe(endpoint, "refused", 0.0)
            raise ProviderError(f"{endpoint}: too many requests wait, or the provider is too slow.")
        began_at, result = time.monotonic(), "unreachable"
        try:
            response = self._send(url, began_at + seconds, headers or {}, form)
            result = "success" if response.status < 400 else "error"
        except DestinationError:
            raise ProviderError(f"{endpoint}: not allowed. {OTHER_ADDRESS}") from None
        except DeliveryError as error:
            raise ProviderError(f"{endpoint}: {error}") from None
        finally:
            self._slots.release()
            self._observe(endpoint, result, time.monotonic() - began_at)
        if response.status >= 500:
            raise ProviderError(f"{endpoint}: the status is {response.status}.")
        if not response.is_complete:
            raise ProviderError(f"{endpoint}: the answer is incomplete, or larger than 256 kB.")
        is_jwt = _JWT.fullmatch(response.body.strip()) is not None
        return Answer(response.status, _parse_object(response.body), response.date, is_jwt)

    def _send(
        self, url: str, ends_at: float, headers: Mapping[str, str], form: Mapping[str, str] | None
    ) -> Response:
        policy = self._choose_policy(url)  # may take a while to resolve the issuer's name
        fields = {"Accept": "application/json", **headers}
        options: dict[str, Any] = {"policy": policy, "proxies": self._proxies}
        options["seconds"] = max(0.0, ends_at - time.monotonic())
        options |= {"max_bytes": MAX_BYTES, "ca_file": self._ca_file}
        if form is None:
            return get(url, headers=fields, **options)
        fields["Content-Type"] = "application/x-www-form-urlencoded"
        return post(url, urlencode(form).encode(), fields, **options)

    def _choose_policy(self, url: str) -> AddressPolicy:
        """The issuer's own origin may be anywhere, other origins only where the issuer is."""
        host = self._origin[1]
        address = parse_ip(host)
        if address is not None and classify_address(address) == "never":
            raise DestinationError(OTHER_ADDRESS)
        if find_origin(url) == self._origin:
            return AddressPolicy(allow_private=True, allowed_hosts=(host,))
        return AddressPolicy(allow_private=self._has_private_address())

    def _has_private_address(self) -> bool:
        """Whether the issuer has an address in a private network, which isn't this machine."""
        _, host, port = self._origin
        try:
            addresses = resolve(host, port, _ANYWHERE_PRIVATE)
        except (DestinationError, OSError, UnicodeError):
            return False
        parsed = [parse_ip(address) for address in addresses]
        return any(address and classify_address(address) == "private" for address in parsed)


def find_origin(url: str) -> tuple[str, str, int]:
    """Scheme, host and port. Raises ValueError for an invalid port."""
    parts = urlsplit(url)
    port = parts.port or DEFAULT_PORTS.get(parts.scheme, 0)
    return parts.scheme, (parts.hostname or "").rstrip("."), port


def _parse_object(body: bytes) -> dict[str, Any] | None:
    try:
        content = msgspec.json.decode(body)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) else None
