"""Which addresses may be reached from here: public ones, and what the operator allows beside them.

Names are checked by what they resolve to, at the moment in which they are used.
"""

from __future__ import annotations

import ipaddress
import socket
from dataclasses import dataclass

from sigservice.outgoing.special_addresses import Address, kind_of

DEFAULT_PORTS = {"http": 80, "https": 443}
PUBLIC_PORTS = (80, 443)  # and those that need no privilege: no mail, no SSH
_FIRST_FREE_PORT = 1024


class Refused(Exception):
    """The text says to a person what is not allowed."""


@dataclass(frozen=True)
class Reach:
    """What is allowed beside public addresses: SERVICE_WEBHOOK_*. `allowed_hosts` are names,
    `*.suffixes`, addresses and networks. Neither `allow_private` nor a suffix opens this machine
    itself: its address or the very name has to be there."""

    allow_private: bool = False
    allowed_hosts: tuple[str, ...] = ()

    def allows(self, host: str, address: Address | None = None) -> bool:
        """Whether `host`, or a network that `address` is in, is named."""
        name = _plain(host)
        for allowed in self.allowed_hosts:
            if allowed == name or (allowed.startswith("*.") and name.endswith(allowed[1:])):
                return True
        return address is not None and self.names(address)

    def names(self, address: Address) -> bool:
        """Whether the address itself is allowed, not just its name."""
        return any(
            address in network
            for network in map(_network, self.allowed_hosts)
            if network is not None and network.version == address.version
        )


def literal(host: str) -> Address | None:
    """The address that a host is, in whatever form the system takes one (0x7f.1, 2130706433);
    None for a name."""
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        pass
    try:
        return ipaddress.IPv4Address(socket.inet_aton(host))
    except (OSError, UnicodeError, ValueError):
        return None


def check_address(host: str, address: Address, reach: Reach) -> None:
    """Raises Refused for what is neither public nor allowed. `host` is the name that resolved to
    the address, or the address itself."""
    if reach.names(address):
        return
    kind = kind_of(address)
    if kind == "private" and (reach.allow_private or reach.allows(host)):
        return
    if kind == "loopback" and _plain(host) in reach.allowed_hosts:
        return
    if kind != "public":
        raise Refused(
            "Its address is this machine's, in a private network, or not for web servers "
            "(SERVICE_WEBHOOK_ALLOWED_HOSTS, SERVICE_WEBHOOK_ALLOW_PRIVATE)."
        )


def check_port(host: str, port: int, reach: Reach) -> None:
    """Raises Refused for the ports of other protocols, unless the host is named."""
    if port in PUBLIC_PORTS or port >= _FIRST_FREE_PORT or reach.allows(host, literal(host)):
        return
    raise Refused("Its port must be 80, 443 or from 1024 on.")


def resolve(host: str, port: int, reach: Reach) -> list[str]:
    """The addresses of a host, each of them checked. Raises Refused, OSError."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    addresses = list(dict.fromkeys(str(item[4][0]) for item in found))
    for address in addresses:
        check_address(host, ipaddress.ip_address(address), reach)
    return addresses


def check_through_proxy(host: str, port: int, reach: Reach) -> None:
    """Raises Refused for a host that is known here and may not be reached; a name that only the
    proxy can resolve is the proxy's to refuse."""
    try:
        resolve(host, port, reach)
    except (OSError, UnicodeError):
        pass


def _plain(host: str) -> str:
    return host.lower().rstrip(".")


def _network(text: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network | None:
    try:
        return ipaddress.ip_network(text, strict=False)
    except ValueError:
        return None
