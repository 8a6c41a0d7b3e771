"""The proxies of HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sigservice.late import urllib3, urllib3_util


@dataclass(frozen=True)
class Proxies:
    http: str = ""
    https: str = ""
    all: str = ""
    none: str = ""

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Proxies:
        names = ("httpProxy", "httpsProxy", "allProxy", "noProxy")
        return cls(*(config["outgoing"][name] or "" for name in names))

    @classmethod
    def from_environment(cls, environ: Mapping[str, str]) -> Proxies:
        """Without the configuration of the service; lowercase names override uppercase ones."""
        names = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")
        return cls(*((environ.get(n) or environ.get(n.upper(), "")).strip() for n in names))

    def find(self, scheme: str, host: str, port: int) -> str:
        """The proxy for a destination, "" for a direct connection."""
        proxy = (self.https if scheme == "https" else self.http) or self.all
        if not proxy or any(_matches(rule, host, port) for rule in self.none.split(",")):
            return ""
        return proxy


def _matches(rule: str, host: str, port: int) -> bool:
    """`rule` is `*`, a domain (with its subdomains, with or without a port), an address or a
    network."""
    rule, host = rule.strip().lower().lstrip("."), host.lower().rstrip(".")
    try:
        return ipaddress.ip_address(host) in ipaddress.ip_network(rule.strip("[]"), False)
    except ValueError:
        rule = rule.removesuffix(f":{port}")
        return bool(rule) and (rule in ("*", host) or host.endswith(f".{rule}"))


def make_manager(proxy: str, **settings: Any) -> urllib3.ProxyManager:
    """Connections through a proxy. Raises urllib3's HTTPError or ValueError for an invalid one."""
    address = _parse(proxy)
    headers = urllib3_util.make_headers(proxy_basic_auth=address.auth) if address.auth else None
    return urllib3.ProxyManager(address.url, proxy_headers=headers, **settings)


def _parse(proxy: str) -> urllib3_util.Url:
    return urllib3_util.parse_url(proxy if "://" in proxy else f"http://{proxy}")
