"""The proxies that HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY name."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import urllib3
from urllib3.util import Url, make_headers, parse_url

from sigservice.outgoing.addresses import DEFAULT_PORTS


@dataclass(frozen=True)
class Proxies:
    http: str = ""
    https: str = ""
    all: str = ""
    none: str = ""

    @classmethod
    def of(cls, config: Mapping[str, Any]) -> Proxies:
        found = config["outgoing"]
        return cls(
            *(found[name] or "" for name in ("httpProxy", "httpsProxy", "allProxy", "noProxy"))
        )

    def find(self, scheme: str, host: str, port: int) -> str:
        """The proxy for an address, "" when it is reached directly."""
        proxy = (self.https if scheme == "https" else self.http) or self.all
        return "" if any(_matches(one, host, port) for one in self.none.split(",")) else proxy

    def variables(self) -> dict[str, str]:
        """As other programs know them."""
        named = {"http_proxy": self.http, "https_proxy": self.https}
        named |= {"all_proxy": self.all, "no_proxy": self.none}
        return {name: value for name, value in named.items() if value}

    def endpoints(self) -> set[tuple[str, int]]:
        """(host, port) of each proxy."""
        urls = [_parse(proxy) for proxy in (self.http, self.https, self.all) if proxy]
        return {
            ((url.host or "").strip("[]"), url.port or DEFAULT_PORTS.get(url.scheme or "", 0))
            for url in urls
        }


def _matches(excepted: str, host: str, port: int) -> bool:
    """`excepted` is `*`, a name, which stands for those below it too, with or without a port, an
    address or a network."""
    excepted, host = excepted.strip().lower().lstrip("."), host.lower().rstrip(".")
    try:
        return ipaddress.ip_address(host) in ipaddress.ip_network(excepted.strip("[]"), False)
    except ValueError:
        excepted = excepted.removesuffix(f":{port}")
        return bool(excepted) and (excepted in ("*", host) or host.endswith(f".{excepted}"))


def manager(proxy: str, **settings: Any) -> urllib3.ProxyManager:
    """Connections through a proxy. Raises urllib3's HTTPError, ValueError for one that can't be
    used."""
    address = _parse(proxy)
    headers = make_headers(proxy_basic_auth=address.auth) if address.auth else None
    return urllib3.ProxyManager(address.url, proxy_headers=headers, **settings)


def _parse(proxy: str) -> Url:
    return parse_url(proxy if "://" in proxy else f"http://{proxy}")
