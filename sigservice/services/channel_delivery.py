"""The two types of channels: checks when they are saved, and delivery."""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import msgspec
from standardwebhooks import Webhook

from sigservice.outgoing import post
from sigservice.outgoing.addresses import AddressPolicy, DestinationError
from sigservice.outgoing.apprise_service import AppriseMissingError
from sigservice.outgoing.proxies import Proxies
from sigservice.outgoing.retry_after import parse_retry_after
from sigservice.outgoing.sender import Sender
from sigservice.services import apprise_channels
from sigservice.services.apprise_channels import Text
from sigservice.version import __version__

MAX_URL_LENGTH = 2000
MAX_RETRY_PAUSE = timedelta(days=1)
_GONE = 410


@dataclass(frozen=True)
class DeliverySettings:
    """The operator's configuration. `public_url` is SERVICE_URL or ""."""

    policy: AddressPolicy = field(default_factory=AddressPolicy)
    proxies: Proxies = field(default_factory=Proxies)
    public_url: str = ""

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> DeliverySettings:
        webhooks = config["webhooks"]
        policy = AddressPolicy(webhooks["allowPrivate"], tuple(webhooks["allowedHosts"]))
        return cls(policy, Proxies.from_config(config), config["server"]["unleashUrl"] or "")


@dataclass(frozen=True)
class DeliveryResult:
    """`error` is "" after a delivery, which may have an `answer`; `is_final` means that a retry is
    useless, `is_unavailable` that other messages to this target would fail at the moment too."""

    error: str = ""
    is_final: bool = False
    pause: timedelta = timedelta(0)
    is_unavailable: bool = False
    answer: str = ""


@dataclass(frozen=True)
class Message:
    """`id` stays the same when it is sent again; webhooks send `payload`, other channels `text`."""

    id: str
    payload: dict[str, Any]
    text: Text


def find_problems(type: str, url: str, secret: str, policy: AddressPolicy) -> list[tuple[str, str]]:
    """(field, message) of each problem of a channel. Doesn't resolve or connect."""
    problems = []
    if not 5 <= len(url) <= MAX_URL_LENGTH:
        problems.append(("url", f"The URL must have 5 to {MAX_URL_LENGTH} characters."))
    elif type == "webhook":
        try:
            post.parse_target(url, policy)
        except DestinationError as error:
            problems.append(("url", str(error)))
    else:
        problem = apprise_channels.find_problem(url, policy)
        if problem:
            problems.append(("url", problem))
    if secret and type != "webhook":
        problems.append(("secret", "Only webhooks have a signing secret."))
    elif secret and not is_valid_secret(secret):
        problems.append(
            ("secret", "The secret must be whsec_ followed by 24 to 64 bytes in base64.")
        )
    return problems


def deliver(
    channel_json: str, message: Message, settings: DeliverySettings, sender: Sender, now: datetime
) -> DeliveryResult:
    """Sends one notification. Takes long, so call it outside of transactions."""
    channel = msgspec.json.decode(channel_json)
    try:
        if channel["type"] == "webhook":
            return _post(message, channel, settings, now)
        url, text = channel["url"], message.text
        apprise_channels.send(url, text, settings.policy, settings.proxies, sender)
        return DeliveryResult()
    except (DestinationError, AppriseMissingError) as error:
        return DeliveryResult(str(error), is_final=True)
    except post.DeliveryError as error:
        return DeliveryResult(str(error))


def _post(
    message: Message, channel: dict[str, Any], settings: DeliverySettings, now: datetime
) -> DeliveryResult:
    """A retry has the same ID, so that the receiver recognizes it."""
    body = msgspec.json.encode(message.payload)
    headers = {"Content-Type": "application/json"}
    headers |= make_webhook_headers(message.id, body, channel.get("secret", ""), now)
    response = post.post(
        channel["url"], body, headers, policy=settings.policy, proxies=settings.proxies
    )
    if 200 <= response.status < 300:
        return DeliveryResult()
    if 300 <= response.status < 400:
        return DeliveryResult(
            f"The server redirects ({response.status}); redirects are not followed."
        )
    is_gone = response.status == _GONE
    return DeliveryResult(
        f"The server responded with status {response.status}.",
        is_gone,
        parse_retry_after(response.retry_after, now, MAX_RETRY_PAUSE),
    )


def make_webhook_headers(id: str, body: bytes, secret: str, now: datetime) -> dict[str, str]:
    """The headers of Standard Webhooks, with a signature if there is a secret."""
    headers = {
        "User-Agent": f"sigservice/{__version__}",
        "webhook-id": id,
        "webhook-timestamp": str(int(now.timestamp())),
    }
    if secret:
        headers["webhook-signature"] = Webhook(secret).sign(id, now, body.decode())
    return headers


def is_valid_secret(secret: str) -> bool:
    prefix, encoded = secret[:6], secret[6:]
    try:
        return prefix == "whsec_" and 24 <= len(base64.b64decode(encoded, validate=True)) <= 64
    except (binascii.Error, ValueError):
        return False
