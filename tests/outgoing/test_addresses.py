"""Who may be reached: every spelling of what is private, and what the operator allows."""

from __future__ import annotations

import ipaddress
import socket
import threading

import pytest

from sigservice.outgoing.addresses import (
    AddressPolicy,
    DestinationError,
    check_address,
    parse_ip,
    resolve,
)
from sigservice.outgoing.post import parse_target
from tests.table_tests import each

# The registries of special-purpose addresses, with the first and last address of each entry, and
# what lies beside them.
PUBLIC = ["8.8.8.8", "1.1.1.1", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0"]
PUBLIC += ["126.255.255.255", "128.0.0.0", "169.253.255.255", "169.255.0.0", "172.15.255.255"]
PUBLIC += ["172.32.0.0", "191.255.255.255", "192.0.1.0", "192.0.3.0", "192.31.195.255"]
PUBLIC += ["192.31.197.0", "192.52.192.255", "192.52.194.0", "192.88.98.255", "192.88.100.0"]
PUBLIC += ["192.167.255.255", "192.169.0.0", "192.175.47.255", "192.175.49.0", "198.17.255.255"]
PUBLIC += ["198.20.0.0", "198.51.99.255", "198.51.101.0", "203.0.112.255", "203.0.114.0"]
PUBLIC += ["223.255.255.255", "1.0.0.0", "168.63.129.15", "8.8.4.4"]
PUBLIC += ["2606:4700:4700::1111", "2a00:1450::1", "2000::", "2001:200::", "2001:db7:ffff::1"]
PUBLIC += ["2001:db9::", "2620:4f:7fff::1", "2620:4f:8001::", "3ffe::1", "3fff:1000::"]
PUBLIC += ["::ffff:8.8.8.8", "::8.8.8.8", "::ffff:0:8.8.8.8", "64:ff9b::808:808", "2002:808:808::1"]
LOOPBACK = ["127.0.0.0", "127.0.0.1", "127.255.255.255", "::1", "::ffff:127.0.0.1", "::7f00:1"]
LOOPBACK += ["::ffff:0:127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::"]
PRIVATE = ["10.0.0.0", "10.255.255.255", "172.16.0.0", "172.31.255.255", "192.168.0.0"]
PRIVATE += ["192.168.255.255", "100.64.0.0", "100.127.255.255", "192.0.0.0", "192.0.0.8"]
PRIVATE += ["192.0.0.9", "192.0.0.10", "192.0.0.170", "192.0.0.255", "192.0.2.0", "192.0.2.255"]
PRIVATE += ["192.31.196.0", "192.31.196.255", "192.52.193.0", "192.52.193.255", "192.88.99.0"]
PRIVATE += ["192.88.99.1", "192.88.99.255", "192.175.48.0", "192.175.48.255", "198.18.0.0"]
PRIVATE += ["198.19.255.255", "198.51.100.0", "198.51.100.255", "203.0.113.0", "203.0.113.255"]
PRIVATE += ["fc00::", "fdff:ffff::1", "fd12:3456::1", "fec0::1", "100::", "100:0:0:1::1", "4000::1"]
PRIVATE += ["5f00::1", "64:ff9b:1::1", "2001::", "2001:1::1", "2001:2::1", "2001:3::1"]
PRIVATE += ["2001:4:112::1", "2001:10::1", "2001:20::1", "2001:30::1", "2001:1ff:ffff::1"]
PRIVATE += ["2001:0:4136:e378:8000:63bf:3fff:fdd2", "2001:db8::", "2001:db8:ffff::1"]
PRIVATE += ["2620:4f:8000::", "2620:4f:8000:ffff::1", "3fff::", "3fff:fff:ffff::1"]
PRIVATE += ["::ffff:10.0.0.1", "::10.0.0.1", "64:ff9b::a00:1", "2002:c0a8:101::1", "2002:a00:1::"]
NEVER = ["0.0.0.0", "0.255.255.255", "169.254.0.0", "169.254.169.254", "169.254.255.255"]
NEVER += ["224.0.0.0", "233.252.0.1", "239.255.255.255", "240.0.0.0", "255.255.255.255"]
NEVER += [
    "100.100.100.200",
    "168.63.129.16",
    "192.0.0.192",
    "::",
    "fe80::",
    "febf::1",
    "fe80::1%lo",
]
NEVER += ["ff00::", "ff02::1", "fd00:ec2::254", "fd20:ce::254", "2a00:1450::1%lo", "::1%lo"]
NEVER += ["::ffff:169.254.169.254", "64:ff9b::a9fe:a9fe", "2002:a9fe:a9fe::"]


def is_allowed(address, policy, host="name.example"):
    try:
        check_address(host, ipaddress.ip_address(address), policy)
    except DestinationError:
        return False
    return True


@each("address", PUBLIC + LOOPBACK + PRIVATE + NEVER)
def test_table(address):
    is_public, is_private = address in PUBLIC, address in PRIVATE
    assert is_allowed(address, AddressPolicy()) is is_public
    assert is_allowed(address, AddressPolicy(allow_private=True)) is (is_public or is_private)
    assert is_allowed(address, AddressPolicy(False, ("*.example",))) is (is_public or is_private)
    assert is_allowed(address, AddressPolicy(False, ("name.example",))) is (address not in NEVER)
    assert is_allowed(address, AddressPolicy(False, (address.partition("%")[0],))) or "%" in address
    assert not is_allowed("10.7.0.1", AddressPolicy(False, (address.partition("%")[0],)))


def test_an_address_does_not_open_loopback_for_other_names():
    policy = AddressPolicy(True, ("localhost", "10.0.0.0/8"))
    assert is_allowed("127.0.0.1", policy, "localhost")
    assert not is_allowed("127.0.0.1", policy, "127.0.0.1")
    assert not is_allowed("127.0.0.1", policy, "rebind.example")
    assert is_allowed("127.0.0.1", AddressPolicy(False, ("127.0.0.0/8",)), "127.0.0.1")


@each(
    "host allowed",
    [
        ("hooks.example", True),
        ("HOOKS.example.", True),
        ("a.inside.example", True),
        ("inside.example", False),
        ("xhooks.example", False),
        ("hooks.example.evil", False),
    ],
)
def test_names_that_are_allowed(host, allowed):
    policy = AddressPolicy(False, ("hooks.example", "*.inside.example", "10.1.0.0/16"))
    assert is_allowed("10.2.0.1", policy, host) is allowed
    assert is_allowed("10.1.0.1", policy, host)


SPELLINGS = [
    "http://127.0.0.1/",
    "http://127.1/",
    "http://2130706433/",
    "http://0x7f000001/",
    "http://0x7f.0.0.1/",
    "http://0177.0.0.1/",
    "http://017700000001/",
    "http://0/",
    "http://[::1]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:7f00:1]/",
    "http://[fe80::1%25lo]/",
    "http://169.254.169.254/latest/meta-data/",
    "https://10.0.0.1:8443/",
]


@each("url", SPELLINGS)
def test_every_spelling_of_an_own_address_is_refused(url):
    with pytest.raises(DestinationError, match="private"):
        parse_target(url, AddressPolicy())


@each(
    "url why",
    [
        ("ftp://a.example/", "must begin"),
        ("file:///etc/passwd", "must begin"),
        ("gopher://a.example/", "must begin"),
        ("//a.example/", "must begin"),
        ("https:///x", "must have a host"),
        ("https://", "must have a host"),
        ("https://me:secret@a.example/", "username or password"),
        ("https://a.example@127.0.0.1/", "username or password"),
        ("https://a.example:22/", "port"),
        ("https://a.example:25/", "port"),
        ("https://a.example:99999/", "not a valid URL"),
        ("https://a.example\\@b.example/", "ASCII"),
        ("https://a.example/\r\nHost: b", "ASCII"),
        ("https://a example/", "ASCII"),
        ("https://127。0。0。1/", "ASCII"),
        ("https://ⓛocalhost/", "ASCII"),
        ("https://[::1/", "not a valid URL"),
    ],
)
def test_what_is_no_address_is_refused(url, why):
    with pytest.raises(DestinationError, match=why):
        parse_target(url, AddressPolicy(allow_private=True))


def test_an_allowed_host_has_any_port():
    assert (
        parse_target("https://mail.example:25/", AddressPolicy(False, ("mail.example",))).port == 25
    )
    assert parse_target("http://10.0.0.7:81/", AddressPolicy(False, ("10.0.0.0/8",))).port == 81
    assert parse_target("https://a.example:8443/x", AddressPolicy()).port == 8443


def test_a_name_is_refused_if_any_of_its_addresses_is_private(monkeypatch):
    def getaddrinfo(host, port, **more):
        answers = {"mixed.example": ["8.8.8.8", "10.0.0.1"], "good.example": ["8.8.8.8"]}
        return [(0, 0, 0, "", (address, port)) for address in answers[host]]

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    assert resolve("good.example", 443, AddressPolicy()) == ["8.8.8.8"]
    with pytest.raises(DestinationError, match="private"):
        resolve("mixed.example", 443, AddressPolicy())


def test_a_name_does_not_resolve_while_the_system_has_no_thread_left(monkeypatch):
    def fail(thread):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", fail)
    with pytest.raises(OSError, match="thread"):
        resolve("localhost", 80, AddressPolicy(False, ("localhost",)))


def test_localhost_is_refused_by_its_name():
    with pytest.raises(DestinationError, match="private"):
        resolve("localhost", 80, AddressPolicy())
    assert resolve("localhost", 80, AddressPolicy(False, ("localhost",)))


def test_a_name_is_no_literal():
    assert parse_ip("a.example") is None
    assert str(parse_ip("0x7f.1")) == "127.0.0.1"
