"""Start and stop of a real process: signals, timeouts, addresses, invalid options."""

from __future__ import annotations

import contextlib
import ctypes
import http.client
import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sigservice.config import load_config
from sigservice.db.open import OpenDatabase
from sigservice.errors import StartError
from sigservice.http_server import channel
from sigservice.log import build_line_loggers
from tests.prometheus_script import serve_prometheus
from tests.server.process import (
    OPEN_LIMITS,
    Client,
    Process,
    create_open_folder,
    make_database_environ,
    run_failing_service,
    run_service,
    until,
)
from tests.waiting import DEADLINE_SECONDS, take_time

SCRIPT = """
import os
import sigservice
from tests.waiting import take_time, until
def hook(app):
    @app.get("/slow/<seconds:float>")
    def slow(seconds):
        print("came in", flush=True)
        take_time(seconds)
        return "slept"
    @app.get("/held")
    def held():
        print("came in", flush=True)
        until(lambda: os.path.exists(os.environ["RELEASE"]), "the release")
        return "released"
    @app.get("/large")
    def large():
        return b"x" * 5_000_000
service = sigservice.start({{"preRouterHook": hook, {options}}})
print("\\n".join(service.describe()), flush=True)
service.wait()
"""
GRACE, Serve = 1.0, Callable[..., Client]
HEALTH = b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n"


def make_script(options: str = "") -> str:
    return SCRIPT.format(options=options)


@pytest.fixture(scope="module")
def environ(temporary_database: Any) -> dict[str, str]:
    return make_database_environ(temporary_database.create_database("stopping"))


@pytest.fixture
def slow(environ: dict[str, str]) -> Iterator[Process]:
    with run_service(environ | {"GRACEFUL_SHUTDOWN_TIMEOUT": "60000"}, make_script()) as process:
        yield process


class Request(threading.Thread):
    """A slow request in a thread; `start` returns when the handler has received it."""

    def __init__(self, process: Process, path: str) -> None:
        super().__init__(daemon=True)
        self._process, self._path = process, path
        self.answer: tuple[int, bytes] | None = None

    def run(self) -> None:
        conn = http.client.HTTPConnection("127.0.0.1", self._process.port, timeout=DEADLINE_SECONDS)
        try:
            conn.request("GET", self._path)
            got = conn.getresponse()
            self.answer = (got.status, got.read())
        except (OSError, http.client.HTTPException):
            pass
        finally:
            conn.close()

    def start(self) -> Request:
        before = self._process.stdout.count("came in")
        super().start()
        until(lambda: self._process.stdout.count("came in") > before, "the request's arrival")
        return self


def read_to_end(sock: socket.socket) -> bytes:
    received = b""
    try:
        while part := sock.recv(65536):
            received += part
    except ConnectionResetError:
        pass
    return received


def is_rejecting(process: Process) -> bool:
    try:
        process.connect().close()
    except OSError:
        return True
    return False


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_signal_lets_the_running_request_finish(
    environ: dict[str, str], tmp_path: Path, number: int
):
    release = tmp_path / "release"
    more = {"GRACEFUL_SHUTDOWN_TIMEOUT": "60000", "RELEASE": str(release)}
    with run_service(environ | more, make_script()) as process:
        request = Request(process, "/held").start()
        process.send(number)
        until(lambda: is_rejecting(process), "new connections are refused")
        assert request.answer is None
        release.touch()
        assert process.wait() == 0
        request.join(DEADLINE_SECONDS)
        assert request.answer == (200, b"released")
        assert "Traceback" not in process.stderr


def test_a_signal_that_another_thread_receives_ends_the_process(environ: dict[str, str]):
    with run_service(environ) as process:
        others = [int(name) for name in os.listdir(f"/proc/{process.pid}/task")]
        others.remove(process.pid)
        assert ctypes.CDLL(None).tgkill(process.pid, others[0], signal.SIGTERM) == 0
        assert process.wait() == 0


def test_nohup_keeps_the_service_running_without_its_terminal(environ: dict[str, str]):
    script = f"import signal\nsignal.signal(signal.SIGHUP, signal.SIG_IGN){make_script()}"
    with run_service(environ, script) as process:
        process.send(signal.SIGHUP)
        process.send(signal.SIGINT)
        assert process.wait() == 0
        assert "SIGHUP" not in process.stderr


