"""Official SDKs that stream or ask for changes: what is written arrives; see docs/streaming.md."""

import contextlib
import os
import random
from collections.abc import Iterator

import pytest

from tests.sdk.cutting_proxy import CuttingProxy
from tests.sdk.stream_kit import DELTA, PROJECTS, STREAMING, Admin, Fleet
from tests.server.process import (
    OPEN_LIMITS,
    Process,
    find_free_port,
    make_database_environ,
    run_service,
)
from tests.waiting import DEADLINE_SECONDS, take_time, until

# Of writes, cuts and kills. The suite makes few, by hand make 30.
ROUNDS = int(os.environ.get("ROUNDS", "1"))


@pytest.fixture
def environ(database) -> dict[str, str]:
    options = make_database_environ(database.options()) | OPEN_LIMITS
    return options | {"SERVICE_STREAMING_UPGRADE": "true"}


@pytest.fixture
def service(environ) -> Iterator[Process]:
    with run_service(environ) as process:
        yield process


@pytest.fixture
def admin(service) -> Admin:
    return Admin(service)


@pytest.fixture
def fleet(node, tmp_path) -> Iterator[Fleet]:
    fleet = Fleet(node, tmp_path)
    yield fleet
    fleet.close()


def test_every_write_arrives_at_every_client(service, admin, fleet):
    choose = random.Random(1)
    names = admin.create_flags()
    url = f"http://127.0.0.1:{service.port}"
    for token in (admin.create_token(), admin.create_token("shop"), admin.create_token(*PROJECTS)):
        fleet.open_node(f"n{token[:20]}", url, token, mode=STREAMING)
        fleet.open_node(f"d{token[:20]}", url, token, mode=DELTA, interval=50)
        fleet.open_node(f"u{token[:20]}", url, token, interval=50)
        fleet.open_python(f"p{token[:20]}", url, token)
    for _ in range(60 * ROUNDS):
        admin.change_at_random(choose, names)
        if choose.random() < 0.3:
            fleet.await_current(service)
    fleet.await_current(service)


REFUSALS = {"404": 404, "429": 429, "502": 502, "never": 0}


def test_a_poller_that_is_asked_to_stream_never_loses_its_flags(service, admin, fleet):
    """Directly, with a token that streams don't get, and through proxies that refuse streams."""
    token = admin.create_token()
    admin.create_flag("a")
    proxies = {name: CuttingProxy(service.port) for name in ("streams", "function", *REFUSALS)}
    for name, proxy in proxies.items():
        if name in REFUSALS:
            proxy.refusals["/api/client/streaming"] = REFUSALS[name]
        more = {"isTokenFromFunction": True} if name == "function" else {}
        fleet.open_node(name, proxy.url, token, interval=200, **more)
    for name, proxy in proxies.items():
        until(lambda p=proxy: p.count("/api/client/streaming"), f"the stream of {name}")
        assert fleet.state(name)["features"], name
    admin.switch("a", True)
    for name in ("streams", "function", "404", "429"):
        until(lambda n=name: fleet.is_enabled(n, "a"), f"the change at {name}", 10)
    take_time(2)
    for name, proxy in proxies.items():
        is_streaming = name in ("streams", "502", "never")
        assert fleet.mode(name) == ("streaming" if is_streaming else "polling"), name
        # The SDK forgets to stop its timer, so it polls twice in an interval.
        assert proxy.count("/api/client/features") < (4 if is_streaming else 50), name
        if name != "502":  # where the SDK tries again
            assert proxy.count("/api/client/streaming") == 1, name
        assert fleet.state(name)["features"], name
        proxy.close()


def test_a_client_that_finds_no_room_polls(environ, fleet):
    with run_service(environ | {"SERVICE_STREAMS_LIMIT": "1"}) as service:
        admin, url = Admin(service), f"http://127.0.0.1:{service.port}"
        token = admin.create_token()
        fleet.open_node("first", url, token, mode=STREAMING)
        until(lambda: fleet.state("first")["isReady"], "the first stream")
        fleet.open_node("second", url, token, mode=STREAMING, interval=50)
        fleet.open_node("third", url, token, interval=50)
        admin.create_flag("a")
        fleet.await_current(service)
        assert fleet.mode("first") == "streaming"
        assert fleet.mode("second") == fleet.mode("third") == "polling"


