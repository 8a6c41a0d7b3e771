"""Official SDKs that stream or ask for changes: what is written arrives; see docs/streaming.md."""

import random
from collections.abc import Iterator

import pytest

from tests.sdk.cutting_proxy import CuttingProxy
from tests.sdk.stream_kit import DELTA, PROJECTS, STREAMING, Admin, Fleet
from tests.server.process import (
    OPEN_LIMITS,
    Process,
    make_database_environ,
    run_service,
)
from tests.waiting import take_time, until


@pytest.fixture
def environ(database) -> dict[str, str]:
    return make_database_environ(database.options()) | OPEN_LIMITS


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


@pytest.fixture
def proxy(service) -> Iterator[CuttingProxy]:
    proxy = CuttingProxy(service.port)
    yield proxy
    proxy.close()


def test_every_write_arrives_at_every_client(service, admin, fleet):
    choose = random.Random(1)
    names = admin.create_flags()
    url = f"http://127.0.0.1:{service.port}"
    for token in (admin.create_token(), admin.create_token("shop"), admin.create_token(*PROJECTS)):
        fleet.open_node(f"n{token[:20]}", url, token, mode=STREAMING)
        fleet.open_node(f"d{token[:20]}", url, token, mode=DELTA, interval=50)
        fleet.open_node(f"u{token[:20]}", url, token, interval=50)
        fleet.open_python(f"p{token[:20]}", url, token)
    for _ in range(60):
        admin.change_at_random(choose, names)
        if choose.random() < 0.3:
            fleet.await_current(service)
    fleet.await_current(service)


REFUSALS = {"404": 404, "429": 429, "502": 502, "never": 0}


def test_a_poller_is_asked_to_stream_once_and_never_loses_its_flags(service, admin, fleet):
    """Directly, with a token that streams don't get, and through proxies that refuse streams
    or hold them back."""
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
        until(lambda n=name: fleet.is_enabled(n, "a"), f"the change at {name}", 2)
    take_time(2)
    for name, proxy in proxies.items():
        is_streaming = name in ("streams", "502", "never")
        assert fleet.mode(name) == ("streaming" if is_streaming else "polling"), name
        # The SDK forgets to stop its timer, so it polls twice in an interval.
        assert proxy.count("/api/client/features") < (4 if is_streaming else 50), name
        assert proxy.count("/api/client/streaming") < (4 if name == "502" else 2), name
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
