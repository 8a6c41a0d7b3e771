"""The two kinds of channels: what is accepted when a set is saved, and how one is told."""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any

import msgspec
from standardwebhooks import Webhook

from sigservice.db.statements import Row
from sigservice.outgoing import post
from sigservice.outgoing.addresses import AddressPolicy, DestinationError
from sigservice.outgoing.apprise_service import AppriseMissingError
from sigservice.outgoing.proxies import Proxies
from sigservice.outgoing.sender import Sender
from sigservice.services.actions import apprise_channels
from sigservice.services.actions.notification_text import document, text_of
from sigservice.version import __version__

LONGEST_URL = 2000
LONGEST_PAUSE = timedelta(days=1)
_GONE = 410


@dataclass(frozen=True)
class Settings:
    """What the operator has configured. `public_url` is SERVICE_URL or ""."""

    policy: AddressPolicy = field(default_factory=AddressPolicy)
    proxies: Proxies = field(default_factory=Proxies)
    public_url: str = ""

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Settings:
        allowed = config["webhooks"]
        policy = AddressPolicy(allowed["allowPrivate"], tuple(allowed["allowedHosts"]))
        return cls(policy, Proxies.from_config(config), config["server"]["unleashUrl"] or "")


@dataclass(frozen=True)
class Outcome:
    """`error` is "" when it was delivered; `is_final` when trying again is useless."""

    error: str = ""
    is_final: bool = False
    pause: timedelta = timedelta(0)


def problems(kind: str, url: str, secret: str, policy: AddressPolicy) -> list[tuple[str, str]]:
    """(field, message) of what is wrong with a channel. Nothing is resolved or asked."""
    found = []
    if not 5 <= len(url) <= LONGEST_URL:
        found.append(("url", f"An address has 5 to {LONGEST_URL} characters."))
    elif kind == "webhook":
        try:
            post.parse_target(url, policy)
        except DestinationError as refused:
            found.append(("url", str(refused)))
    else:
        wrong = apprise_channels.problem(url, policy)
        if wrong:
            found.append(("url", wrong))
    if secret and kind != "webhook":
        found.append(("secret", "Only a webhook is signed with a secret."))
    elif secret and not _is_secret(secret):
        found.append(("secret", "A secret is whsec_ and 24 to 64 bytes in base64."))
    return found


def deliver(row: Row, settings: Settings, sender: Sender, now: datetime) -> Outcome:
    """Tells one channel of a run; takes long, and so is called without a transaction."""
    if row["run_id"] is None:
        return Outcome("The run has been deleted.", is_final=True)
    channel = msgspec.json.decode(row["channel"])
    try:
        if channel["type"] == "webhook":
            return _post(row, channel, settings, now)
        text = text_of(row, settings.public_url)
        apprise_channels.send(channel["url"], text, settings.policy, settings.proxies, sender)
        return Outcome()
    except (DestinationError, AppriseMissingError) as error:
        return Outcome(str(error), is_final=True)
    except post.DeliveryError as error:
        return Outcome(str(error))


def _post(row: Row, channel: dict[str, Any], settings: Settings, now: datetime) -> Outcome:
    """The id is the same whenever it is sent again, so that the receiver can tell."""
    body = msgspec.json.encode(document(row, settings.public_url))
    headers = {
        "Content-Type": "application/json",
        "User-Agent": f"sigservice/{__version__}",
        "webhook-id": f"msg_{row['id']}_{int(row['created_at'].timestamp() * 1000)}",
        "webhook-timestamp": str(int(now.timestamp())),
    }
    if channel.get("secret"):
        signed = Webhook(channel["secret"]).sign(headers["webhook-id"], now, body.decode())
        headers["webhook-signature"] = signed
    answer = post.post(
        channel["url"], body, headers, policy=settings.policy, proxies=settings.proxies
    )
    if 200 <= answer.status < 300:
        return Outcome()
    if 300 <= answer.status < 400:
        return Outcome(f"It leads elsewhere ({answer.status}), which is not followed.")
    is_gone = answer.status == _GONE
    return Outcome(f"It answers {answer.status}.", is_gone, _pause(answer.retry_after, now))


def _pause(retry_after: str, now: datetime) -> timedelta:
    """What a Retry-After asks for, up to a day."""
    try:
        if retry_after.isascii() and retry_after.isdigit():
            pause = timedelta(seconds=min(int(retry_after[:9]), LONGEST_PAUSE.total_seconds()))
        else:
            at = parsedate_to_datetime(retry_after)
            pause = (at if at.tzinfo else at.replace(tzinfo=UTC)) - now
    except (ValueError, OverflowError):
        return timedelta(0)
    return max(timedelta(0), min(pause, LONGEST_PAUSE))


def _is_secret(secret: str) -> bool:
    prefix, encoded = secret[:6], secret[6:]
    try:
        return prefix == "whsec_" and 24 <= len(base64.b64decode(encoded, validate=True)) <= 64
    except (binascii.Error, ValueError):
        return False
