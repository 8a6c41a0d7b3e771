"""Connections stay open after responses without a body, the most frequent ones for SDKs."""

from __future__ import annotations

import json
import socket

import pytest

from tests.application.test_app import Log
from tests.conftest import ADMIN_TOKEN
from tests.delivery.test_revision_cache import CLIENT, TOKENS
from tests.server.process import Client
from tests.waiting import DEADLINE_SECONDS

POLL = ("GET", "/api/client/features", CLIENT, b"")
CONSTRAINT = {"contextName": "x", "operator": "IN", "values": ["a"]}
VALIDATE = (
    "POST",
    "/api/admin/constraints/validate",
    ADMIN_TOKEN,
    json.dumps(CONSTRAINT).encode(),
)
BODILESS = [pytest.param(POLL, 304, id="304"), pytest.param(VALIDATE, 204, id="204")]


@pytest.fixture
def sock(make_service):
    service = make_service(TOKENS | {"server": {"gracefulShutdownEnable": False}})
    service.start()
    with socket.create_connection(("127.0.0.1", service.port), timeout=DEADLINE_SECONDS) as sock:
        yield sock


def build_request(route, version="1.1", *headers, etag="*"):
    method, path, secret, body = route
    lines = [f"{method} {path} HTTP/{version}", "Host: x", f"Authorization: {secret}", *headers]
    if etag:
        lines.append(f"If-None-Match: {etag}")
    if body:
        lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
    return "\r\n".join([*lines, "", ""]).encode() + body


def read_response(file):
    """One response: (status, headers, body)."""
    status = int(file.readline().split()[1])
    headers = {}
    while line := file.readline().strip():
        name, _, text = line.decode().partition(": ")
        headers[name.lower()] = text
    assert "transfer-encoding" not in headers
    return status, headers, file.read(int(headers.get("content-length", 0)))


def send_request(sock, data):
    sock.sendall(data)
    with sock.makefile("rb") as file:
        return read_response(file)


def is_closed(sock):
    """Whether the server has closed the connection."""
    return sock.recv(1) == b""


@pytest.mark.parametrize(("route", "status"), BODILESS)
def test_connection_serves_the_next_request(sock, route, status):
    for _ in range(3):
        code, headers, _ = send_request(sock, build_request(route))
        assert code == status
        assert "content-length" not in headers
        assert headers.get("connection", "").lower() != "close"
    code, headers, body = send_request(sock, build_request(POLL, etag=""))
    assert (code, json.loads(body)["version"]) == (200, 2)
    code, headers, _ = send_request(sock, build_request(POLL, etag=headers["etag"]))
    assert code == 304
    assert headers["etag"]


@pytest.mark.parametrize(("route", "status"), BODILESS)
def test_requests_sent_at_once_are_answered_in_order(sock, route, status):
    sock.sendall(build_request(route) * 2 + build_request(POLL, etag="") + build_request(route))
    with sock.makefile("rb") as file:
        answers = [read_response(file) for _ in range(4)]
    assert [answer[0] for answer in answers] == [status, status, 200, status]
    assert send_request(sock, build_request(route))[0] == status


@pytest.mark.parametrize(("route", "status"), BODILESS)
@pytest.mark.parametrize(
    "how",
    [
        ("1.0",),
        ("1.0", "Connection: keep-alive"),
        ("1.1", "Connection: close"),
        ("1.1", "connection: Close"),
        ("1.1", "Connection: x, close"),
        ("1.1", "Connection: close , keep-alive"),
    ],
)
def test_connection_is_closed_on_request(sock, route, status, how):
    assert send_request(sock, build_request(route, *how))[0] == status
    assert is_closed(sock)


def test_response_with_a_body_keeps_the_rules_of_http(sock):
    assert send_request(sock, build_request(POLL, etag=""))[0] == 200
    assert send_request(sock, build_request(POLL, "1.1", "Connection: close", etag=""))[0] == 200
    assert is_closed(sock)


def test_a_head_has_the_length_and_no_body(sock):
    sock.sendall(build_request(("HEAD", *POLL[1:]), etag=""))
    with sock.makefile("rb") as file:
        headers = list(iter(file.readline, b"\r\n"))
    assert headers[0].startswith(b"HTTP/1.1 200")
    assert send_request(sock, build_request(POLL))[0] == 304


def test_handler_that_exits_is_answered(serve):
    def hook(app):
        @app.get("/exit")
        def exit_handler():
            raise SystemExit(1)

    client = serve(preRouterHook=hook)
    assert client.request("GET", "/exit")[0] == 500


def test_failure_to_open_a_file_around_the_application_is_answered_and_logged(make_service):
    log = Log()

    def hook(app):
        def wrap(inner):
            def outer(environ, start_response):
                raise FileNotFoundError(environ["PATH_INFO"])

            return outer

        return wrap

    server = {"gracefulShutdownEnable": False}
    service = make_service({"server": server, "preHook": hook, "getLogger": log})
    service.start()
    assert Client.at(service.port).request("GET", "/missing")[0] == 500
    assert any("FileNotFoundError" in text for _, level, text in log.lines if level == "error")
