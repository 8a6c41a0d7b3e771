"""Malformed requests to the socket of a real process: rejected cleanly, never parsed twice."""

from __future__ import annotations

import json
import re
import socket
import struct
import urllib.parse
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.server.malformed_requests import MalformedRequest, build_request, list_malformed_requests
from tests.server.process import (
    ADMIN_SECRET,
    OPEN_LIMITS,
    Process,
    make_database_environ,
    run_service,
    until,
)
from tests.table_tests import each

CASES = list_malformed_requests()
ADMIN = {"SERVICE_DEFAULT_ADMIN_USERNAME": "ada", "SERVICE_DEFAULT_ADMIN_PASSWORD": "Correct-H-7"}
REFUSAL = {"id", "name", "message", "details"}


@dataclass
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes


@dataclass
class Outcome:
    """The responses to one request; `problem` says why they can't be parsed."""

    raw: bytes
    answers: list[Answer] = field(default_factory=list)
    problem: str = ""


@dataclass
class AttackedService:
    process: Process
    pid: int
    outcomes: dict[str, Outcome]
    sender: str


@pytest.fixture(scope="module")
def attacked(temporary_database: Any) -> Iterator[AttackedService]:
    """Sends all requests to one process, some at a time; each test checks one outcome."""
    environ = make_database_environ(temporary_database.create_database("wire"))
    with run_service(environ | OPEN_LIMITS | ADMIN) as process:
        pid = process.pid
        endpoint, sender = process.create_sender()
        session, csrf = _sign_in(process)
        marks = {"@SENDER@": sender, "@ID@": str(endpoint), "@SESSION@": session, "@CSRF@": csrf}

        def attack(malformed: MalformedRequest) -> tuple[str, Outcome]:
            data = malformed.data
            for mark, text in marks.items():
                data = data.replace(mark.encode(), text.encode())

            def outcome() -> Outcome | None:
                """None where many slow requests at the same time were too many."""
                read = _parse(_send(process, data), data.startswith(b"HEAD"))
                return None if [a.status for a in read.answers] == [503] else read

            return malformed.name, until(outcome, f"an answer to {malformed.name}")

        with ThreadPoolExecutor(12) as pool:
            outcomes = dict(pool.map(attack, CASES))
        yield AttackedService(process, pid, outcomes, sender)


def _sign_in(process: Process) -> tuple[str, str]:
    page = _send(process, build_request("GET", "/sign-in", "Connection: close")).decode()
    cookie = re.search(r"Set-Cookie: (service-session-form=[^;]+)", page)
    token = re.search(r'name="csrf" value="([^"]+)"', page)
    assert cookie, page
    assert token, page
    names = {"username": "ada", "password": "Correct-H-7", "csrf": token[1]}
    form = urllib.parse.urlencode(names).encode()
    kind = "Content-Type: application/x-www-form-urlencoded"
    length = f"Content-Length: {len(form)}"
    data = build_request("POST", "/sign-in", f"Cookie: {cookie[1]}", kind, length, body=form)
    session = re.search(r"Set-Cookie: service-session=([^;]+)", _send(process, data).decode())
    assert session
    get = build_request("GET", "/api/admin/user", f"Cookie: service-session={session[1]}")
    return session[1], json.loads(_parse(_send(process, get)).answers[0].body)["csrfToken"]


def _send(process: Process, data: bytes) -> bytes:
    """Sends all, closes the sending half and reads to the end."""
    received = b""
    with process.connect() as sock:
        try:
            sock.sendall(data)
            sock.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # refused before it was read; the answer may still be there
        try:
            while part := sock.recv(65536):
                received += part
        except ConnectionResetError:
            pass
    return received


def _parse(raw: bytes, is_head: bool = False) -> Outcome:
    outcome, rest = Outcome(raw), raw
    while rest:
        head, separator, rest = rest.partition(b"\r\n\r\n")
        match = re.match(rb"HTTP/1\.[01] ([1-5][0-9][0-9]) [^\r\n]+\r\n", head + b"\r\n")
        if not separator or not match:
            outcome.problem = f"no answer: {head[:200]!r}"
            break
        pairs = [line.partition(b": ")[::2] for line in head.split(b"\r\n")[1:]]
        headers = {name.decode().lower(): value.decode("latin-1") for name, value in pairs}
        status = int(match[1])
        if status == 100:
            continue
        length = int(headers.get("content-length", -1))
        if length < 0:
            outcome.problem = f"no length: {head[:200]!r}"
            break
        body, rest = (b"", rest) if is_head else (rest[:length], rest[length:])
        if len(body) != (0 if is_head else length):
            outcome.problem = f"{len(body)} of {length} bytes"
        outcome.answers.append(Answer(status, headers, body))
    return outcome


def _is_rejection(answer: Answer) -> bool:
    """Whether it is the JSON of an error, with a message and at least one detail."""
    try:
        body = json.loads(answer.body)
    except ValueError:
        return False
    return (
        answer.headers.get("content-type") == "application/json; charset=utf-8"
        and set(body) >= REFUSAL
        and all(isinstance(body[name], str) and body[name] for name in ("id", "name", "message"))
        and all(isinstance(item["message"], str) for item in body["details"])
        and bool(body["details"])
    )


