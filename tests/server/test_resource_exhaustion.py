"""Unauthenticated callers that try to exhaust memory, the event loop or connections."""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sigservice.http_server import listener
from tests.http_server.kit import build_listener
from tests.server.malformed_requests import build_request
from tests.server.process import (
    ADMIN_SECRET,
    OPEN_LIMITS,
    Client,
    Process,
    make_database_environ,
    run_service,
    until,
)
from tests.waiting import DEADLINE_SECONDS

SIGNAL = "/api/signal-endpoint/deploys"
IMPORT = "/api/admin/features-batch/import"
LARGE = "Content-Length: 500000"
JSON = "Content-Type: application/json"
TOKEN = "Authorization: Bearer made-up"


@pytest.fixture(scope="module")
def process(temporary_database: Any) -> Iterator[Process]:
    environ = make_database_environ(temporary_database.create_database("starving"))
    with run_service(OPEN_LIMITS | environ) as started:
        yield started


@pytest.fixture(scope="module")
def sender(process: Process) -> str:
    return process.create_sender()[1]


def read_answer(sock: socket.socket) -> tuple[int, dict[str, Any], bytes]:
    """(status, JSON body or {} for a page, all bytes), up to the end of the stream."""
    received = b""
    while part := sock.recv(65_536):
        received += part
    body = received.partition(b"\r\n\r\n")[2]
    with contextlib.suppress(ValueError):
        return int(received[9:12]), json.loads(body), received
    return int(received[9:12]), {}, received


