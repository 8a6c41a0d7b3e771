"""Whether there is a newer version: asked of the address that versionCheck.url names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated
from urllib.parse import urlsplit

import msgspec

from sigservice.outgoing.addresses import Reach
from sigservice.outgoing.post import Failed, post
from sigservice.outgoing.proxies import Proxies
from sigservice.outgoing.special_addresses import LOOPBACK
from sigservice.version import __version__

SECONDS = 5.0

Version = Annotated[str, msgspec.Meta(pattern=r"\A[0-9A-Za-z.+_-]{0,64}\Z")]


class Versions(msgspec.Struct):
    oss: Version = ""
    enterprise: Version | None = ""


class _Answer(msgspec.Struct):
    versions: Versions
    latest: bool


@dataclass
class Latest:
    """What the last answer said; `versions` is None before the first."""

    versions: Versions | None = None
    is_latest: bool = True

    @property
    def newer(self) -> str:
        """The version that there is now, "" when ours is it."""
        return "" if self.is_latest or self.versions is None else self.versions.oss

    def take(self, answer: _Answer) -> None:
        self.versions, self.is_latest = answer.versions, answer.latest


def ask(url: str, instance_id: str, proxies: Proxies) -> _Answer:
    """Sends our version and the instance's id, and nothing else. Raises Refused, Failed."""
    question = {"versions": {"oss": __version__, "enterprise": ""}, "instanceId": instance_id}
    # The operator has chosen the address, so it may be a private one, or on this machine.
    host = urlsplit(url).hostname or ""
    reach = Reach(allow_private=True, allowed_hosts=(host, *LOOPBACK))
    answer = post(
        url,
        msgspec.json.encode(question),
        {"Content-Type": "application/json", "User-Agent": f"sigservice/{__version__}"},
        reach=reach,
        proxies=proxies,
        seconds=SECONDS,
    )
    if not 200 <= answer.status < 300:
        raise Failed(f"The answer has the status {answer.status}.")
    try:
        return msgspec.json.decode(answer.body, type=_Answer)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise Failed("The answer does not tell versions.") from None
