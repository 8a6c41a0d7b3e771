"""Responses without a length, whose parts a worker makes while the client reads them."""

from __future__ import annotations

import contextlib
import errno
import socket
import threading
import time
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from waitress.buffers import TempfileBasedBuffer

from sigservice.concurrency.workers import release_turn
from tests.http_server.kit import build_listener
from tests.server.malformed_requests import build_request
from tests.server.process import Client
from tests.waiting import DEADLINE_SECONDS, until

Parts = Callable[[], Iterator[bytes]]
SMALL = b"x" * 10_000  # waitress keeps up to 18 000 bytes while a request runs


@pytest.fixture
def open_response(make_service: Any) -> Iterator[Callable[[Parts], Any]]:
    """`open_response(parts)`: the listener, the thread of its loop, a client."""
    config = make_service({"server": {"host": "127.0.0.1", "port": 0}}).config
    with contextlib.ExitStack() as stack:

        def start(parts: Parts) -> Any:
            def app(_: Any, start_response: Callable[..., Any]) -> Iterator[bytes]:
                start_response("200 OK", [])
                return parts()

            listener = build_listener(app, config)
            thread = threading.Thread(target=listener.run)
            thread.start()
            stack.callback(thread.join, DEADLINE_SECONDS)
            stack.callback(listener.request_stop)
            client = stack.enter_context(Client.at(listener.port).connect())
            client.sendall(build_request("GET", "/", "Connection: close"))
            return SimpleNamespace(listener=listener, thread=thread, client=client)

        yield start


def receive(client: socket.socket, count: int) -> bytes:
    received = b""
    while len(received) < count and (part := client.recv(65_536)):
        received += part
    return received


@pytest.fixture
def gate() -> Iterator[threading.Event]:
    gate = threading.Event()
    yield gate
    gate.set()


def test_small_part_is_sent_while_its_worker_waits_for_the_next_one(
    open_response: Any, gate: threading.Event
):
    def make_parts() -> Iterator[bytes]:
        yield SMALL
        gate.wait(DEADLINE_SECONDS)
        yield b"end"

    client = open_response(make_parts).client
    received = receive(client, len(SMALL))
    assert not gate.is_set()
    assert len(received) >= len(SMALL)
    gate.set()
    assert b"end" in receive(client, 10**6)


def test_loop_sleeps_while_a_worker_waits_for_the_next_part(
    open_response: Any, gate: threading.Event
):
    def make_parts() -> Iterator[bytes]:
        yield SMALL
        release_turn()  # as before a statement of the database
        gate.wait(DEADLINE_SECONDS)

    response = open_response(make_parts)
    clock_id = time.pthread_getcpuclockid(response.thread.ident)
    rounds, refresh = [], response.listener._loop.refresh

    def count_rounds() -> None:
        rounds.append(time.clock_gettime(clock_id))
        refresh()

    response.listener._loop.refresh = count_rounds
    until(lambda: len(rounds) >= 3, "two seconds of the loop")
    assert rounds[2] - rounds[1] < 0.25  # of about a second


def test_response_that_does_not_fit_on_the_disk_of_temporary_files_ends(
    open_response: Any, monkeypatch: pytest.MonkeyPatch
):
    has_failed = threading.Event()

    def fail(_: Any) -> None:
        has_failed.set()
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(TempfileBasedBuffer, "newfile", fail)
    client = open_response(lambda: iter([b"x" * 3_000_000] * 4)).client
    received = receive(client, 100)
    assert has_failed.wait(DEADLINE_SECONDS)
    client.settimeout(20)
    received += receive(client, 10**8)
    assert not received.endswith(b"0\r\n\r\n")
