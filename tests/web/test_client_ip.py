"""The client's address behind proxies, and what a limit counts by."""

from __future__ import annotations

import random

import pytest

from sigservice.web.client_ip import find_client_ip, is_remote, make_limit_key
from tests.table_tests import each

PROXIES = ["10.0.0.0/8", "192.168.1.7", "2001:db8::/32"]


def ip(peer, forwarded=None, trusted=PROXIES):
    environ = {"REMOTE_ADDR": peer}
    if forwarded is not None:
        environ["HTTP_X_FORWARDED_FOR"] = forwarded
    return find_client_ip(environ, trusted)


@each("peer", ["198.51.100.7", "10.0.0.1", "::1", "2001:db8::1"])
@each("forwarded", [None, "", "1.2.3.4", "1.2.3.4, 10.0.0.1"])
def test_without_trusted_proxies_the_peer_counts(peer, forwarded):
    assert ip(peer, forwarded, trusted=[]) == peer


@each("peer", ["198.51.100.7", "192.168.1.8", "11.0.0.1", "2001:db9::1", "::1"])
def test_a_stranger_is_not_believed(peer):
    assert ip(peer, "1.2.3.4") == peer


@pytest.mark.parametrize("peer", ["10.0.0.1", "10.255.255.255", "192.168.1.7", "2001:db8::1"])
def test_a_trusted_peer_tells_the_client(peer):
    assert ip(peer, "1.2.3.4") == "1.2.3.4"
    assert ip(peer) == peer
    assert ip(peer, "") == peer


@each(
    "forwarded client",
    [
        ("6.6.6.6, 1.2.3.4", "1.2.3.4"),
        ("6.6.6.6,1.2.3.4,10.0.0.2", "1.2.3.4"),
        ("6.6.6.6 , 1.2.3.4 , 10.0.0.2 , 192.168.1.7", "1.2.3.4"),
        ("10.0.0.9, 1.2.3.4, 10.0.0.2", "1.2.3.4"),
        ("10.0.0.9, 10.0.0.2", "10.0.0.9"),
        ("10.0.0.9", "10.0.0.9"),
        ("1.2.3.4, 2001:db8::2", "1.2.3.4"),
        ("1.2.3.4, 2001:db9::2", "2001:db9::2"),
    ],
)
def test_the_right_most_entry_that_is_no_proxy_counts(forwarded, client):
    assert ip("10.0.0.1", forwarded) == client


@each(
    "forwarded client",
    [
        ("unknown", "10.0.0.1"),
        ("1.2.3.4, unknown", "10.0.0.1"),
        ("1.2.3.4, _hidden, 10.0.0.2", "10.0.0.2"),
        ("1.2.3.4,", "10.0.0.1"),
        (",", "10.0.0.1"),
        ("1.2.3.4, 999.1.1.1", "10.0.0.1"),
        ("1.2.3.4, 01.2.3.4", "10.0.0.1"),
        ("1.2.3.4, 1.2.3", "10.0.0.1"),
        ("1.2.3.4, localhost", "10.0.0.1"),
        ("1.2.3.4, \u0661.2.3.4", "10.0.0.1"),
        ("1.2.3.4, 10.0.0.0/8", "10.0.0.1"),
        ("1.2.3.4, <script>", "10.0.0.1"),
        ("1.2.3.4; 5.6.7.8", "10.0.0.1"),
    ],
)
def test_nothing_to_the_left_of_garbage_is_believed(forwarded, client):
    assert ip("10.0.0.1", forwarded) == client


@each(
    "forwarded client",
    [
        ("1.2.3.4:5678", "1.2.3.4"),
        ("[2001:db9::1]:443", "2001:db9::1"),
        ("[2001:db9::1]", "2001:db9::1"),
        ("2001:DB9:0:0::1", "2001:db9::1"),
        ("fe80::1%eth0", "fe80::1"),
        ("::ffff:1.2.3.4", "1.2.3.4"),
        ("[::ffff:102:304]:80", "1.2.3.4"),
        ("6.6.6.6, ::ffff:10.0.0.2", "6.6.6.6"),
    ],
)
def test_entries_are_read_with_port_brackets_zone_and_in_any_spelling(forwarded, client):
    assert ip("10.0.0.1", forwarded) == client


