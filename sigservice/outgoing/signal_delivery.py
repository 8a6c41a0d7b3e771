"""Sends one signal to a service, with retries. All attempts have one idempotency key, so that the
service stores the signal once."""

import random
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import msgspec

from sigservice.clock import Clock
from sigservice.log import escape_line
from sigservice.outgoing.addresses import AddressPolicy, DestinationError
from sigservice.outgoing.post import DeliveryError, Response, parse_retry_after, post
from sigservice.outgoing.proxies import Proxies
from sigservice.version import __version__

RETRY_STATUSES = (429, 500, 502, 503, 504)
MAX_RETRY_AFTER = timedelta(minutes=1)
MAX_BACKOFF_SECONDS = 30.0
_MAX_BYTES = 8_000_000  # of the response, which contains the payload
_MAX_MESSAGE_LENGTH = 300


class Signal(NamedTuple):
    """`url` is the URL of the endpoint, `body` is JSON."""

    url: str
    token: str
    body: bytes
    idempotency_key: str


class Limits(NamedTuple):
    """`timeout_seconds` is for one attempt, `max_seconds` for all with the pauses between them."""

    timeout_seconds: float = 10.0
    max_seconds: float = 120.0
    retries: int = 5


class StoredSignal(NamedTuple):
    """`response` is the body of the response."""

    id: int
    response: bytes


class _Retry(Exception):
    """A failed attempt that another one may follow after `pause`."""

    def __init__(self, reason: str, pause: timedelta = timedelta(0)) -> None:
        super().__init__(reason)
        self.pause = pause


class Delivery:
    """How signals are sent. `report` receives a line about each failed attempt that is repeated."""

    def __init__(
        self,
        *,
        report: Callable[[str], None],
        limits: Limits = Limits(),  # noqa: B008  immutable
        proxies: Proxies = Proxies(),  # noqa: B008  immutable
        ca_file: str | None = None,
        clock: Clock | None = None,
        sleep: Callable[[float], Any] = time.sleep,
    ) -> None:
        self._report, self._limits, self._proxies, self._ca_file = report, limits, proxies, ca_file
        self._clock, self._sleep = clock or Clock(), sleep

    def send(self, signal: Signal) -> StoredSignal:
        """Raises DeliveryError with the reason if the signal is rejected or all attempts fail, and
        DestinationError if the URL is invalid."""
        ends_at = self._clock.monotonic() + self._limits.max_seconds
        for attempt in range(self._limits.retries + 1):
            remaining = ends_at - self._clock.monotonic()
            try:
                return self._attempt(signal, min(self._limits.timeout_seconds, remaining))
            except _Retry as failure:
                reason = str(failure)
                pause = failure.pause.total_seconds() + _choose_backoff(attempt)
            is_last = attempt == self._limits.retries
            if is_last or self._clock.monotonic() + pause >= ends_at:
                break
            self._report(f"{reason} Trying again in {pause:.1f} s.")
            self._sleep(pause)
        raise DeliveryError(f"{reason} Gave up after attempt {attempt + 1}.")

    def _attempt(self, signal: Signal, seconds: float) -> StoredSignal:
        """Raises _Retry or DeliveryError."""
        headers = {
            "Authorization": f"Bearer {signal.token}",
            "Content-Type": "application/json",
            "Idempotency-Key": signal.idempotency_key,
            "User-Agent": f"sigservice/{__version__}",
        }
        try:
            response = post(
                signal.url,
                signal.body,
                headers,
                policy=_allow_host(signal.url),
                proxies=self._proxies,
                seconds=seconds,
                max_bytes=_MAX_BYTES,
                ca_file=self._ca_file,
            )
        except DeliveryError as error:
            raise _Retry(str(error)) from None
        if response.status in RETRY_STATUSES:
            pause = parse_retry_after(response.retry_after, self._clock.now(), MAX_RETRY_AFTER)
            raise _Retry(_describe(response), pause)
        if response.status != 200:
            raise DeliveryError(_describe(response))
        return _read_stored(response)


def _allow_host(url: str) -> AddressPolicy:
    """Refuses no address or port, because the user of the command chooses them. Raises
    DestinationError for an invalid URL."""
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        raise DestinationError("This is not a valid URL.") from None
    return AddressPolicy(allow_private=True, allowed_hosts=(host, "0.0.0.0/0", "::/0"))


def _read_stored(response: Response) -> StoredSignal:
    """Raises _Retry for a response that was cut off, since its signal may be stored."""
    try:
        return StoredSignal(msgspec.json.decode(response.body)["signals"][0]["id"], response.body)
    except (msgspec.DecodeError, LookupError, TypeError):
        raise _Retry("The response is incomplete, or it isn't from a signal endpoint.") from None


def _describe(response: Response) -> str:
    """One line with the status and the message of the service."""
    if 300 <= response.status < 400:
        return (
            f"The URL redirects ({response.status}), which is not followed: the token is only "
            "sent to the given URL."
        )
    try:
        message = str(msgspec.json.decode(response.body)["message"])[:_MAX_MESSAGE_LENGTH]
    except (msgspec.DecodeError, LookupError, TypeError):
        return f"The service responded with status {response.status}."
    return escape_line(f"The service responded with status {response.status}: {message}")


def _choose_backoff(attempt: int) -> float:
    """Seconds before the next attempt: exponential, and random so that senders that failed at the
    same time don't return at the same time."""
    longest = min(MAX_BACKOFF_SECONDS, 2.0**attempt)
    return longest * random.uniform(0.5, 1)  # noqa: S311  no secret