def test_cases_have_unique_names():
    names = [malformed.name for malformed in CASES]
    assert len(set(names)) == len(names) > 700


@each("malformed", CASES, name=lambda malformed: malformed.name)
def test_malformed_request_gets_one_clean_response(
    attacked: AttackedService, malformed: MalformedRequest
):
    outcome = attacked.outcomes[malformed.name]
    answers = outcome.answers
    assert not outcome.problem
    assert answers or malformed.silent, "no answer"
    statuses = [answer.status for answer in answers]
    assert len(answers) <= malformed.maximum, f"{len(answers)} answers: {statuses}"
    assert all(status < 500 or status == 501 for status in statuses), statuses
    assert not malformed.status or malformed.status.issuperset(statuses), statuses
    for answer in answers:
        assert b"Traceback" not in answer.body
        assert b"evil.example" not in answer.body, "a made-up host is repeated"
        assert "evil.example" not in str(answer.headers)
        assert not [name for name in answer.headers if name.startswith("x-evil")]
        if answer.status >= 400 and not malformed.data.startswith(b"HEAD"):
            is_page = answer.headers["content-type"].startswith("text/html")
            assert (malformed.page and is_page) or _is_rejection(answer), answer


def test_process_is_the_same_and_logged_no_traceback(attacked: AttackedService):
    assert attacked.process.is_running()
    assert attacked.process.pid == attacked.pid
    errors = attacked.process.stderr
    assert "Traceback" not in errors
    assert "uncaptured" not in errors


def test_valid_requests_succeed_afterwards(attacked: AttackedService):
    process = attacked.process
    assert process.request("GET", "/health") == (200, {"health": "GOOD"})
    status, answer = process.request(
        "POST", "/api/signal-endpoint/deploys", {"good": True}, secret=attacked.sender
    )
    assert status == 200
    assert answer["signals"][0]["payload"] == {"good": True}
    assert process.request("GET", "/sign-in")[0] == 200


def test_kept_connection_serves_one_request_after_the_other(attacked: AttackedService):
    with attacked.process.connect() as sock:
        for _ in range(20):
            sock.sendall(build_request("GET", "/health"))
            received = b""
            while b'{"health":"GOOD"}' not in received:
                part = sock.recv(65536)
                assert part
                received += part


def test_request_that_comes_byte_by_byte_is_answered(attacked: AttackedService):
    data = build_request(
        "POST", "/nowhere", "Transfer-Encoding: chunked", body=b"2\r\n{}\r\n0\r\n\r\n"
    )
    with attacked.process.connect() as sock:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for number in range(len(data)):
            sock.sendall(data[number : number + 1])
        sock.shutdown(socket.SHUT_WR)
        received = b""
        while part := sock.recv(65536):
            received += part
    assert [answer.status for answer in _parse(received).answers] == [404]


def test_continue_is_sent_before_the_body_and_counts_as_no_answer(attacked: AttackedService):
    sender = f"Authorization: Bearer {attacked.sender}"
    head = build_request(
        "POST",
        "/api/signal-endpoint/deploys",
        sender,
        "Expect: 100-continue",
        "Content-Length: 2",
        "Connection: close",
    )
    with attacked.process.connect() as sock:
        sock.sendall(head)
        assert sock.recv(100).startswith(b"HTTP/1.1 100 ")
        sock.sendall(b"{}")
        received = b""
        while part := sock.recv(65536):
            received += part
    assert [answer.status for answer in _parse(received).answers] == [200]


REFUSED_BODY = ("POST", "/api/admin/signal-endpoints", "Content-Length: 90000000")
TWO_HOSTS = ("GET", "/health", "Host: other")


@pytest.mark.parametrize("rejected", [REFUSED_BODY, TWO_HOSTS], ids=["body", "two hosts"])
def test_bytes_after_a_rejected_request_do_not_run(
    attacked: AttackedService, rejected: tuple[str, ...]
):
    body = b'{"name": "smuggled"}'
    hidden = build_request(
        "POST",
        "/api/admin/signal-endpoints",
        f"Authorization: {ADMIN_SECRET}",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
    )
    with attacked.process.connect() as sock:
        sock.sendall(build_request(*rejected) + hidden + body)
        while sock.recv(65536):
            pass
        for _ in range(3):  # the loop comes to the other bytes before the second is answered
            _, answer = attacked.process.request("GET", "/api/admin/signal-endpoints")
    assert [it["name"] for it in answer["signalEndpoints"]] == ["deploys"]


def test_client_that_leaves_before_the_continue_is_no_error(attacked: AttackedService):
    head = build_request("POST", "/api/admin/x", "Expect: 100-continue", "Content-Length: 9")
    for _ in range(50):
        with attacked.process.connect() as sock:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            sock.sendall(head)
    assert attacked.process.request("GET", "/health")[0] == 200
    assert "exception" not in attacked.process.stderr
