"""Compares the running version with the one that the server at versionCheck.url reports."""

from dataclasses import dataclass
from typing import Annotated
from urllib.parse import urlsplit

import msgspec

from sigservice.outgoing.addresses import AddressPolicy
from sigservice.outgoing.post import DeliveryError, post
from sigservice.outgoing.proxies import Proxies
from sigservice.outgoing.special_addresses import LOOPBACK
from sigservice.version import __version__

TIMEOUT_SECONDS = 5.0

Version = Annotated[str, msgspec.Meta(pattern=r"\A[0-9A-Za-z.+_-]{0,64}\Z")]


class Versions(msgspec.Struct):
    oss: Version = ""
    enterprise: Version | None = ""


class _Report(msgspec.Struct):
    versions: Versions
    latest: bool


@dataclass
class VersionStatus:
    """The last report; `versions` is None before the first."""

    versions: Versions | None = None
    is_latest: bool = True

    @property
    def newer_version(self) -> str:
        """The newest version, "" if this process runs it."""
        return "" if self.is_latest or self.versions is None else self.versions.oss

    def update(self, report: _Report) -> None:
        self.versions, self.is_latest = report.versions, report.latest


def fetch_versions(url: str, instance_id: str, proxies: Proxies) -> _Report:
    """Sends this version and the instance's ID, nothing else. Raises DestinationError and
    DeliveryError."""
    payload = {"versions": {"oss": __version__, "enterprise": ""}, "instanceId": instance_id}
    # The operator chose the address, so private and local ones are allowed.
    host = urlsplit(url).hostname or ""
    policy = AddressPolicy(allow_private=True, allowed_hosts=(host, *LOOPBACK))
    response = post(
        url,
        msgspec.json.encode(payload),
        {"Content-Type": "application/json", "User-Agent": f"sigservice/{__version__}"},
        policy=policy,
        proxies=proxies,
        seconds=TIMEOUT_SECONDS,
    )
    if not 200 <= response.status < 300:
        raise DeliveryError(f"The server responded with status {response.status}.")
    try:
        return msgspec.json.decode(response.body, type=_Report)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise DeliveryError("The response contains no versions.") from None
