"""Tests whether an IP address is in one of many networks."""

import ipaddress
from collections import defaultdict
from collections.abc import Callable, Iterable
from functools import lru_cache

MAX_ADDRESS_LENGTH = 45  # an IPv6 address that ends with an IPv4 address


def compile_networks(texts: Iterable[str]) -> Callable[[str], bool]:
    """Returns whether a text is an address of one of the networks. Ignores invalid networks."""
    # Networks of a size are a set, so thousands of them cost as much as one.
    by_size: defaultdict[tuple[int, int], set[int]] = defaultdict(set)
    for text in texts:
        try:
            network = ipaddress.ip_network(_check_zone(text), strict=False)
        except ValueError:
            continue
        shift = network.max_prefixlen - network.prefixlen
        by_size[network.version, shift].add(int(network.network_address) >> shift)
    sizes = [(version, shift, prefixes) for (version, shift), prefixes in by_size.items()]

    def contains(text: str) -> bool:
        address = _parse_address(text) if len(text) <= MAX_ADDRESS_LENGTH else None
        if address is None:
            return False
        own_version, number = address
        for version, shift, prefixes in sizes:  # any() takes twice as long
            if version == own_version and number >> shift in prefixes:
                return True
        return False

    return contains


@lru_cache(1000)
def _parse_address(text: str) -> tuple[int, int] | None:
    """The version and the number of the address; None for an invalid one."""
    try:
        address = ipaddress.ip_address(_check_zone(text))
    except ValueError:
        return None
    return address.version, int(address)


def _check_zone(text: str) -> str:
    """Raises ValueError for an address with a zone, such as fe80::1%eth0: SDKs match none."""
    if "%" in text:
        raise ValueError("an address with a zone")
    return text
