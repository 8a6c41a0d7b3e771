"""Small requests with a high cost, and forged senders, against a real process."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
import threading
import time
import urllib.parse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.server.malformed_requests import build_request
from tests.server.process import OPEN_LIMITS, Process, make_database_environ, run_service, until
from tests.waiting import take_time

SIGNAL = "/api/signal-endpoint/deploys"
TICKS = os.sysconf("SC_CLK_TCK")
FEW_FILES = """
import resource, runpy
resource.setrlimit(resource.RLIMIT_NOFILE, (120, 120))
runpy.run_path("run.py", run_name="__main__")
"""


@pytest.fixture(scope="module")
def environ(temporary_database: Any) -> dict[str, str]:
    return OPEN_LIMITS | make_database_environ(temporary_database.create_database("hostile"))


@pytest.fixture(scope="module")
def process(environ: dict[str, str]) -> Iterator[Process]:
    with run_service(environ) as started:
        yield started


@pytest.fixture(scope="module")
def sender(process: Process) -> str:
    return process.create_sender()[1]


def read_cpu_seconds(process: Process) -> float:
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def measure_cpu_share(process: Process, seconds: float = 0.5) -> float:
    """The share of a CPU that the process uses."""
    before, started_at = read_cpu_seconds(process), time.monotonic()
    take_time(seconds)
    return (read_cpu_seconds(process) - before) / (time.monotonic() - started_at)


@pytest.mark.parametrize(
    "body",
    [
        b"[" * 65 + b'"' + b'\\"' * 12_000,
        b"[" * 65 + b'"a' * 30_000,
        b"[" * 65 + b'"' + b"\\" * 50_001,
        b"[" * 100_000,
        b'{"' * 30_000,
        b"[" + b"1e5," * 20_000,
        b"-" * 100_000,
        b'"' + b"\\ud83d" * 16_000,
        b"[" + b"9" * 100_000,
    ],
    ids=lambda body: repr(body[:4] + body[-4:]).replace("[", "("),
)
def test_body_of_an_unauthenticated_caller_costs_little(process: Process, body: bytes):
    started_at = read_cpu_seconds(process)
    status, _ = process.request("POST", SIGNAL, body, secret="nobody")
    assert status in (400, 401)
    assert read_cpu_seconds(process) - started_at < 1


@pytest.mark.parametrize(
    ("number", "count"),
    [(b"1e-16383", 400), (b"1e-5000", 1000), (b"1e308", 16_000), (b"1.5E-000300", 8000)],
    ids=lambda item: item.decode() if isinstance(item, bytes) else str(item),
)
def test_small_signal_stays_small_when_it_is_read(
    process: Process, sender: str, number: bytes, count: int
):
    """jsonb writes numbers out: 1e-16383 is 16 385 characters, so 100 kB would be 180 MB."""
    body = b"[" + b",".join([number] * count) + b"]"
    head = (f"Authorization: {sender}", f"Content-Length: {len(body)}")
    answer = send_bytes(process, build_request("POST", SIGNAL, *head, body=body))
    assert answer[9:12] in ("200", "400")
    assert len(answer) < 2 * 102_400


def test_urgent_data_does_not_keep_the_processor_busy(process: Process):
    with process.connect() as sock:
        sock.send(b"!", socket.MSG_OOB)
        assert measure_cpu_share(process) < 0.3
        assert process.request("GET", "/health")[0] == 200


def test_connections_that_wait_cost_nothing(process: Process):
    with contextlib.ExitStack() as stack:
        for data in (b"", b"G", b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n") * 60:
            stack.enter_context(process.connect()).sendall(data)
        assert process.request("GET", "/health")[0] == 200  # after which all of it has been read
        assert measure_cpu_share(process) < 0.3


def test_file_limit_reached_does_not_keep_the_processor_busy(environ: dict[str, str]):
    more = {"SERVER_KEEPALIVE_TIMEOUT": "1"}
    with run_service(environ | more, FEW_FILES) as process, contextlib.ExitStack() as stack:
        for _ in range(160):
            stack.enter_context(process.connect())
        assert measure_cpu_share(process) < 0.5
        assert process.request("GET", "/health")[0] == 200  # when others were cut


def test_good_signals_are_answered_beside_a_hundred_dribblers(process: Process, sender: str):
    finished = threading.Event()
    head = b"POST " + SIGNAL.encode() + b" HTTP/1.1\r\nHost: x\r\nContent-Length: 90000\r\n\r\n"

    def dribble(socks: list[socket.socket]) -> None:
        while not finished.wait(0.2):
            for sock in socks:
                with contextlib.suppress(OSError):
                    sock.sendall(b" ")

    with contextlib.ExitStack() as stack:
        socks = [stack.enter_context(process.connect()) for _ in range(100)]
        for sock in socks:
            sock.sendall(head)
        thread = threading.Thread(target=dribble, args=(socks,))
        thread.start()
        slowest = 0.0
        for _ in range(50):
            started_at = time.monotonic()
            assert process.request("POST", SIGNAL, {}, secret=sender)[0] == 200
            slowest = max(slowest, time.monotonic() - started_at)
        finished.set()
        thread.join()
    assert slowest < 60  # the dribblers would take 1000 s


def test_stuck_database_connection_does_not_block_a_request_forever(
    process: Process, sender: str, environ: dict[str, str], temporary_database: Any
):
    """SIGSTOP simulates a machine or disk that stalls; no timeout of the server fires."""
    assert process.request("POST", SIGNAL, {}, secret=sender)[0] == 200
    conn = temporary_database.connect()
    with conn.cursor() as cursor:
        cursor.execute(
            "SELECT pid FROM pg_stat_activity WHERE datname = %s", (environ["DATABASE_NAME"],)
        )
        pids = [row[0] for row in cursor.fetchall()]
    conn.close()
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        status, _ = process.request("POST", SIGNAL, {}, secret=sender)
        assert status == 503
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)


def send_bytes(process: Process, data: bytes) -> str:
    with process.connect() as sock:
        sock.sendall(data)
        sock.shutdown(socket.SHUT_WR)
        received = b""
        while part := sock.recv(65536):
            received += part
    return received.decode("latin-1")


def sign_in(process: Process, next_path: str = "/", *headers: str, password: str = "") -> str:
    """The complete response to the sign-in form. On a busy machine the service may be occupied with
    the costly input of the test before: as it says with a 503, the form is sent again."""
    page = send_bytes(
        process, build_request("GET", f"/sign-in?next={urllib.parse.quote(next_path, '')}")
    )
    cookie = re.search(r"Set-Cookie: (service-session-form=[^;]+)", page)
    token = re.search(r'name="csrf" value="([^"]+)"', page)
    assert cookie, page
    assert token, page
    fields = {"username": "admin", "password": password or "unleash4all", "csrf": token[1]}
    form = urllib.parse.urlencode(fields | {"next": next_path}).encode()
    kind = "Content-Type: application/x-www-form-urlencoded"
    cookies = "; ".join([cookie[1], *(h[8:] for h in headers if h.startswith("Cookie: "))])
    others = [h for h in headers if not h.startswith("Cookie: ")]
    length = f"Content-Length: {len(form)}"
    lines = (f"Cookie: {cookies}", kind, length, *others)
    request = build_request("POST", "/sign-in", *lines, body=form)

    def send_form() -> str:
        answer = send_bytes(process, request)
        return "" if answer.startswith("HTTP/1.1 503 ") else answer

    return str(until(send_form, "an answer to the sign-in form", pause=1.0))


@pytest.mark.parametrize(
    "path",
    [
        "//evil.example",
        "/\\evil.example",
        "\\\\evil.example",
        "/\t/evil.example",
        "http://evil.example",
        "javascript:alert(1)",
        "/\r\nX-Evil: 1",
        " //evil.example",
        "evil.example",
        "///evil.example",
        "https:evil.example",
    ],
)
def test_sign_in_redirects_to_own_paths_only(process: Process, path: str):
    answer = sign_in(process, path)
    assert answer.startswith("HTTP/1.1 303 ")
    assert "\r\nLocation: /\r\n" in answer
    assert "X-Evil" not in answer


def test_session_that_the_browser_brings_is_not_taken_over(process: Process):
    answer = sign_in(process, "/", "Cookie: service-session=fixed-by-attacker")
    (session,) = re.findall(r"Set-Cookie: service-session=([^;]*);([^\r]*)", answer)
    assert session[0] != "fixed-by-attacker"
    assert len(session[0]) == 43
    assert "HttpOnly" in session[1]
    assert "samesite=lax" in session[1].lower()
    fixed = build_request("GET", "/api/admin/user", "Cookie: service-session=fixed-by-attacker")
    assert send_bytes(process, fixed).startswith("HTTP/1.1 401 ")


@pytest.mark.parametrize(
    "lie",
    [
        "Origin: http://evil.example",
        "Sec-Fetch-Site: cross-site",
        "Sec-Fetch-Site: same-site",
        "Origin: http://x.evil.example\r\nSec-Fetch-Site: cross-site",
    ],
)
def test_form_from_another_site_is_rejected(process: Process, lie: str):
    assert sign_in(process, "/", lie).startswith("HTTP/1.1 403 ")


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "x@evil.example:80"])
def test_forged_host_is_never_shown(process: Process, host: str):
    for path in ("/", "/sign-in", "/nowhere", "/api/nowhere", "/admin/signals"):
        line = f"Host: {host}"
        assert host not in send_bytes(process, build_request("GET", path, line, host=""))


def test_forwarded_addresses_do_not_evade_the_sign_in_limit(environ: dict[str, str]):
    limit = {"SIMPLE_LOGIN_LIMIT_PER_MINUTE": "3", "REQUEST_LOGGER_ENABLE": "true"}
    with run_service(environ | limit) as process:
        names = ("X-Forwarded-For", "X-Real-IP", "Forwarded", "True-Client-IP", "Client-IP")
        kind, body = "Content-Type: application/json", b'{"username": "a", "password": "b"}'
        statuses = []
        for number, name in enumerate(names):
            lie = f"{name}: 198.51.100.{number}"
            length = f"Content-Length: {len(body)}"
            data = build_request("POST", "/auth/simple/login", lie, kind, length, body=body)
            statuses.append(send_bytes(process, data)[9:12])
        assert statuses == ["401", "401", "401", "429", "429"]
        for path in (
            "/x%0a[ERROR]%20forged",
            "/x%0d%0aforged",
            "/x%1b[2Jforged",
            "/%E2%80%A8forged",
        ):
            send_bytes(process, build_request("GET", path))
        until(lambda: process.stderr.count("forged") == 4, "the lines of the log")
        lines = [line for line in process.stderr.splitlines() if "forged" in line]
        assert len(lines) == 4
        assert all(line.startswith("[20") and line.isprintable() for line in lines)