def test_clients_are_right_behind_a_proxy_that_cuts_and_delays(service, admin, fleet):
    proxy = CuttingProxy(service.port)
    choose = random.Random(2)
    names = admin.create_flags()
    token = admin.create_token()
    fleet.open_node("streaming", proxy.url, token, mode=STREAMING)
    fleet.open_node("delta", proxy.url, token, mode=DELTA, interval=50)
    fleet.open_python("python", proxy.url, token)
    fleet.await_current(service, DEADLINE_SECONDS)
    for _ in range(2 * ROUNDS):
        proxy.max_delay, proxy.max_piece = choose.choice([(0.0, 65_536), (0.002, 700)])
        for _ in range(choose.randrange(1, 10)):
            admin.change_at_random(choose, names)
        proxy.cut()
        for _ in range(choose.randrange(1, 10)):
            admin.change_at_random(choose, names)
    proxy.max_delay, proxy.max_piece = 0.0, 65_536
    fleet.await_current(service, 35)
    ids = proxy.find_headers("/api/client/streaming", "Last-Event-ID")
    assert sum(id != "" for id in ids) >= 2
    proxy.close()


def test_clients_are_right_after_kills(environ, fleet):
    """Clients of a service that is killed, while another process on its database goes on; each
    client gets what it missed. ROUNDS=30 by hand."""
    port = find_free_port()
    choose = random.Random(3)
    with run_service(environ) as other, contextlib.ExitStack() as stack:
        admin = Admin(other)
        names = admin.create_flags()
        token = admin.create_token()
        service = stack.enter_context(run_service(environ | {"HTTP_PORT": str(port)}))
        url = f"http://127.0.0.1:{port}"
        fleet.open_node("streaming", url, token, mode=STREAMING)
        fleet.open_node("upgraded", url, token, interval=200)
        fleet.open_node("delta", url, token, mode=DELTA, interval=50)
        fleet.open_python("python", url, token)
        fleet.await_current(service, DEADLINE_SECONDS)
        until(lambda: fleet.mode("upgraded") == "streaming", "the upgrade")
        for _ in range(ROUNDS):
            admin.client = choose.choice([service, other])
            for _ in range(choose.randrange(10)):
                admin.change_at_random(choose, names)
            service.kill()
            admin.client = other
            for _ in range(choose.randrange(10)):
                admin.change_at_random(choose, names)
            service = stack.enter_context(run_service(environ | {"HTTP_PORT": str(port)}))
        fleet.await_current(service, 35)


def test_a_revoked_token_ends_the_streams_of_sdks(service, admin, fleet):
    proxy = CuttingProxy(service.port)
    token, other = admin.create_token(), admin.create_token()
    fleet.open_python("python", proxy.url, token)
    fleet.open_node("node", proxy.url, token, mode=STREAMING)
    fleet.open_node("other", proxy.url, other, mode=STREAMING)
    admin.create_flag("a")
    fleet.await_current(service, DEADLINE_SECONDS)
    admin.must("DELETE", f"api-tokens/{token}")
    admin.switch("a", True)
    until(lambda: fleet.is_enabled("other", "a"), "the change", 10)
    until(lambda: fleet.mode("node") == "polling", "the 401 of the next stream")
    assert not fleet.is_enabled("node", "a")
    assert not fleet.is_enabled("python", "a")
    assert [flag["name"] for flag in fleet.state("python")["features"]] == ["a"]
    proxy.close()


@pytest.mark.skipif(ROUNDS < 10, reason="takes 50 s: ROUNDS=10")
def test_an_idle_stream_stays_open(service, admin, fleet):
    """Python gives up after 30 s without a byte, a proxy often after 60 s."""
    proxy = CuttingProxy(service.port)
    token = admin.create_token()
    fleet.open_python("python", proxy.url, token)
    fleet.open_node("node", proxy.url, token, mode=STREAMING)
    take_time(45)
    assert proxy.count("/api/client/streaming") == 2
    admin.create_flag("a")
    fleet.await_current(service)
    proxy.close()
