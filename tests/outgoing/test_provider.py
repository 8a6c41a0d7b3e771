"""Where requests to the OpenID provider may go, and incomplete answers."""

from __future__ import annotations

import time

import pytest

from sigservice.outgoing.addresses import DestinationError, check_address, parse_ip
from sigservice.outgoing.post import get
from sigservice.outgoing.provider import ProviderClient, ProviderError
from sigservice.outgoing.proxies import Proxies
from tests.outgoing.test_post import HERE
from tests.receiver import receiving
from tests.table_tests import each


def make_client(issuer):
    return ProviderClient(issuer, Proxies(), None, lambda endpoint, result, seconds: None)


@each(
    "issuer url is_allowed",
    [
        ("https://10.0.0.1", "https://10.0.0.1/token", True),
        ("https://10.0.0.1", "https://10.9.9.9/token", True),
        ("https://10.0.0.1", "https://8.8.8.8/token", True),
        ("https://8.8.8.8", "https://10.0.0.1/token", False),
        ("https://8.8.8.8", "https://127.0.0.1/token", False),
        ("https://8.8.8.8", "https://169.254.169.254/", False),
        ("https://10.0.0.1", "https://169.254.169.254/", False),
        ("https://10.0.0.1", "https://127.0.0.1/", False),
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080/token", True),
        ("http://127.0.0.1:8080", "http://127.0.0.1:8081/token", False),
        ("http://127.0.0.1:8080", "https://127.0.0.1:8080/token", False),
        ("http://127.0.0.1:8080", "https://10.0.0.1/token", False),
        ("https://169.254.169.254", "https://169.254.169.254/", False),
    ],
)
def test_endpoints_are_where_the_issuer_is_or_public(issuer, url, is_allowed):
    host = url.split("//")[1].split("/")[0].split(":")[0]

    def check():
        policy = make_client(issuer)._choose_policy(url)
        check_address(host, parse_ip(host), policy)

    if is_allowed:
        check()
    else:
        with pytest.raises(DestinationError):
            check()


@pytest.mark.parametrize(
    ("body", "length", "is_complete"),
    [(b"x" * 100, 100, True), (b"x" * 100, 101, False), (b"x" * 101, 101, False)],
)
def test_answer_that_is_cut_or_too_long_is_incomplete(body, length, is_complete):
    with receiving() as receiver:
        receiver.answers = [(200, {})]
        receiver.body, receiver.length = body, length
        response = get(receiver.url, policy=HERE, proxies=Proxies(), max_bytes=100)
    assert response.is_complete is is_complete
    assert response.body == body[:100]


def test_request_after_the_deadline_is_not_sent():
    with receiving() as receiver:
        with pytest.raises(ProviderError):
            make_client(receiver.url).request("token", receiver.url, time.monotonic() - 1)
        assert receiver.requests == []