def test_a_signal_to_a_suspended_process_ends_it_when_it_continues(environ: dict[str, str]):
    with run_service(environ) as process:
        for number in (signal.SIGSTOP, signal.SIGTERM, signal.SIGCONT):
            process.send(number)
        assert process.wait() == 0


INTERRUPTED_WAIT = """
import os, signal, sys, threading
import sigservice
service = sigservice.start({})
print("\\n".join(service.describe()), flush=True)
has_fired = []
def interrupt(frame, event, arg):
    if frame.f_code is threading.Condition.wait.__code__:
        send()
def send():
    if not has_fired:
        has_fired.append(True)
        os.kill(os.getpid(), signal.SIGTERM)
threading.Timer(0.3, send).start()
sys.settrace(interrupt)
service.wait()
"""


def test_signal_stops_the_service_while_its_main_thread_begins_to_wait(environ: dict[str, str]):
    """An Event holds its own lock for a moment then."""
    with run_service(environ, INTERRUPTED_WAIT) as process:
        assert process.wait(20) == 0


def test_request_longer_than_the_timeout_is_cut(environ: dict[str, str]):
    with run_service(environ, make_script()) as process:
        request = Request(process, "/slow/60").start()
        started_at = time.monotonic()
        process.send(signal.SIGTERM)
        assert process.wait() == 0
        assert GRACE - 0.1 < time.monotonic() - started_at < 30
        request.join(DEADLINE_SECONDS)
        assert request.answer is None


def test_a_metric_source_that_hangs_does_not_hold_up_the_stop(environ: dict[str, str]):
    limits = {"GRACEFUL_SHUTDOWN_TIMEOUT": "200", "SERVICE_WEBHOOK_ALLOWED_HOSTS": "127.0.0.1"}
    over = threading.Event()
    with serve_prometheus() as prometheus, run_service(environ | OPEN_LIMITS | limits) as process:
        source = {"name": "main", "url": prometheus.url, "timeoutSeconds": 30}
        assert process.request("POST", "/api/admin/metric-sources", source)[0] == 201
        id, _ = process.create_sender("rules")
        query = {"kind": "prometheus", "source": "main", "query": "errors"}
        rule = {"name": "errors", "endpointId": id, "source": query, "above": 1}
        assert process.request("POST", "/api/admin/alert-rules", rule)[0] == 201
        count = len(prometheus.requests)
        prometheus.answer = lambda _handler: over.wait(DEADLINE_SECONDS)
        until(lambda: len(prometheus.requests) > count, "the query of the job")
        began = time.monotonic()
        process.send(signal.SIGTERM)
        assert process.wait() == 0
        assert time.monotonic() - began < 20
        over.set()


def test_idle_connections_do_not_hold_up_the_stop(environ: dict[str, str]):
    with run_service(environ | {"GRACEFUL_SHUTDOWN_TIMEOUT": "60000"}) as process:
        socks = [process.connect() for _ in range(20)]
        for sock in socks[:10]:
            sock.sendall(HEALTH)
            assert b"GOOD" in sock.recv(4096)
        process.send(signal.SIGTERM)
        assert process.wait(30) == 0
        assert [read_to_end(sock) for sock in socks] == [b""] * 20
        for sock in socks:
            sock.close()


def test_large_answer_to_a_slow_reader_arrives_whole(environ: dict[str, str]):
    with run_service(environ | {"GRACEFUL_SHUTDOWN_TIMEOUT": "60000"}, make_script()) as process:
        with process.connect() as sock:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
            sock.sendall(b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n")
            received = len(sock.recv(65536))
            process.send(signal.SIGTERM)
            until(lambda: is_rejecting(process), "the stop")
            received += len(read_to_end(sock))
        assert process.wait() == 0
    assert received > 5_000_000


def test_pipelined_requests_are_both_answered(slow: Process):
    with slow.connect() as sock:
        sock.sendall(b"GET /slow/0.3 HTTP/1.1\r\nHost: x\r\n\r\n" * 2)
        until(lambda: "came in" in slow.stdout, "the request's arrival")
        slow.send(signal.SIGTERM)
        assert read_to_end(sock).count(b"slept") == 2
    assert slow.wait() == 0


IN_CODE = {"server": {"gracefulShutdownEnable": False, "host": "127.0.0.1"}}


def test_service_stops_once_and_never_starts_again(make_service: Any):
    service = make_service(IN_CODE)
    service.start()
    assert service.url == f"http://127.0.0.1:{service.port}"
    port = service.port
    with pytest.raises(RuntimeError):
        service.start()
    stops = [threading.Thread(target=service.stop) for _ in range(4)]
    for thread in stops:
        thread.start()
    for thread in stops:
        thread.join(DEADLINE_SECONDS)
    service.stop()
    service.wait()
    with pytest.raises(RuntimeError):
        service.start()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port))


