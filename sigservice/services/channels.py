"""Channels of notifications: their checks, and the masking of their secrets."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec

from sigservice.crypto.secrets import sha256
from sigservice.db import Connection
from sigservice.outgoing.addresses import AddressPolicy
from sigservice.repository import channels as channel_rows
from sigservice.services import channel_delivery
from sigservice.services.problems import Problems

MAX_CHANNELS = 10
MASK = "…"
INTEGRATION = "integration"  # the type of a channel that is chosen by its name


class Channel(msgspec.Struct, omit_defaults=True, kw_only=True):
    """A recipient of notifications: an Apprise URL, a webhook signed with `secret`, or the `name`
    of an integration. A subclass adds `on`, what the recipient is notified of."""

    type: Literal["apprise", "webhook", "integration"]
    url: str = ""
    secret: str = ""
    name: str = ""


def check_channels(
    conn: Connection,
    channels: Sequence[Channel],
    path: str,
    problems: Problems,
    policy: AddressPolicy,
) -> None:
    """Adds to `problems`; `path` is the path of the list. `policy` is the policy of webhooks.
    Integrations that are chosen stay until the end of the transaction."""
    names: set[str] = set()
    if any(channel.type == INTEGRATION for channel in channels):
        channel_rows.lock(conn)
        names = {row["name"] for row in channel_rows.list_all(conn)}
    if len(channels) > MAX_CHANNELS:
        problems.add(path, f"At most {MAX_CHANNELS} notifications are allowed.")
    for index, channel in enumerate(channels[:MAX_CHANNELS]):
        item = f"{path}[{index}]"
        if channel.type == INTEGRATION:
            _check_name(channel, names, item, problems)
        elif channel.name:
            problems.add(f"{item}.name", "Only integrations are chosen by their name.")
        elif MASK in channel.url:
            problems.add(f"{item}.url", "Enter the complete URL.")
        elif MASK in channel.secret:
            problems.add(f"{item}.secret", "Enter the complete secret.")
        else:
            for name, message in channel_delivery.find_problems(
                channel.type, channel.url, channel.secret, policy
            ):
                problems.add(f"{item}.{name}", message)


def _check_name(channel: Channel, names: set[str], path: str, problems: Problems) -> None:
    if channel.name not in names:
        problems.add(f"{path}.name", f"No integration has the name {channel.name or '…'}.")
    for field in ("url", "secret"):
        if getattr(channel, field):
            problems.add(f"{path}.{field}", "An integration has this itself.")


def describe_channel(channel: Mapping[str, Any]) -> str:
    """The name of the integration, or the masked URL."""
    masked = mask_channel(channel)
    return masked.get("name") or masked["url"]


def mask_channel(channel: Mapping[str, Any]) -> dict[str, str]:
    """`url` and `secret` of a channel without secret parts, or the name of its integration. A short
    hash at the end distinguishes URLs that would look the same."""
    if channel["type"] == INTEGRATION:
        return {"name": channel["name"]}
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
    remaining = [channel for channel in old if channel["type"] != INTEGRATION]
    for channel in channels:
        for index, original in enumerate(remaining):
            masked_url = mask_channel(original)["url"]
            if channel.type == original["type"] and channel.url in (masked_url, original["url"]):
                if channel.secret == MASK or (channel.url == masked_url and not channel.secret):
                    channel.secret = original.get("secret", "")
                channel.url = original["url"]
                del remaining[index]
                break
