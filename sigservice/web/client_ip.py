"""The client's address and scheme: the peer's, unless it is a trusted proxy."""

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
Network = ipaddress.IPv4Network | ipaddress.IPv6Network


@lru_cache(maxsize=16)
def _parse_networks(names: tuple[str, ...]) -> tuple[Network, ...]:
    return tuple(_parse_network(name) for name in names if name != "localhost")


def _parse_network(name: str) -> Network:
    network = ipaddress.ip_network(name, strict=False)
    mapped = getattr(network.network_address, "ipv4_mapped", None)
    if mapped is None or network.prefixlen < 96:
        return network
    return ipaddress.ip_network(f"{mapped}/{network.prefixlen - 96}", strict=False)


def find_client_ip(environ: dict[str, Any], trusted: Sequence[str]) -> str:
    """The address as text; "" for the peer of a unix socket.

    It is the right-most entry of X-Forwarded-For that isn't a trusted proxy: the client itself may
    have sent the entries to the left of it.
    """
    peer = environ.get("REMOTE_ADDR") or ""
    if trusted and _is_trusted(peer, trusted):
        for entry in reversed(environ.get("HTTP_X_FORWARDED_FOR", "").split(",")):
            address = _normalize(entry.strip())
            if not address:
                break
            peer = address
            if not _is_trusted(address, trusted):
                break
    return _normalize(peer)


def is_https(environ: dict[str, Any], trusted: Sequence[str]) -> bool:
    """Whether a trusted proxy reports that the browser uses TLS."""
    peer = environ.get("REMOTE_ADDR") or ""
    return (
        _read_forwarded_scheme(environ) == "https" and bool(trusted) and _is_trusted(peer, trusted)
    )


def is_apparently_plain_http(environ: dict[str, Any]) -> bool:
    """Whether no header indicates TLS. Browsers send Sec-Fetch headers only to https addresses and
    to localhost, where they keep Secure cookies too."""
    return _read_forwarded_scheme(environ) != "https" and "HTTP_SEC_FETCH_SITE" not in environ


def _read_forwarded_scheme(environ: dict[str, Any]) -> str:
    """The scheme that the outermost proxy reported."""
    return str(environ.get("HTTP_X_FORWARDED_PROTO", "")).split(",")[0].strip().lower()


def is_remote(environ: dict[str, Any]) -> bool:
    """Whether the client is, or may be, on another machine: behind a proxy it may be."""
    address = _normalize(environ.get("REMOTE_ADDR") or "")
    is_forwarded = any(name in environ for name in _FORWARDED)
    return is_forwarded or (bool(address) and not ipaddress.ip_address(address).is_loopback)


def make_limit_key(address: str) -> str:
    """The address, or the /56 of an IPv6 address, because one client may own all of its
    addresses."""
    if ":" not in address:
        return address
    return str(ipaddress.ip_network(f"{address}/56", strict=False))


def make_connection_key(peer: str, trusted: Sequence[str]) -> str:
    """The key by which connections are counted; "" for trusted proxies and unix sockets, which
    aren't limited."""
    address = _normalize(peer)
    if not address or (trusted and _is_trusted(address, trusted)):
        return ""
    return make_limit_key(address)


def _is_trusted(address: str, trusted: Sequence[str]) -> bool:
    if not _normalize(address):
        return "localhost" in trusted
    ip = ipaddress.ip_address(_normalize(address))
    return any(ip in network for network in _parse_networks(tuple(trusted)))


@lru_cache(maxsize=4096)
def _normalize(text: str) -> str:
    """The address without zone and port, IPv4-mapped IPv6 as IPv4; "" if it is invalid."""
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
