"""Which bodies are read, as the routes declare; over a socket, because the listener decides."""

from __future__ import annotations

import http.client
import json
import re
from typing import Any

import pytest
import webtest

from sigservice.authentication import Custom
from sigservice.routes import find_routers
from sigservice.web.guards import SAFE_METHODS, PageGuard
from tests.conftest import ADMIN, Cast
from tests.server.process import Client
from tests.waiting import DEADLINE_SECONDS

LARGER = "x" * 20_000  # than the bodies that are always read
FORM = "application/x-www-form-urlencoded"
LARGEST = b" " * 5_000_000


def start_service(make_service: Any, **options: Any) -> tuple[Any, Client]:
    limits = {"failedAuthMaxPerMinute": 10**6, "simpleLoginMaxPerMinute": 10**6}
    server = {"gracefulShutdownEnable": False, "host": "127.0.0.1"}
    service = make_service({"server": server, "rateLimiting": limits, **options})
    service.start()
    return service, Client.at(service.port)


def send_request(
    client: Client, method: str, path: str, body: bytes, headers: dict[str, str]
) -> int:
    conn = http.client.HTTPConnection("127.0.0.1", client.port, timeout=DEADLINE_SECONDS)
    try:
        conn.request(method, path, body, headers)
        return conn.getresponse().status
    finally:
        conn.close()


def test_every_route_that_reads_a_body_declares_it(make_service: Any):
    """Without a declaration a route gets at most SMALL_BODY_BYTES, and answers 413."""
    service, client = start_service(make_service)
    web = webtest.TestApp(service.app)
    web.post_json("/auth/simple/login", {"username": "ada", "password": Cast.PASSWORD})
    cookie = {"Cookie": f"service-session={web.cookies['service-session']}"}
    routes = [route for router in find_routers() for route in router.bind(service.context).routes]
    rejected = set()
    for route in routes:
        if route.method in SAFE_METHODS:
            continue
        path = re.sub(r"<\w+:id>", "999999", re.sub(r"<\w+>", "nowhere", route.rule))
        is_page = any(isinstance(plugin, PageGuard) for plugin in route.app.plugins)
        is_form = is_page or not path.startswith(("/api", "/auth", "/edge"))
        if is_form:
            body, headers = f"filler={LARGER}".encode(), {"Content-Type": FORM}
        else:
            body = json.dumps({"filler": LARGER}).encode()
            headers = {"Content-Type": "application/json"}
        headers |= cookie if is_page else ADMIN
        if send_request(client, route.method, path, body, headers) == 413:
            rejected.add((route.method, route.rule))
    assert not rejected


@pytest.mark.parametrize(
    "options",
    [
        {"preHook": lambda root: root.post("/own", callback=lambda: "read") and None},
        {"preHook": lambda root: lambda inner: _make_hook(inner)},
    ],
    ids=["route", "wrapper"],
)
def test_body_for_a_hook_may_be_large(make_service: Any, options: dict[str, Any]):
    _, client = start_service(make_service, **options)
    assert send_request(client, "POST", "/own", LARGEST, {}) == 200


def _make_hook(inner: Any) -> Any:
    def answer(environ: Any, start_response: Any) -> Any:
        if environ["PATH_INFO"] != "/own":
            return inner(environ, start_response)
        assert len(environ["wsgi.input"].read()) == len(LARGEST)
        start_response("200 OK", [("Content-Length", "0")])
        return [b""]

    return answer


def test_body_without_credentials_is_read_if_none_are_needed(make_service: Any):
    """A custom handler may use other credentials."""
    custom = Custom(identify=lambda environ: {"username": "eve"})
    authentication = {"type": "custom", "customAuthHandler": lambda *_: custom}
    _, client = start_service(make_service, authentication=authentication)
    body = json.dumps({"name": "s", "constraints": [], "description": LARGER}).encode()
    status = send_request(
        client, "POST", "/api/admin/segments", body, {"Content-Type": "application/json"}
    )
    assert status not in (401, 413)