def test_stopped_service_has_no_port_and_no_url(make_service: Any):
    service = make_service(IN_CODE)
    assert (service.port, service.url) == (None, "")
    service.start()
    service.stop()
    assert (service.port, service.url) == (None, "")


def test_idle_connection_is_closed_after_the_keep_alive_timeout_and_a_busy_one_is_not(
    serve: Serve,
):
    def slow_route(app: Any) -> None:
        app.get("/slow")(lambda: take_time(1.7) or "slept")

    client = serve(keepAliveTimeout=1, preRouterHook=slow_route)
    with contextlib.ExitStack() as stack:
        idle, silent, half, busy = (stack.enter_context(client.connect()) for _ in range(4))
        half.sendall(HEALTH[:20])
        busy.sendall(b"GET /slow HTTP/1.1\r\nHost: x\r\n\r\n")
        idle.sendall(HEALTH)
        assert b"GOOD" in idle.recv(4096)
        started_at = time.monotonic()
        for each in (idle, silent):
            assert read_to_end(each) == b""
        assert 0.8 < time.monotonic() - started_at < 30
        half.sendall(HEALTH[20:])
        assert b"GOOD" in half.recv(4096)
        assert b"slept" in read_to_end(busy)


def test_idle_connection_is_closed_after_a_jump_of_the_clock(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
):
    client = serve(keepAliveTimeout=3)
    with client.connect() as sock:
        sock.sendall(HEALTH)
        assert b"GOOD" in sock.recv(4096)
        read_clock, started_at = time.time, time.monotonic()
        for hours in (1, -1):
            monkeypatch.setattr(time, "time", lambda hours=hours: read_clock() + hours * 3600)
            sock.sendall(HEALTH)
            assert b"GOOD" in sock.recv(4096)
            take_time(1.5)
        assert read_to_end(sock) == b""
        assert time.monotonic() - started_at < 30


