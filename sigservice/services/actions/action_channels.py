"""Whom runs are told of: channels, their checks, and their secrets kept from those who look."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from sigservice.outgoing.addresses import AddressPolicy
from sigservice.secrets import sha256
from sigservice.services.actions import notification_channels
from sigservice.services.problems import Problems

MOST_CHANNELS = 10
MASK = "…"
EVENTS = ("success", "failed", "suppressed")


class Channel(msgspec.Struct, omit_defaults=True):
    """Whom a run is told: an apprise URL, or a webhook that is signed with `secret`."""

    type: Literal["apprise", "webhook"]
    url: str
    on: list[Literal["success", "failed", "suppressed"]]
    secret: str = ""


def check(channels: list[Channel], problems: Problems, policy: AddressPolicy) -> None:
    """`policy` is what webhooks may policy."""
    if len(channels) > MOST_CHANNELS:
        problems.add(
            "options.notifications", f"There can't be more than {MOST_CHANNELS} notifications."
        )
    for n, channel in enumerate(channels[:MOST_CHANNELS]):
        at = f"options.notifications[{n}]"
        if MASK in channel.url:
            problems.add(f"{at}.url", "The whole address is needed.")
            continue
        if MASK in channel.secret:
            problems.add(f"{at}.secret", "The whole secret is needed.")
            continue
        for path, text in notification_channels.problems(
            channel.type, channel.url, channel.secret, policy
        ):
            problems.add(f"{at}.{path}", text)


def masked(channel: Mapping[str, Any]) -> dict[str, str]:
    """A channel's address without what is secret in it. The mark at its end tells two that look
    alike apart."""
    scheme, _, rest = channel["url"].partition("://")
    host = ""
    if channel["type"] == "webhook":
        host = re.split(r"[/?#\\]", rest, maxsplit=1)[0].rpartition("@")[2] + "/"
    mark = sha256(channel["url"]).hex()[:4]
    secret = {"secret": MASK} if channel.get("secret") else {}
    return {"url": f"{scheme}://{host}{MASK}{mark}"} | secret


def unmask(channels: list[Channel], old: list[dict[str, Any]]) -> None:
    """A channel that comes back masked keeps the address and secret that it had. Of several that
    look the same each is taken once, in their order."""
    left = list(old)
    for channel in channels:
        for n, known in enumerate(left):
            shown = masked(known)["url"]
            if channel.type == known["type"] and channel.url in (shown, known["url"]):
                if channel.secret == MASK or (channel.url == shown and not channel.secret):
                    channel.secret = known.get("secret", "")
                channel.url = known["url"]
                del left[n]
                break
