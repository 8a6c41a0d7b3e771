"""Between SIGTERM and its stop the service still accepts requests, so that a restart behind a
proxy loses none."""

from __future__ import annotations

import contextlib
import http.client
import itertools
import json
import signal
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.haproxy import Haproxy, read_configuration, run_haproxy
from tests.server.process import (
    ADMIN_SECRET,
    OPEN_LIMITS,
    Process,
    find_free_port,
    make_database_environ,
    run_service,
    until,
)
from tests.waiting import DEADLINE_SECONDS

GET = b"GET %s HTTP/1.1\r\nHost: x\r\n\r\n"
LONG = {"GRACEFUL_SHUTDOWN_DELAY": "600000"}


@pytest.fixture(scope="module")
def environ(temporary_database: Any) -> dict[str, str]:
    return make_database_environ(temporary_database.create_database("draining")) | OPEN_LIMITS


def ask(process: Process, path: bytes) -> tuple[int, str | None]:
    """(status, its Connection header) for a new connection."""
    with process.connect() as sock:
        sock.sendall(GET % path)
        answer = http.client.HTTPResponse(sock)
        answer.begin()
        answer.read()
        return answer.status, answer.getheader("Connection")


def test_sigterm_takes_the_process_out_of_the_proxy_first(environ: dict[str, str]):
    with run_service(environ | LONG) as process, process.connect() as idle:
        idle.sendall(GET % b"/health")
        assert b"Connection: close" not in idle.recv(4096)
        assert ask(process, b"/ready") == (200, None)
        process.send(signal.SIGTERM)
        until(lambda: ask(process, b"/health")[0] == 503, "the service is draining")
        assert ask(process, b"/ready") == (503, "close")
        assert ask(process, b"/api/client/features") == (401, "close")
        idle.sendall(GET % b"/internal-backstage/prometheus")
        received = b"".join(iter(lambda: idle.recv(65_536), b""))
        assert received.startswith(b"HTTP/1.1 200 OK")
        assert b"\r\nConnection: close\r\n" in received
        process.send(signal.SIGTERM)
        assert process.wait(30) == 1  # a second signal ends it at once


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP])
def test_signals_of_a_terminal_stop_without_delay(environ: dict[str, str], number: int):
    with run_service(environ | LONG) as process:
        process.send(number)
        assert process.wait(30) == 0


def test_delay_ends_with_the_graceful_stop(environ: dict[str, str]):
    with run_service(environ | {"GRACEFUL_SHUTDOWN_DELAY": "300"}) as process:
        started_at = time.monotonic()
        process.send(signal.SIGTERM)
        assert process.wait(30) == 0
        assert time.monotonic() - started_at > 0.3
        assert "Traceback" not in process.stderr


def test_stop_in_code_has_no_delay(make_service: Callable[..., Any]):
    delay = {"gracefulShutdownEnable": False, "gracefulShutdownDelay": 600_000}
    service = make_service({"server": {"host": "127.0.0.1", **delay}})
    service.start()
    started_at = time.monotonic()
    service.stop()
    assert time.monotonic() - started_at < 30


class Load:
    """Threads that send requests through a proxy, over kept and over new connections, until the
    end of the block; `failures` are all answers but 200."""

    def __init__(self, proxy: Haproxy, token: str) -> None:
        self._proxy = proxy
        self.failures: list[Any] = []
        self.count = 0
        self._has_ended = threading.Event()
        headers = {"Authorization": token, "Content-Type": "application/json"}
        polls = {"Authorization": ADMIN_SECRET}
        self._threads = [
            threading.Thread(target=self._send, args=(*request, keeps), daemon=True)
            for keeps in (True, False, True, False)
            for request in (
                ("POST", "/api/signal-endpoint/deploys", headers),
                ("GET", "/api/admin/projects", polls),
            )
        ]

    def _send(self, method: str, path: str, headers: dict[str, str], keeps: bool) -> None:
        conn = http.client.HTTPConnection("127.0.0.1", self._proxy.port, timeout=DEADLINE_SECONDS)
        for number in itertools.count():
            if self._has_ended.is_set():
                conn.close()
                return
            body = json.dumps({"number": number}) if method == "POST" else None
            try:
                conn.request(method, path, body, headers)
                answer = conn.getresponse()
                answer.read()
                if answer.status != 200:
                    self.failures.append((method, answer.status))
            except (OSError, http.client.HTTPException) as error:
                self.failures.append((method, repr(error)))
                conn.close()
            self.count += 1
            if not keeps:
                conn.close()

    @contextlib.contextmanager
    def run(self) -> Iterator[None]:
        for thread in self._threads:
            thread.start()
        try:
            yield
        finally:
            self._has_ended.set()
            for thread in self._threads:
                thread.join(DEADLINE_SECONDS)


def test_rolling_restart_loses_no_request(environ: dict[str, str]):
    port, *ports = (find_free_port() for _ in range(3))
    default = environ | {"GRACEFUL_SHUTDOWN_DELAY": "1000", "HTTP_HOST": "127.0.0.1"}
    with contextlib.ExitStack() as stack:
        nodes = [
            stack.enter_context(run_service(default | {"HTTP_PORT": str(number)}))
            for number in ports
        ]
        _, token = nodes[0].create_sender()
        text = read_configuration("haproxy/several-processes.cfg", port, ports)
        proxy = stack.enter_context(run_haproxy(text, port))
        proxy.wait_for_servers(2)
        load = Load(proxy, token)
        with load.run():
            for node in nodes:
                until(lambda before=load.count: load.count > before + 50, "requests")
                node.send(signal.SIGTERM)
                assert node.wait() == 0
                restarted = run_service(default | {"HTTP_PORT": str(node.port)})
                stack.enter_context(restarted)
                proxy.wait_for_servers(2)
        assert load.failures == []