def read_memory_mb(process: Process) -> float:
    status = Path(f"/proc/{process.pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024


@pytest.mark.parametrize(
    ("method", "path", "lines", "status"),
    [
        ("POST", "/nowhere", (), 404),
        ("POST", "/api/admin/nowhere", (TOKEN,), 404),
        ("POST", "/health", (TOKEN,), 405),
        ("GET", "/health", (), 200),
        ("POST", "/sign-in", (), 413),
        ("POST", "/auth/simple/login", (), 413),
        ("POST", SIGNAL, (), 401),
        ("POST", SIGNAL, (TOKEN,), 401),
        ("POST", IMPORT, (), 401),
        ("POST", "/api/admin/user-admin", (TOKEN,), 401),
        ("POST", "/api/client/metrics", (), 401),
        ("POST", "/admin/signals/new", (), 303),
    ],
)
@pytest.mark.parametrize("expects", [(), ("Expect: 100-continue",)], ids=["", "continue"])
def test_large_body_is_rejected_before_it_is_read(
    process: Process, method: str, path: str, lines: tuple[str, ...], status: int, expects: Any
):
    with process.connect() as sock:
        sock.sendall(build_request(method, path, JSON, LARGE, *lines, *expects))
        assert read_answer(sock)[0] == status


@pytest.mark.parametrize("framing", [LARGE, "Transfer-Encoding: chunked"])
def test_error_of_a_large_signal_is_that_of_a_small_one(
    process: Process, sender: str, framing: str
):
    token = f"Authorization: Bearer {sender}"
    body = b"FFFF\r\n" + b" " * 65535 + b"\r\n"
    with process.connect() as sock:
        sock.sendall(build_request("POST", SIGNAL, token, JSON, framing, body=body * 2))
        status, answer, raw = read_answer(sock)
    assert (status, answer["name"]) == (413, "ContentTooLargeError")
    assert answer["message"] == "The body is larger than 102400 bytes."
    assert b"ratelimit-limit" in raw.lower()
    assert b"Connection: close" in raw


def test_client_that_sends_all_before_it_reads_gets_the_error(process: Process, sender: str):
    for size in (110_000, 400_000, 900_000):
        conn = http.client.HTTPConnection("127.0.0.1", process.port, timeout=DEADLINE_SECONDS)
        with contextlib.closing(conn):
            conn.request("POST", SIGNAL, b" " * size, {"Authorization": f"Bearer {sender}"})
            answer = conn.getresponse()
            assert answer.status == 413
            assert json.loads(answer.read())["name"] == "ContentTooLargeError"


def test_client_that_imports_too_much_gets_the_error(process: Process):
    conn = http.client.HTTPConnection("127.0.0.1", process.port, timeout=DEADLINE_SECONDS)
    with contextlib.closing(conn):
        headers = {"Authorization": f"Bearer {ADMIN_SECRET}", "Content-Type": "application/json"}
        conn.request("POST", IMPORT, b" " * 20_000_000, headers)
        answer = conn.getresponse()
        assert answer.status == 413
        assert json.loads(answer.read())["message"] == "The body is larger than 5242880 bytes."


def test_signal_of_the_largest_size_is_stored(process: Process, sender: str):
    body = b'"' + b"x" * 102_398 + b'"'
    assert process.request("POST", SIGNAL, body, secret=sender)[0] == 200


def test_import_larger_than_any_other_body_is_read(process: Process):
    data = {"features": [], "filler": "x" * 4_000_000}
    body = {"project": "default", "environment": "nowhere", "data": data}
    status, answer = process.request("POST", IMPORT, body)
    assert status in (400, 404), answer


def test_half_sent_bodies_of_unknown_callers_take_little_memory(process: Process):
    before = read_memory_mb(process)
    with contextlib.ExitStack() as stack:
        socks = [stack.enter_context(process.connect()) for _ in range(300)]
        for number, sock in enumerate(socks):
            path = (SIGNAL, IMPORT, "/auth/simple/login", "/nowhere")[number % 4]
            with contextlib.suppress(OSError):
                sock.sendall(build_request("POST", path, TOKEN, JSON, LARGE, body=b" " * 250_000))
        rejected: set[int] = set()

        def is_share_used_up() -> bool:
            for number, sock in enumerate(socks[1::4]):
                sock.setblocking(False)
                with contextlib.suppress(OSError):
                    if sock.recv(65_536)[9:12] == b"503":
                        rejected.add(number)
            return len(rejected) > 20  # of 75, which have sent 18 MB; an address has 8

        until(is_share_used_up, "the refusal of those that are too many")
        assert process.request("GET", "/health")[0] == 200
        assert read_memory_mb(process) - before < 40
    secret = "unknown-until-now"
    body = b" " * 100_000

    def is_read_again() -> bool:
        return process.request("POST", "/api/admin/user-admin", body, secret=secret)[0] == 401

    until(is_read_again, "the share of the address to be free again")


def test_tiny_chunks_are_rejected(process: Process, sender: str):
    token = f"Authorization: Bearer {sender}"
    tiny = b"1\r\n \r\n" * 3000
    with process.connect() as sock:
        sock.sendall(build_request("POST", SIGNAL, token, "Transfer-Encoding: chunked", body=tiny))
        status, answer, _ = read_answer(sock)
    assert (status, answer["name"]) == (400, "BadDataError")


def test_pipelined_requests_are_answered_in_order(process: Process):
    paths = ["/health", "/nowhere", "/ready"] * 40
    data = b"".join(build_request("GET", path) for path in paths[:-1])
    with process.connect() as sock:
        sock.sendall(data + build_request("GET", paths[-1], "Connection: close"))
        answer = read_answer(sock)[2]
    statuses = [part[:3] for part in answer.split(b"HTTP/1.1 ")[1:]]
    assert statuses == [b"200", b"404", b"200"] * 40


Serve = Callable[..., Client]


def test_connections_of_an_address_are_limited(serve: Serve):
    client = serve(connectionsPerAddress=3)
    with contextlib.ExitStack() as stack:
        socks = [stack.enter_context(client.connect()) for _ in range(3)]
        with client.connect() as rejected:
            status, answer, raw = read_answer(rejected)
        assert (status, answer["name"]) == (503, "UnavailableError")
        assert b"Retry-After: 5" in raw
        elsewhere = stack.enter_context(
            socket.create_connection(("127.0.0.1", client.port), 10, ("127.0.0.2", 0))
        )
        elsewhere.sendall(build_request("GET", "/health", "Connection: close"))
        assert read_answer(elsewhere)[0] == 200
        socks[0].close()

        def is_served() -> bool:
            with client.connect() as sock:
                sock.sendall(build_request("GET", "/health", "Connection: close"))
                return read_answer(sock)[0] == 200

        until(is_served, "a connection in the place of the closed one")


@pytest.mark.parametrize(
    "more", [{"connectionsPerAddress": 0}, {"trustedProxy": ["127.0.0.0/8"]}], ids=str
)
def test_connections_are_not_counted_without_a_limit_or_by_a_proxy(
    serve: Serve, more: dict[str, Any]
):
    client = serve(**{"connectionsPerAddress": 2} | more)
    with contextlib.ExitStack() as stack:
        for _ in range(10):
            stack.enter_context(client.connect())
        assert client.request("GET", "/health")[0] == 200


def test_listener_goes_on_after_an_error_with_one_connection(
    make_service: Any, monkeypatch: pytest.MonkeyPatch
):
    service = make_service({"server": {"gracefulShutdownEnable": False, "host": "127.0.0.1"}})
    service.start()
    client = Client.at(service.port)
    with monkeypatch.context() as patch:
        patch.setattr(listener, "Channel", lambda *_, **__: 1 / 0)  # such as a lack of memory
        with client.connect() as sock:
            assert sock.recv(1) == b""
    assert client.request("GET", "/health")[0] == 200


def test_waiting_connections_are_accepted_in_one_round(make_service: Any):
    config = make_service({"server": {"host": "127.0.0.1", "port": 0}}).config
    waiting = build_listener(lambda *_: [], config)
    with contextlib.closing(waiting), contextlib.ExitStack() as stack:
        for _ in range(50):
            stack.enter_context(Client.at(waiting.port).connect())
        waiting._loop.run_once(1)
        assert len(waiting._channels()) == 50


def test_admin_token_is_remembered_after_its_first_request(process: Process):
    """Its large bodies use the larger share, which exceeds that of an unknown address."""
    assert process.request("GET", "/api/admin/projects")[0] == 200
    token = f"Authorization: Bearer {ADMIN_SECRET}"
    with contextlib.ExitStack() as stack:
        socks = [stack.enter_context(process.connect()) for _ in range(10)]
        for sock in socks:
            data = build_request("POST", IMPORT, token, JSON, "Content-Length: 2000000")
            sock.sendall(data + b" " * 1_900_000)
        for sock in socks:
            sock.sendall(b" " * 100_000)
        for sock in socks:
            assert sock.recv(100)[9:12] == b"400"


def test_token_that_fills_its_share_of_bodies_leaves_the_rest_to_others(
    process: Process, sender: str
):
    body = b'"' + b"x" * 100_000 + b'"'
    assert process.request("GET", "/api/admin/projects")[0] == 200
    assert process.request("POST", SIGNAL, b"1", secret=sender)[0] == 200
    token = f"Authorization: Bearer {ADMIN_SECRET}"
    with contextlib.ExitStack() as stack:
        for _ in range(6):
            sock = stack.enter_context(process.connect())
            sock.sendall(build_request("POST", IMPORT, token, JSON, "Content-Length: 5000000"))
            sock.sendall(b" " * 4_990_000)

        def is_full() -> bool:
            sock = stack.enter_context(process.connect())
            sock.sendall(build_request("POST", IMPORT, token, JSON, "Content-Length: 5000000"))
            with contextlib.suppress(OSError):
                sock.sendall(b" " * 4_990_000)
                sock.settimeout(1)
                return sock.recv(100)[9:12] == b"503"
            return False

        until(is_full, "the refusal of another body")
        assert process.request("POST", SIGNAL, body, secret=sender)[0] == 200
