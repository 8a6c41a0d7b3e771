"""The official SDKs behind a relay."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sigservice.clock import Clock
from sigservice.relay.server import Relay
from sigservice.relay.settings import load_settings
from tests.sdk.conftest import CLIENT_TOKEN, FRONTEND_TOKEN
from tests.sdk.test_server_side import ANSWERS
from tests.server.process import find_free_port, until


def start_relay(url: str, port: int) -> Relay:
    environ = {
        "RELAY_UPSTREAM_URLS": url,
        "RELAY_TOKENS": CLIENT_TOKEN,
        "RELAY_REFRESH_INTERVAL_SECONDS": "1",
        "HTTP_HOST": "127.0.0.1",
        "HTTP_PORT": str(port),
        "LOG_LEVEL": "fatal",
        "GRACEFUL_SHUTDOWN_TIMEOUT": "100",
    }
    relay = Relay(load_settings(environ), Clock())
    relay.start()
    return relay


@pytest.fixture
def relay(flags) -> Iterator[Relay]:
    relay = start_relay(flags.url, 0)
    yield relay
    relay.stop()


def find_url(relay: Relay) -> str:
    return f"http://127.0.0.1:{relay.port}"


def test_node_evaluates_and_sees_a_flip(flags, relay, node):
    sdk = node("node_sdk.cjs", find_url(relay), CLIENT_TOKEN)
    sdk.ask(do="ready")
    result = {
        key: sdk.ask(
            do="on", flag=key[0], context={"userId": key[1], "properties": {"country": key[2]}}
        )
        for key in ANSWERS
    }
    assert result == ANSWERS
    flags.switch("rollout", on=False)
    until(lambda: not sdk.ask(do="on", flag="rollout", context={}), "the flip")


def test_the_browser_sdk_evaluates_and_sees_a_flip(flags, relay, node):
    sdk = node("proxy_sdk.cjs", find_url(relay), FRONTEND_TOKEN)
    assert sdk.ask(do="start")["ready"] == 1
    assert sdk.ask(do="context", context={"userId": "7", "properties": {"country": "fr"}})
    result = [sdk.ask(do="on", flag=name) for name in ("rollout", "nobody", "german", "beta")]
    assert result == [True, False, False, True]
    flags.switch("rollout", on=False)
    until(lambda: not sdk.ask(do="on", flag="rollout"), "the flip")


def test_node_polls_again_after_a_start_before_the_upstream(server, node):
    """After 401 and 403 it would never ask again."""
    server.flag("after", parameters={"rollout": 100})
    gap = find_free_port()  # nothing listens there
    port = find_free_port()
    relay = start_relay(f"http://127.0.0.1:{gap}", port)
    sdk = node("node_sdk.cjs", f"http://127.0.0.1:{port}", CLIENT_TOKEN)
    try:
        until(lambda: {"warn", "error"} & sdk.ask(do="seen").keys(), "the 503")
        assert not sdk.ask(do="on", flag="after", context={})
    finally:
        relay.stop()
    relay = start_relay(server.url, port)
    try:
        until(lambda: sdk.ask(do="on", flag="after", context={}), "the flags")
    finally:
        relay.stop()
