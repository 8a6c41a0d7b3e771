"""Which bodies are read, as the routes declare; over a socket, because the listener decides."""

from __future__ import annotations

import base64
import hmac
import http.client
import json
import re
from typing import Any

import pytest
import webtest
from waitress.buffers import TempfileBasedBuffer

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
    routes = [route for router in find_routers() for route in router.bind(service.context)]
    rejected = set()
    for route in routes:
        if route.method in SAFE_METHODS:
            continue
        path = re.sub(r"<\w+:id>", "999999", re.sub(r"<\w+>", "nowhere", route.rule))
        is_page = isinstance(route.guard, PageGuard)
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


@pytest.fixture
def sender(make_service: Any):
    """(client, a bearer token, the secret of a signature token)."""
    service, client = start_service(make_service)
    body = {"name": "deploys", "options": {"allowQueryToken": True}}
    web = webtest.TestApp(service.app)
    path = f"/api/admin/signal-endpoints/{web.post_json(ENDPOINTS, body, headers=ADMIN).json['id']}"
    generic = {"scheme": "generic", "header": "X-Check"}
    return (
        client,
        web.post_json(f"{path}/tokens", {"name": "a"}, headers=ADMIN).json["token"],
        web.post_json(f"{path}/tokens", {"name": "b", "signature": generic}, headers=ADMIN).json[
            "token"
        ],
    )


ENDPOINTS = "/api/admin/signal-endpoints"
SIGNAL = json.dumps(LARGER).encode()


def send_signal(client: Client, query: str = "", **headers: str) -> int:
    headers = {"Content-Type": "application/json"} | {
        name.replace("_", "-"): text for name, text in headers.items()
    }
    return send_request(client, "POST", f"/api/signal-endpoint/deploys{query}", SIGNAL, headers)


def test_a_large_signal_is_read_with_any_kind_of_credential(sender: Any):
    client, token, secret = sender
    basic = base64.b64encode(f":{token}".encode()).decode()
    signature = hmac.new(secret.encode(), SIGNAL, "sha256").hexdigest()
    assert send_signal(client, Authorization=f"Bearer {token}") == 200
    answers = [
        send_signal(client, Authorization=f"Basic {basic}"),
        send_signal(client, X_Gitlab_Token=token),
        send_signal(client, f"?token={token}"),
    ]
    assert set(answers) <= {200, 429}  # the limit of the token comes after the body is accepted
    assert send_signal(client, X_Check=signature) == 200


def test_a_large_signal_without_credentials_is_not_read(sender: Any):
    client, _, _ = sender
    assert send_signal(client) == 401
    assert send_signal(client, "?token=%ff") in (400, 413)


def open_full_file(_: Any) -> Any:
    return open("/dev/full", "w+b")


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # of the device
@pytest.mark.parametrize("is_chunked", [False, True], ids=["length", "chunks"])
def test_body_is_refused_while_the_disk_of_temporary_files_is_full(
    make_service: Any, monkeypatch: pytest.MonkeyPatch, is_chunked: bool
):
    _, client = start_service(make_service)
    path = "/api/admin/features-batch/import"
    data = json.dumps({"project": "default", "environment": "default", "data": {"features": []}})
    body: Any = data.encode() + b" " * 2_000_000
    headers = {"Content-Type": "application/json", **ADMIN}
    with monkeypatch.context() as patch:
        patch.setattr(TempfileBasedBuffer, "newfile", open_full_file)
        chunks = iter([body]) if is_chunked else body
        assert send_request(client, "POST", path, chunks, headers) == 503
    assert send_request(client, "POST", path, body, headers) == 200
