"""The client's address and scheme: the peer's, unless the peer is a proxy that the configuration
names.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

_FORWARDED = (
    "HTTP_FORWARDED",
    "HTTP_VIA",
    "HTTP_X_FORWARDED_FOR",
    "HTTP_X_FORWARDED_HOST",
    "HTTP_X_FORWARDED_PROTO",
    "HTTP_X_REAL_IP",
)
# This machine, private networks, link-local addresses and carriers' networks.
_LOCAL = tuple(
    map(
        ipaddress.ip_network,
        (
            "127.0.0.0/8",
            "10.0.0.0/8",
            "172.16.0.0/12",
            "192.168.0.0/16",
            "169.254.0.0/16",
            "100.64.0.0/10",
            "::1/128",
            "fc00::/7",
            "fe80::/10",
        ),
    )
)
Network = ipaddress.IPv4Network | ipaddress.IPv6Network


@lru_cache(maxsize=16)
def _networks(names: tuple[str, ...]) -> tuple[Network, ...]:
    return tuple(_network(name) for name in names if name != "localhost")


def _network(name: str) -> Network:
    network = ipaddress.ip_network(name, strict=False)
    mapped = getattr(network.network_address, "ipv4_mapped", None)
    if mapped is None or network.prefixlen < 96:
        return network
    return ipaddress.ip_network(f"{mapped}/{network.prefixlen - 96}", strict=False)


def find_client_ip(environ: dict[str, Any], trusted: Sequence[str]) -> str:
    """The address as text; "" for a unix socket's peer.

    Of X-Forwarded-For the right-most entry that is no trusted proxy counts: whatever stands to
    the left of it came from the client.
    """
    peer = environ.get("REMOTE_ADDR") or ""
    if trusted and _is_trusted(peer, trusted):
        for entry in reversed(environ.get("HTTP_X_FORWARDED_FOR", "").split(",")):
            address = _normal(entry.strip())
            if not address:
                break
            peer = address
            if not _is_trusted(address, trusted):
                break
    return _normal(peer)


def is_https(environ: dict[str, Any], trusted: Sequence[str]) -> bool:
    """Whether a trusted proxy says that the browser came by TLS."""
    peer = environ.get("REMOTE_ADDR") or ""
    return _forwarded_scheme(environ) == "https" and bool(trusted) and _is_trusted(peer, trusted)


def is_apparently_plain_http(environ: dict[str, Any]) -> bool:
    """Nothing tells of TLS. Of browsers' Sec-Fetch headers it is known that they send them to
    https addresses and to their own machine only, where they keep Secure cookies as well."""
    return _forwarded_scheme(environ) != "https" and "HTTP_SEC_FETCH_SITE" not in environ


def _forwarded_scheme(environ: dict[str, Any]) -> str:
    """What the outermost proxy noted."""
    return str(environ.get("HTTP_X_FORWARDED_PROTO", "")).split(",")[0].strip().lower()


def is_public(environ: dict[str, Any], trusted: Sequence[str]) -> bool:
    """Whether the client is, or may be, outside of this machine and its private networks: it may be
    behind a proxy that is not trusted or that does not name it."""
    peer, address = environ.get("REMOTE_ADDR") or "", find_client_ip(environ, trusted)
    if any(name in environ for name in _FORWARDED):
        is_named = _is_trusted(peer, trusted) and not _is_trusted(address, trusted)
        if not is_named:
            return True
    return bool(address) and not any(ipaddress.ip_address(address) in n for n in _LOCAL)


def make_limit_key(address: str) -> str:
    """What a limit counts by: an IPv6 client owns a /56 at least."""
    if ":" not in address:
        return address
    return str(ipaddress.ip_network(f"{address}/56", strict=False))


def make_connection_key(peer: str, trusted: Sequence[str]) -> str:
    """What connections are counted by; "" for those that are not: they come from a trusted proxy
    or by a unix socket."""
    address = _normal(peer)
    if not address or (trusted and _is_trusted(address, trusted)):
        return ""
    return make_limit_key(address)


def _is_trusted(address: str, trusted: Sequence[str]) -> bool:
    if not _normal(address):
        return "localhost" in trusted
    ip = ipaddress.ip_address(_normal(address))
    return any(ip in network for network in _networks(tuple(trusted)))


@lru_cache(maxsize=4096)
def _normal(text: str) -> str:
    """IPv4 in IPv6 as IPv4, without zone or port; "" for what is no address."""
    text = text.split("%")[0]
    if text.startswith("["):
        text = text[1:].split("]")[0]
    elif text.count(":") == 1:
        text = text.split(":")[0]
    try:
        ip = ipaddress.ip_address(text)
    except ValueError:
        return ""
    mapped = getattr(ip, "ipv4_mapped", None)
    return str(mapped or ip)
