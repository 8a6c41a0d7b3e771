"""Channels of notifications: their checks, and the masking of their secrets."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec

from sigservice.crypto.secrets import sha256
from sigservice.outgoing.addresses import AddressPolicy
from sigservice.services import channel_delivery
from sigservice.services.problems import Problems

MAX_CHANNELS = 10
MASK = "…"


class Channel(msgspec.Struct, omit_defaults=True, kw_only=True):
    """A recipient of notifications: an Apprise URL, or a webhook signed with `secret`. A subclass
    adds `on`, what the recipient is notified of."""

    type: Literal["apprise", "webhook"]
    url: str
    secret: str = ""


def check_channels(
    channels: Sequence[Channel], path: str, problems: Problems, policy: AddressPolicy
) -> None:
    """Adds to `problems`; `path` is the path of the list. `policy` is the policy of webhooks."""
    if len(channels) > MAX_CHANNELS:
        problems.add(path, f"At most {MAX_CHANNELS} notifications are allowed.")
    for index, channel in enumerate(channels[:MAX_CHANNELS]):
        item = f"{path}[{index}]"
        if MASK in channel.url:
            problems.add(f"{item}.url", "Enter the complete URL.")
        elif MASK in channel.secret:
            problems.add(f"{item}.secret", "Enter the complete secret.")
        else:
            for name, message in channel_delivery.find_problems(
                channel.type, channel.url, channel.secret, policy
            ):
                problems.add(f"{item}.{name}", message)


def mask_channel(channel: Mapping[str, Any]) -> dict[str, str]:
    """`url` and `secret` of a channel without secret parts. A short hash at the end distinguishes
    URLs that would look the same."""
    scheme, _, rest = channel["url"].partition("://")
    host = ""
    if channel["type"] == "webhook":
        host = re.split(r"[/?#\\]", rest, maxsplit=1)[0].rpartition("@")[2] + "/"
    digest = sha256(channel["url"]).hex()[:4]
    secret = {"secret": MASK} if channel.get("secret") else {}
    return {"url": f"{scheme}://{host}{MASK}{digest}"} | secret


def unmask_channels(channels: Sequence[Channel], old: Sequence[Mapping[str, Any]]) -> None:
    """Replaces masked URLs and secrets with the stored ones. Each stored channel is used once, in
    order, because several may look the same."""
    remaining = list(old)
    for channel in channels:
        for index, original in enumerate(remaining):
            masked_url = mask_channel(original)["url"]
            if channel.type == original["type"] and channel.url in (masked_url, original["url"]):
                if channel.secret == MASK or (channel.url == masked_url and not channel.secret):
                    channel.secret = original.get("secret", "")
                channel.url = original["url"]
                del remaining[index]
                break
