"""What deliveries to receivers outside of the service share: settings and results."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from sigservice.outgoing.addresses import AddressPolicy
from sigservice.outgoing.proxies import Proxies

MAX_URL_LENGTH = 2000
MAX_RETRY_PAUSE = timedelta(days=1)


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
