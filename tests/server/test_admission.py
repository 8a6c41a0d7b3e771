"""Which bodies are read, by the routes' own lines: over a socket, because the listener decides."""

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

LARGER = "x" * 20_000  # than what is read of everybody
FORM = "application/x-www-form-urlencoded"
LARGEST = b" " * 5_000_000


def started(make_service: Any, **options: Any) -> tuple[Any, Client]:
    limits = {"failedAuthMaxPerMinute": 10**6, "simpleLoginMaxPerMinute": 10**6}
    server = {"gracefulShutdownEnable": False, "host": "127.0.0.1"}
    service = make_service({"server": server, "rateLimiting": limits, **options})
    service.start()
    return service, Client.at(service.port)


def ask(client: Client, method: str, path: str, body: bytes, headers: dict[str, str]) -> int:
    conn = http.client.HTTPConnection("127.0.0.1", client.port, timeout=DEADLINE_SECONDS)
    try:
        conn.request(method, path, body, headers)
        return conn.getresponse().status
    finally:
        conn.close()


def test_every_route_that_reads_a_body_says_so(make_service: Any):
    """Without a word on its line a route gets no more than SMALL_BODY_BYTES, and would answer
    413."""
    service, client = started(make_service)
    web = webtest.TestApp(service.app)
    web.post_json("/auth/simple/login", {"username": "ada", "password": Cast.PASSWORD})
    cookie = {"Cookie": f"service-session={web.cookies['service-session']}"}
    routes = [route for router in find_routers() for route in router.bind(service.context).routes]
    refused = set()
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
        if ask(client, route.method, path, body, headers) == 413:
            refused.add((route.method, route.rule))
    assert not refused


@pytest.mark.parametrize(
    "options",
    [
        {"preHook": lambda root: root.post("/own", callback=lambda: "read") and None},
        {"preHook": lambda root: lambda inner: _answering(inner)},
    ],
    ids=["route", "wrapper"],
)
def test_what_a_hook_answers_may_be_large(make_service: Any, options: dict[str, Any]):
    _, client = started(make_service, **options)
    assert ask(client, "POST", "/own", LARGEST, {}) == 200


def _answering(inner: Any) -> Any:
    def answer(environ: Any, start_response: Any) -> Any:
        if environ["PATH_INFO"] != "/own":
            return inner(environ, start_response)
        assert len(environ["wsgi.input"].read()) == len(LARGEST)
        start_response("200 OK", [("Content-Length", "0")])
        return [b""]

    return answer


def test_caller_without_credentials_is_read_where_it_needs_none(make_service: Any):
    """What a custom handler goes by is its own affair."""
    custom = Custom(identify=lambda environ: {"username": "eve"})
    authentication = {"type": "custom", "customAuthHandler": lambda *_: custom}
    _, client = started(make_service, authentication=authentication)
    body = json.dumps({"name": "s", "constraints": [], "description": LARGER}).encode()
    status = ask(client, "POST", "/api/admin/segments", body, {"Content-Type": "application/json"})
    assert status not in (401, 413)