def test_a_peer_that_is_mapped_ipv4_is_that_ipv4():
    assert ip("::ffff:10.0.0.1", "1.2.3.4") == "1.2.3.4"
    assert ip("::ffff:198.51.100.7", "1.2.3.4") == "198.51.100.7"
    assert ip("::ffff:198.51.100.7", trusted=[]) == "198.51.100.7"


@pytest.mark.parametrize("named", ["::ffff:10.0.0.1", "::ffff:10.0.0.0/104"])
def test_a_proxy_may_be_named_as_mapped_ipv4(named):
    assert ip("10.0.0.1", "1.2.3.4", trusted=[named]) == "1.2.3.4"
    assert ip("::ffff:10.0.0.1", "1.2.3.4", trusted=[named]) == "1.2.3.4"


@pytest.mark.parametrize("peer", ["localhost", "", None])
def test_the_peer_of_a_unix_socket_is_trusted_by_the_name_localhost_only(peer):
    assert ip(peer, "1.2.3.4", trusted=["localhost"]) == "1.2.3.4"
    assert ip(peer, "1.2.3.4", trusted=["127.0.0.1"]) == ""
    assert ip(peer, "1.2.3.4", trusted=[]) == ""
    assert ip(peer, trusted=["localhost"]) == ""


def test_localhost_stands_for_no_address():
    assert ip("127.0.0.1", "1.2.3.4", trusted=["localhost"]) == "127.0.0.1"
    assert ip("localhost", "6.6.6.6, 127.0.0.1", trusted=["localhost"]) == "127.0.0.1"


def test_a_network_may_be_named_by_any_of_its_addresses():
    assert ip("172.16.9.9", "1.2.3.4", trusted=["172.16.5.5/12"]) == "1.2.3.4"


def test_a_client_can_not_choose_its_address():
    """Whatever it writes, its own proxy adds the true address at the right."""
    random_ = random.Random(11)
    pieces = [
        "10.0.0.1",
        "1.2.3.4",
        "::1",
        "",
        " ",
        ",",
        "unknown",
        "[",
        "]",
        ":",
        "%",
        "\x00",
        "é",
    ]
    for _ in range(500):
        forged = "".join(random_.choice([*pieces, ", "]) for _ in range(random_.randrange(9)))
        assert ip("10.0.0.1", f"{forged}, 198.51.100.7") == "198.51.100.7"
        assert ip("198.51.100.7", forged) == "198.51.100.7"
        assert ip("10.0.0.1", forged).isascii()


@each(
    "address key",
    [
        ("1.2.3.4", "1.2.3.4"),
        ("", ""),
        ("2001:db8:1:200::1", "2001:db8:1:200::/56"),
        ("2001:db8:1:2ff:ffff:ffff:ffff:ffff", "2001:db8:1:200::/56"),
        ("2001:db8:1:300::1", "2001:db8:1:300::/56"),
        ("::1", "::/56"),
    ],
)
def test_a_limit_counts_ipv6_by_56_bits(address, key):
    assert make_limit_key(address) == key


def test_a_huge_header_is_read_quickly_from_the_right():
    assert ip("10.0.0.1", "6.6.6.6," * 100_000 + "1.2.3.4") == "1.2.3.4"


@pytest.mark.parametrize("peer", ["127.0.0.1", "127.8.0.1", "::1", "::ffff:127.0.0.1", ""])
def test_a_loopback_address_is_not_remote(peer):
    assert not is_remote({"REMOTE_ADDR": peer})


@pytest.mark.parametrize("peer", ["8.8.8.8", "10.1.2.3", "fe80::1%eth0", "::ffff:192.168.0.1"])
def test_any_other_address_is_remote(peer):
    assert is_remote({"REMOTE_ADDR": peer})


@pytest.mark.parametrize("header", ["X_FORWARDED_FOR", "X_REAL_IP", "FORWARDED", "VIA"])
def test_a_client_behind_a_proxy_is_remote(header):
    assert is_remote({"REMOTE_ADDR": "127.0.0.1", f"HTTP_{header}": "127.0.0.1"})
