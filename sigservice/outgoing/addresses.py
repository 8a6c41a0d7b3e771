"""The addresses that the service may connect to: public ones, and those that the operator allows.

A name is checked by the addresses that it resolves to, at the moment of its use.
"""

import ipaddress
import socket
import threading
from concurrent.futures import Future
from dataclasses import dataclass
from functools import cache
from typing import Any

from sigservice.outgoing.special_addresses import Address, classify_address

DEFAULT_PORTS = {"http": 80, "https": 443}
PUBLIC_PORTS = (80, 443)  # and unprivileged ones; mail and SSH are not allowed
_MIN_UNPRIVILEGED_PORT = 1024
RESOLVE_SECONDS = 5.0


class DestinationError(Exception):
    """The service may not connect there; the text is for people."""


@dataclass(frozen=True)
class AddressPolicy:
    """What SERVICE_WEBHOOK_* allows besides public addresses. `allowed_hosts` are names,
    `*.suffixes`, addresses and networks. Neither `allow_private` nor a suffix allows this machine
    itself: its address or its exact name must be listed."""

    allow_private: bool = False
    allowed_hosts: tuple[str, ...] = ()

    def allows(self, host: str, address: Address | None = None) -> bool:
        """Whether `host`, or a network with `address`, is listed."""
        name = _normalize(host)
        for allowed in self.allowed_hosts:
            if allowed == name or (allowed.startswith("*.") and name.endswith(allowed[1:])):
                return True
        return address is not None and self.allows_address(address)

    def allows_address(self, address: Address) -> bool:
        """Whether the address itself is listed, not only its name."""
        return any(
            address in network
            for network in map(_network, self.allowed_hosts)
            if network is not None and network.version == address.version
        )


def parse_ip(host: str) -> Address | None:
    """The IP address in any form that the system accepts (0x7f.1, 2130706433); None for a name."""
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        pass
    try:
        return ipaddress.IPv4Address(socket.inet_aton(host))
    except (OSError, UnicodeError, ValueError):
        return None


def check_address(host: str, address: Address, policy: AddressPolicy) -> None:
    """Raises DestinationError if the address is neither public nor allowed. `host` is the name
    that resolved to the address, or the address itself."""
    if policy.allows_address(address):
        return
    kind = classify_address(address)
    if kind == "private" and (policy.allow_private or policy.allows(host)):
        return
    if kind == "loopback" and _normalize(host) in policy.allowed_hosts:
        return
    if kind != "public":
        raise DestinationError(
            "The address belongs to this machine or a private network, or is reserved "
            "(SERVICE_WEBHOOK_ALLOWED_HOSTS, SERVICE_WEBHOOK_ALLOW_PRIVATE)."
        )


def check_port(host: str, port: int, policy: AddressPolicy) -> None:
    """Raises DestinationError for ports of other protocols, unless the host is listed."""
    if (
        port in PUBLIC_PORTS
        or port >= _MIN_UNPRIVILEGED_PORT
        or policy.allows(host, parse_ip(host))
    ):
        return
    raise DestinationError("The port must be 80, 443, or 1024 and above.")


def resolve(
    host: str, port: int, policy: AddressPolicy, seconds: float = RESOLVE_SECONDS
) -> list[str]:
    """The addresses of a host, all of them checked, within `seconds`, at most RESOLVE_SECONDS.
    Raises DestinationError, OSError."""
    answer: Future[list[Any]] = Future()

    def look_up() -> None:
        try:
            answer.set_result(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
        except Exception as error:  # noqa: BLE001  the caller raises it
            answer.set_exception(error)

    # The resolver of the system waits half a minute for a server, and nothing can stop it.
    try:
        threading.Thread(target=look_up, name="resolve", daemon=True).start()
        infos = answer.result(min(seconds, RESOLVE_SECONDS))
    except RuntimeError as error:  # at the system's limit of threads
        raise OSError(str(error)) from None
    except TimeoutError:
        raise socket.gaierror(socket.EAI_AGAIN, "no answer in time") from None
    addresses = list(dict.fromkeys(str(info[4][0]) for info in infos))
    for address in addresses:
        check_address(host, ipaddress.ip_address(address), policy)
    return addresses


def check_through_proxy(host: str, port: int, policy: AddressPolicy, seconds: float) -> None:
    """Raises DestinationError if the host resolves to an address that is not allowed. The proxy
    decides about names that only it can resolve."""
    try:
        resolve(host, port, policy, seconds)
    except (OSError, UnicodeError):
        pass


def _normalize(host: str) -> str:
    return host.lower().rstrip(".")


@cache
def _network(text: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network | None:
    try:
        return ipaddress.ip_network(text, strict=False)
    except ValueError:
        return None