def test_response_whose_client_pauses_longer_than_the_keep_alive_timeout_arrives_whole(
    serve: Serve,
):
    body = b"x" * 12_000_000  # more than the system buffers

    def large_route(app: Any) -> None:
        app.get("/large")(lambda: body)

    client = serve(keepAliveTimeout=1, preRouterHook=large_route)
    with client.connect() as sock:
        sock.sendall(b"GET /large HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        received = len(sock.recv(1000))
        take_time(3)
        assert received + len(read_to_end(sock)) > len(body)


def test_dribbling_clients_are_cut_and_others_are_answered(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(channel, "ARRIVAL_SECONDS", 1)
    client = serve()
    beginnings = (HEALTH[:-4] + b"\r\nX: ", b"POST / HTTP/1.1\r\nContent-Length: 9999\r\n\r\n")
    with contextlib.ExitStack() as stack:
        socks = [stack.enter_context(client.connect(0.05)) for _ in beginnings]
        for sock, beginning in zip(socks, beginnings, strict=True):
            sock.sendall(beginning)
        started_at, cut = time.monotonic(), set()
        while len(cut) < len(socks) and time.monotonic() - started_at < 30:
            for sock in socks:
                try:
                    sock.sendall(b"a")
                    sock.recv(100)
                    cut.add(sock)
                except TimeoutError:
                    assert client.request("GET", "/health")[0] == 200
                except OSError:
                    cut.add(sock)
        assert 0.8 < time.monotonic() - started_at < 30


def test_unix_socket_in_use_is_not_taken_over(serve: Serve):
    with create_open_folder() as folder:
        pipe = str(folder / "service.sock")
        first = serve(pipe=pipe)
        with pytest.raises(StartError, match="use"):
            serve(pipe=pipe)
        with first.connect() as sock:
            sock.sendall(HEALTH)
            assert b"GOOD" in sock.recv(4096)


def test_unix_socket_of_the_next_service_stays_when_the_former_one_ends(make_service: Any):
    goes_on, has_come = threading.Event(), threading.Event()

    def hook(app: Any) -> None:
        app.get("/held")(lambda: has_come.set() or (goes_on.wait(DEADLINE_SECONDS) and "released"))

    with create_open_folder() as folder:
        pipe = str(folder / "service.sock")
        server = {"pipe": pipe, "gracefulShutdownEnable": False, "gracefulShutdownTimeout": 60_000}
        former = make_service({"server": server, "preRouterHook": hook})
        former.start()
        with Client.at(None, pipe).connect() as former_client:
            former_client.sendall(HEALTH.replace(b"/health", b"/held"))
            assert has_come.wait(DEADLINE_SECONDS)
            stop = threading.Thread(target=former.stop)
            stop.start()
            until(lambda: not os.path.exists(pipe), "the end of the listening socket")
            make_service({"server": server}).start()
            goes_on.set()
            assert b"released" in read_to_end(former_client)
            stop.join(DEADLINE_SECONDS)
        with Client.at(None, pipe).connect() as sock:
            sock.sendall(HEALTH)
            assert b"GOOD" in sock.recv(4096)


def has_ipv6() -> bool:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        return False
    return True


@pytest.mark.skipif(not has_ipv6(), reason="no IPv6 here")
@pytest.mark.parametrize("host", [None, "::"])
def test_all_addresses_are_ipv4_and_ipv6(serve: Serve, host: str | None):
    client = serve(host=host)
    for each in ("127.0.0.1", "::1"):
        with client.connect(host=each) as sock:
            sock.sendall(HEALTH)
            assert b"GOOD" in sock.recv(4096)


@pytest.mark.skipif(not has_ipv6(), reason="no IPv6 here")
@pytest.mark.parametrize(("host", "other"), [("127.0.0.1", "::1"), ("::1", "127.0.0.1")])
def test_one_address_is_one_address(serve: Serve, host: str, other: str):
    client = serve(host=host)
    client.connect(host=host).close()
    with pytest.raises(ConnectionRefusedError):
        client.connect(host=other)


@pytest.mark.parametrize("host", ["203.0.113.9", "no-such-host.invalid"])
def test_address_of_another_machine_is_one_line(serve: Serve, host: str):
    with pytest.raises(StartError) as raised:
        serve(host=host)
    assert str(raised.value).startswith(f"Can't listen on {host}, port ")
    assert "(HTTP_HOST, HTTP_PORT)" in str(raised.value)
    assert "\n" not in str(raised.value)


def test_invalid_configuration_exits_with_2_and_every_problem():
    invalid = {"HTTP_PORT": "x", "DATABASE_POOL_MAX": "0", "SERVICE_URL": "ftp://secret-thing"}
    process = run_failing_service(invalid | {"DATABASE_URL": "postgres://u:geheim@h:notaport/db"})
    assert process.wait() == 2
    for name in ("HTTP_PORT", "DATABASE_POOL_MAX", "SERVICE_URL", "DATABASE_URL"):
        assert name in process.stderr
    assert len(process.stderr.splitlines()) == 4
    assert "geheim" not in process.stderr
    process.close()


@pytest.mark.parametrize(
    "invalid",
    [
        {"host": "127.0.0.1", "port": 1},
        {"host": "/nonexistent", "port": 5432},
        {"host": "no-such-host.invalid", "port": 5432},
    ],
)
def test_unreachable_database_is_one_clear_line(invalid: dict[str, Any]):
    options = {"db": invalid | {"user": "u", "password": "geheim", "database": "d"}}
    config = load_config(options, {}).config
    with pytest.raises(StartError) as raised:
        OpenDatabase(config, build_line_loggers("fatal")("database"), retry_seconds=0.1)
    text = str(raised.value)
    assert text.startswith("Can't reach the database within")
    assert "\n" not in text
    assert "geheim" not in text


def test_unknown_database_is_one_clear_line(temporary_database: Any):
    config = load_config({"db": temporary_database.options("no_such_database")}, {}).config
    with pytest.raises(StartError, match='database "no_such_database" does not exist'):
        OpenDatabase(config, build_line_loggers("fatal")("database"), retry_seconds=0.1)


def test_stop_leaves_no_thread_and_no_file_behind(make_service: Any):
    make_service(IN_CODE).stop()  # what the first service loads stays
    threads, files = threading.active_count(), len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        service = make_service(IN_CODE)
        service.start()
        socket.create_connection(("127.0.0.1", service.port)).close()
        service.stop()
    until(lambda: threading.active_count() <= threads, "the threads' end")
    assert len(os.listdir("/proc/self/fd")) <= files
