"""Connections stay open after answers without a body, which is most of what SDKs get."""

from __future__ import annotations

import json
import socket

import pytest

from tests.conftest import ADMIN_TOKEN
from tests.flags.test_revision_cache import CLIENT, TOKENS
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


def request(asked, version="1.1", *headers, known="*"):
    method, path, secret, body = asked
    lines = [f"{method} {path} HTTP/{version}", "Host: x", f"Authorization: {secret}", *headers]
    if known:
        lines.append(f"If-None-Match: {known}")
    if body:
        lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
    return "\r\n".join([*lines, "", ""]).encode() + body


def receive(file):
    """One answer: (status, headers, body)."""
    status = int(file.readline().split()[1])
    headers = {}
    while line := file.readline().strip():
        name, _, text = line.decode().partition(": ")
        headers[name.lower()] = text
    assert "transfer-encoding" not in headers
    return status, headers, file.read(int(headers.get("content-length", 0)))


def exchange(sock, data):
    sock.sendall(data)
    with sock.makefile("rb") as file:
        return receive(file)


def is_closed(sock):
    """Whether the server has nothing more to say and says so."""
    return sock.recv(1) == b""


@pytest.mark.parametrize(("asked", "status"), BODILESS)
def test_the_next_request_goes_over_the_same_connection(sock, asked, status):
    for _ in range(3):
        got, headers, _ = exchange(sock, request(asked))
        assert got == status
        assert "content-length" not in headers
        assert headers.get("connection", "").lower() != "close"
    got, headers, body = exchange(sock, request(POLL, known=""))
    assert (got, json.loads(body)["version"]) == (200, 2)
    got, headers, _ = exchange(sock, request(POLL, known=headers["etag"]))
    assert got == 304
    assert headers["etag"]


@pytest.mark.parametrize(("asked", "status"), BODILESS)
def test_requests_sent_at_once_are_answered_in_order(sock, asked, status):
    sock.sendall(request(asked) * 2 + request(POLL, known="") + request(asked))
    with sock.makefile("rb") as file:
        answers = [receive(file) for _ in range(4)]
    assert [answer[0] for answer in answers] == [status, status, 200, status]
    assert exchange(sock, request(asked))[0] == status


@pytest.mark.parametrize(("asked", "status"), BODILESS)
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
def test_who_wants_it_closed_gets_it_closed(sock, asked, status, how):
    assert exchange(sock, request(asked, *how))[0] == status
    assert is_closed(sock)


def test_an_answer_with_a_body_closes_as_before(sock):
    assert exchange(sock, request(POLL, known=""))[0] == 200
    assert exchange(sock, request(POLL, "1.1", "Connection: close", known=""))[0] == 200
    assert is_closed(sock)


def test_a_head_has_the_length_and_no_body(sock):
    sock.sendall(request(("HEAD", *POLL[1:]), known=""))
    with sock.makefile("rb") as file:
        headers = list(iter(file.readline, b"\r\n"))
    assert headers[0].startswith(b"HTTP/1.1 200")
    assert exchange(sock, request(POLL))[0] == 304
