"""A reload of HAProxy, and the loss of a machine behind it."""

from __future__ import annotations

import contextlib
import http.client
import os
import random
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping

import pytest

from tests.haproxy import Haproxy, read_configuration, run_haproxy
from tests.server.process import (
    ADMIN_SECRET,
    OPEN_LIMITS,
    find_free_port,
    list_children,
    make_database_environ,
    run_service,
)
from tests.waiting import DEADLINE_SECONDS, until

RELOADS = int(os.environ.get("RELOADS", "3"))
REQUESTS_AFTER_RELOAD = 30
# `timeout server` is 60 s; with the limits of the file it took 5 s.
MAX_SECONDS = 30
# Starts the service in a network namespace; unix sockets, so the database too, are outside of it.
SCRIPT = """
import ctypes, os, runpy
assert ctypes.CDLL(None).setns(os.open("/run/netns/{name}", os.O_RDONLY), 0x40000000) == 0
runpy.run_path("run.py", run_name="__main__")
"""


class Machine:
    """A network namespace with an address, which stands for a machine."""

    def __init__(self) -> None:
        number = random.randrange(1, 250)
        self.name, self._device = f"sigservice{number}", f"sigtest{number}"
        self.address, self._router = f"198.18.{number}.2", f"198.18.{number}.1"

    def create(self) -> None:
        _run_ip(f"netns add {self.name}")
        _run_ip(f"link add {self._device} type veth peer name eth0 netns {self.name}")
        _run_ip(f"addr add {self._router}/30 dev {self._device}")
        _run_ip(f"link set {self._device} up")
        _run_ip(f"-n {self.name} addr add {self.address}/30 dev eth0")
        _run_ip(f"-n {self.name} link set eth0 up")

    def lose(self) -> None:
        """Packets to it are no longer answered, not even with a reset."""
        _run_ip(f"-n {self.name} addr del {self.address}/30 dev eth0")

    def delete(self) -> None:
        _run_ip(f"netns del {self.name}")


def _run_ip(arguments: str) -> None:
    subprocess.run(["ip", *arguments.split()], check=True, capture_output=True, timeout=60)


@pytest.fixture(scope="module")
def environ(temporary_database) -> dict[str, str]:
    temporary_database.empty()
    return OPEN_LIMITS | make_database_environ(temporary_database.options())


@contextlib.contextmanager
def run_on_machine(environ: Mapping[str, str]) -> Iterator[tuple[Machine, Haproxy]]:
    """A service on a machine of its own, which is the only one behind HAProxy."""
    machine, port, node = Machine(), find_free_port(), find_free_port()
    if os.geteuid() != 0 or not shutil.which("ip"):
        pytest.skip("needs root and ip for a network namespace")
    try:
        machine.create()
    except subprocess.CalledProcessError as error:
        pytest.skip(f"network namespaces aren't available: {error.stderr.decode()}")
    environ = {**environ, "HTTP_HOST": machine.address, "HTTP_PORT": str(node)}
    text = read_configuration("cluster/haproxy.cfg", port, [node])
    text = text.replace(f"127.0.0.1:{node}", f"{machine.address}:{node}")
    try:
        with (
            run_service(environ, SCRIPT.format(name=machine.name)),
            run_haproxy(text, port) as proxy,
        ):
            proxy.wait_for_servers(1)
            yield machine, proxy
    finally:
        machine.delete()


def send_on(conn: http.client.HTTPConnection, method: str, path: str) -> int:
    """The status of the response."""
    conn.request(method, path, headers={"Authorization": ADMIN_SECRET})
    answer = conn.getresponse()
    answer.read()
    return answer.status


def connect(proxy: Haproxy) -> contextlib.closing[http.client.HTTPConnection]:
    """A connection that waits longer than HAProxy."""
    timeout = 2 * DEADLINE_SECONDS
    return contextlib.closing(http.client.HTTPConnection("127.0.0.1", proxy.port, timeout=timeout))


def lose_and_measure(machine: Machine, answer: Callable[[], object]) -> float:
    """How many seconds it takes from the loss of the machine to the end of the request."""
    machine.lose()
    started_at = time.monotonic()
    with contextlib.suppress(http.client.HTTPException):
        answer()
    return time.monotonic() - started_at


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_request_to_a_lost_machine_ends_soon(environ, method: str):
    with run_on_machine(environ) as (machine, proxy), connect(proxy) as conn:
        path = "/api/admin/projects"
        send_on(conn, method, path)
        seconds = lose_and_measure(machine, lambda: send_on(conn, method, path))
    assert seconds < MAX_SECONDS


def test_a_stream_from_a_lost_machine_ends_soon(environ):
    """Its client connects again and reaches another machine."""
    token = {"tokenName": "sdk", "type": "client", "environment": "development"}
    with run_on_machine(environ) as (machine, proxy), connect(proxy) as conn:
        _, token = proxy.request("POST", "/api/admin/api-tokens", token)
        conn.request("GET", "/api/client/streaming", headers={"Authorization": token["secret"]})
        answer = conn.getresponse()
        assert answer.readline()
        seconds = lose_and_measure(machine, answer.read)
    assert seconds < MAX_SECONDS


class Poller(threading.Thread):
    """Sends requests on a connection that is idle between them, until `stopped`."""

    def __init__(self, port: int, stopped: threading.Event) -> None:
        super().__init__(daemon=True)
        self._port, self._stopped = port, stopped
        self.succeeded, self.failures = 0, list[str]()

    def run(self) -> None:
        conn = http.client.HTTPConnection("127.0.0.1", self._port, timeout=DEADLINE_SECONDS)
        with contextlib.closing(conn):
            while not self._stopped.wait(random.uniform(0, 0.01)):
                try:
                    status = send_on(conn, "GET", "/health")
                except (OSError, http.client.HTTPException) as error:
                    conn.close()
                    self.failures.append(repr(error))
                    continue
                if status == 200:
                    self.succeeded += 1
                else:
                    self.failures.append(str(status))


@pytest.mark.parametrize("name", ["haproxy/several-processes.cfg", "cluster/haproxy.cfg"])
def test_a_reload_fails_no_request(environ, name: str):
    port, stopped = find_free_port(), threading.Event()
    with run_service(environ) as service:
        with run_haproxy(read_configuration(name, port, [service.port]), port) as proxy:
            proxy.wait_for_servers(1)
            pollers = [Poller(port, stopped) for _ in range(8)]
            for poller in pollers:
                poller.start()
            try:
                for _ in range(RELOADS):
                    wait_for_requests(pollers)
                    workers = set(list_children(proxy.pid))
                    os.kill(proxy.pid, signal.SIGUSR2)
                    until(lambda w=workers: set(list_children(proxy.pid)) - w, "a new worker")
                wait_for_requests(pollers)
            finally:
                stopped.set()
                for poller in pollers:
                    poller.join(DEADLINE_SECONDS)
    assert [failure for poller in pollers for failure in poller.failures] == []


def wait_for_requests(pollers: list[Poller]) -> None:
    """Waits until each of them has had some more responses."""
    counts = [poller.succeeded + REQUESTS_AFTER_RELOAD for poller in pollers]
    until(
        lambda: all(p.succeeded >= count for p, count in zip(pollers, counts, strict=True)),
        "responses after a reload",
    )
