"""Which proxy an address is reached through."""

from __future__ import annotations

from sigservice.config import load_config
from sigservice.outgoing.proxies import Proxies
from tests.table_tests import each

ENVIRON = {
    "HTTP_PROXY": "http://capital:1",
    "http_proxy": "http://small:1",
    "HTTPS_PROXY": "https:2",
    "NO_PROXY": "localhost, .inside.example,10.0.0.0/8,[::1],ports.example:8443",
}


@each(
    "scheme host port proxy",
    [
        ("http", "a.example", 80, "http://small:1"),
        ("https", "a.example", 443, "https:2"),
        ("https", "localhost", 443, ""),
        ("https", "x.inside.example", 443, ""),
        ("https", "INSIDE.example.", 443, ""),
        ("https", "xinside.example", 443, "https:2"),
        ("http", "10.1.2.3", 80, ""),
        ("http", "11.1.2.3", 80, "http://small:1"),
        ("http", "::1", 80, ""),
        ("https", "ports.example", 8443, ""),
        ("https", "ports.example", 443, "https:2"),
    ],
)
def test_choice(scheme, host, port, proxy):
    assert Proxies.from_config(load_config(None, ENVIRON).config).find(scheme, host, port) == proxy


def test_one_for_all_and_none_for_any():
    assert Proxies(all="x:1").find("http", "a.example", 80) == "x:1"
    assert Proxies(all="x:1", none="*").find("http", "a.example", 80) == ""
    assert Proxies().find("http", "a.example", 80) == ""
