"""The purpose of an IP address: the special-purpose registries of IANA, and additions of clouds.

https://www.iana.org/assignments/iana-ipv4-special-registry and iana-ipv6-special-registry, read in
2025. ipaddress.is_global is not used because its data depends on the version of Python.
"""

import ipaddress

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

# No web server has these addresses; clouds serve the secrets of a machine at some of them.
NEVER = (
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
LOOPBACK = ("127.0.0.0/8", "::1/128")
PRIVATE = (
    "10.0.0.0/8",
    "100.64.0.0/10",  # shared by the customers of a provider
    "172.16.0.0/12",
    "192.0.0.0/24",  # protocol assignments
    "192.0.2.0/24",  # documentation
    "192.31.196.0/24",  # AS112
    "192.52.193.0/24",  # AMT
    "192.88.99.0/24",  # 6to4 relays
    "192.168.0.0/16",
    "192.175.48.0/24",  # AS112
    "198.18.0.0/15",  # benchmarks
    "198.51.100.0/24",  # documentation
    "203.0.113.0/24",  # documentation
    "2001::/23",  # protocol assignments: Teredo, benchmarks, ORCHID
    "2001:db8::/32",  # documentation
    "2620:4f:8000::/48",  # AS112
    "3fff::/20",  # documentation
)
_UNICAST = ipaddress.IPv6Network(
    "2000::/3"
)  # all others are private: fc00::/7, 100::/64, 5f00::/16
# An IPv4 address is in the last 32 bits: mapped, compatible, translated (RFC 2765), NAT64.
_EMBEDDING = tuple(
    ipaddress.IPv6Network(text)
    for text in ("::ffff:0:0/96", "::/96", "::ffff:0:0:0/96", "64:ff9b::/96")
)
_NETWORKS = tuple(
    (ipaddress.ip_network(text), kind)
    for kind, texts in (("never", NEVER), ("loopback", LOOPBACK), ("private", PRIVATE))
    for text in texts
)


def classify_address(address: Address) -> str:
    """public, private, loopback or never. An embedded IPv4 address decides for an IPv6 one."""
    if getattr(address, "scope_id", None) is not None:
        return "never"
    for network, kind in _NETWORKS:
        if network.version == address.version and address in network:
            return kind
    if isinstance(address, ipaddress.IPv4Address):
        return "public"
    inner = _find_embedded(address)
    if inner is not None:
        return classify_address(inner)
    return "public" if address in _UNICAST else "private"


def _find_embedded(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    if any(address in network for network in _EMBEDDING):
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address.sixtofour
