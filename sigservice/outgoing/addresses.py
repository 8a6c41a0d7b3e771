"""Which addresses may be reached from here: public ones, and what the operator allows beside them.

Names are judged by what they resolve to, in the moment in which they are used.
"""

from __future__ import annotations

import ipaddress
import socket
from dataclasses import dataclass

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

PUBLIC_PORTS = (80, 443)  # and those that need no privilege: no mail, no SSH
_FIRST_FREE_PORT = 1024

# Nobody's web server, and where clouds tell a machine its own secrets.
_NEVER = [
    ipaddress.ip_network(text)
    for text in (
        "0.0.0.0/8",
        "169.254.0.0/16",
        "224.0.0.0/4",
        "240.0.0.0/4",
        "100.100.100.200/32",
        "168.63.129.16/32",
        "192.0.0.192/32",
        "::/128",
        "fe80::/10",
        "ff00::/8",
        "fd00:ec2::254/128",
        "fd20:ce::254/128",
    )
]
_UNICAST = ipaddress.IPv6Network("2000::/3")
_COMPATIBLE = ipaddress.IPv6Network("::/96")
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")


class Refused(Exception):
    """The text says to a person what is not allowed."""


@dataclass(frozen=True)
class Reach:
    """What is allowed beside public addresses: SERVICE_WEBHOOK_*. `allowed_hosts` are names,
    `*.suffixes`, addresses and networks."""

    allow_private: bool = False
    allowed_hosts: tuple[str, ...] = ()

    def allows(self, host: str, address: Address | None = None) -> bool:
        """Whether `host`, or a network that `address` is in, is named."""
        name = host.lower().rstrip(".")
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
    """Raises Refused for an address of ours or nobody's. `host` is how it was asked for."""
    if reach.names(address):
        return
    kind = _kind(address)
    if kind == "private" and (reach.allow_private or reach.allows(host)):
        return
    if kind != "public":
        raise Refused(
            "Its address is in a private network, or one that nobody may be reached at "
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


def _kind(address: Address) -> str:
    """public, private or never."""
    if isinstance(address, ipaddress.IPv6Address):
        if address.scope_id is not None:
            return "never"
        inner = _embedded(address)
        if inner is not None:
            return _kind(inner)
    if any(network.version == address.version and address in network for network in _NEVER):
        return "never"
    is_public = address.is_global and not address.is_multicast and not address.is_reserved
    if isinstance(address, ipaddress.IPv6Address):
        is_public = is_public and address in _UNICAST and address.teredo is None
    return "public" if is_public else "private"


def _embedded(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    """The IPv4 address that packets to an IPv6 address would go to."""
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address in _NAT64 or (address in _COMPATIBLE and int(address) > 1):
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address.sixtofour


def _network(text: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network | None:
    try:
        return ipaddress.ip_network(text, strict=False)
    except ValueError:
        return None
