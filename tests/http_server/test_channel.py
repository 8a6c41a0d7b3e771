"""Channel: a connection of a server whose requests the test runs itself."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from waitress.adjustments import Adjustments

from sigservice.concurrency.quotas import Quotas
from sigservice.http_server.channel import Channel, State
from sigservice.http_server.http_parsing import BodyLimits, BodyPermit
from tests.http_server.kit import build_callbacks
from tests.server.malformed_requests import build_request
from tests.waiting import DEADLINE_SECONDS

HEALTH = build_request("GET", "/health")


class Connection:
    """`app` answers the requests of `channel`; `looked_at` has what its loop looks at again."""

    def __init__(self, sock: socket.socket, client: socket.socket) -> None:
        self.client, self.app = client, answer
        self.looked_at: list[int] = []
        limits = BodyLimits(lambda *_: BodyPermit(0, False, ""), Quotas(), Quotas())
        adjustments = Adjustments()
        adjustments.send_bytes = 18_000
        server: Any = SimpleNamespace(
            active_channels={},
            add_task=lambda _: None,
            adj=adjustments,
            application=lambda *arguments: self.app(*arguments),
            body_limits=limits,
            callbacks=build_callbacks(),
            effective_port=4242,
            event_loop=SimpleNamespace(
                change=lambda _: self.looked_at.append(self.channel.total_outbufs_len)
            ),
            is_draining=False,
            pull_trigger=lambda: None,
            server_name="test",
        )
        self.channel = Channel(server, sock, ("192.0.2.1", 1), adjustments, map={})

    @property
    def state(self) -> State:
        return self.channel._state

    def fill_buffers(self) -> None:
        """The client reads nothing, so the next response waits in the buffer of the channel."""
        self.channel.socket.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            while True:
                self.channel.socket.send(b" " * 65_536)


def answer(environ: Any, start_response: Callable[..., Any]) -> list[bytes]:
    start_response("200 OK", [("Content-Length", "2")])
    return [b"ok"]


@pytest.fixture
def connection() -> Iterator[Connection]:
    sock, client = socket.socketpair()
    client.settimeout(DEADLINE_SECONDS)
    with sock, client:
        connection = Connection(sock, client)
        yield connection
        connection.channel.handle_close()


def open_stream(sockets: list[tuple[Any, bool]]) -> Callable[..., Any]:
    """An application whose response goes on after the request."""

    def app(environ: Any, start_response: Callable[..., Any]) -> Iterator[bytes]:
        environ["sigservice.hand_over"](lambda sock, is_chunked: sockets.append((sock, is_chunked)))
        start_response("200 OK", [])
        return iter([b"first"])  # a list would give the response a length

    return app


def test_pipelined_requests_are_parsed_one_at_a_time(connection: Connection):
    connection.channel.received(HEALTH * 200)
    assert len(connection.channel.requests) == 1
    assert not connection.channel.readable()


def test_blank_lines_leave_the_connection_idle(connection: Connection):
    connection.channel.received(b"\r\n" * 4000)
    assert not connection.channel.is_busy
    assert connection.channel.must_end_at is None


@pytest.mark.parametrize("size", [100, 10_000_000], ids=["small", "large"])
def test_loop_looks_at_a_connection_after_its_data_is_in_the_buffer(
    connection: Connection, size: int
):
    """It would not send what is written after it has looked."""
    connection.channel.write_soon(b"x" * size)
    assert connection.looked_at
    assert connection.looked_at[-1] > 0


def test_connection_reads_again_after_a_response(connection: Connection):
    connection.channel.received(HEALTH)
    assert connection.state is State.RUNNING
    connection.channel.service()
    assert connection.state is State.READING
    assert connection.channel.readable()
    assert connection.client.recv(1000).endswith(b"ok")


def test_loop_is_woken_only_if_it_has_looked_during_the_request(connection: Connection):
    connection.channel.received(HEALTH)
    connection.channel.service()
    assert not connection.looked_at
    connection.channel.received(HEALTH)
    assert not connection.channel.readable()
    assert connection.state is State.PAUSED
    connection.channel.service()
    assert connection.looked_at


def test_last_response_closes_the_connection_when_it_is_sent(connection: Connection):
    connection.channel.received(build_request("GET", "/health", "Connection: close"))
    connection.channel.service()
    assert connection.state is State.ENDING
    assert not connection.channel.readable()
    connection.channel.handle_write()
    assert connection.state is State.CLOSED


def test_rejected_request_is_followed_by_bytes_that_are_dropped(connection: Connection):
    connection.channel.received(b"nonsense\r\n\r\n" + HEALTH)
    connection.channel.service()
    assert connection.state is State.REJECTING
    connection.channel.handle_write()
    assert connection.channel.readable()
    assert not connection.channel.writable()
    received = b"".join(iter(lambda: connection.client.recv(10_000), b""))
    assert received.startswith(b"HTTP/1.0 400")
    connection.client.sendall(HEALTH)
    connection.channel.handle_read()
    assert not connection.channel.requests
    connection.client.close()
    connection.channel.handle_read()
    assert connection.state is State.CLOSED


def test_response_of_a_rejected_request_is_sent_to_a_client_that_has_ended(connection: Connection):
    connection.fill_buffers()
    connection.channel.received(b"nonsense\r\n\r\n")
    connection.channel.service()
    connection.client.shutdown(socket.SHUT_WR)
    assert not connection.channel.readable()  # it would read the end, and close
    assert connection.channel.writable()
    received = b""
    while connection.channel.total_outbufs_len:
        received += connection.client.recv(2**20)
        connection.channel.handle_write()
    received += b"".join(iter(lambda: connection.client.recv(2**20), b""))
    assert received.lstrip(b" ").startswith(b"HTTP/1.0 400")


def test_fault_of_the_application_ends_the_connection(connection: Connection):
    """Its request was read to the end, so nothing is dropped."""
    connection.app = lambda *_: 1 / 0  # type: ignore[assignment,return-value]
    connection.channel.received(HEALTH)
    connection.channel.service()
    assert connection.state is State.ENDING
    connection.channel.handle_write()
    assert connection.client.recv(1000).startswith(b"HTTP/1.1 500")


def test_socket_of_a_stream_is_handed_over_when_its_beginning_is_sent(connection: Connection):
    sockets: list[tuple[Any, bool]] = []
    connection.app = open_stream(sockets)
    connection.fill_buffers()
    connection.channel.received(HEALTH)
    sock = connection.channel.socket
    connection.channel.service()
    connection.channel.handle_write()
    assert (connection.state, sockets) == (State.LEAVING, [])
    received = b""
    while connection.channel.total_outbufs_len:
        received += connection.client.recv(2**20)
        connection.channel.handle_write()
    assert (connection.state, sockets) == (State.CLOSED, [(sock, True)])


def test_stream_whose_client_leaves_before_its_beginning_is_sent_gets_no_socket(
    connection: Connection,
):
    sockets: list[tuple[Any, bool]] = []
    connection.app = open_stream(sockets)
    connection.fill_buffers()
    connection.channel.received(HEALTH)
    connection.channel.service()
    assert connection.state is State.LEAVING
    connection.channel.handle_close()
    connection.channel.handle_close()
    assert (connection.state, sockets) == (State.CLOSED, [(None, False)])


def test_stream_whose_client_leaves_during_the_request_gets_no_socket(connection: Connection):
    sockets: list[tuple[Any, bool]] = []
    may_continue, has_begun = threading.Event(), threading.Event()

    def app(environ: Any, start_response: Callable[..., Any]) -> Any:
        body = open_stream(sockets)(environ, start_response)
        has_begun.set()
        assert may_continue.wait(DEADLINE_SECONDS)
        return body

    connection.app = app
    connection.channel.received(HEALTH)
    worker = threading.Thread(target=connection.channel.service)
    worker.start()
    assert has_begun.wait(DEADLINE_SECONDS)
    connection.channel.handle_close()
    may_continue.set()
    worker.join(DEADLINE_SECONDS)
    assert (connection.state, sockets) == (State.CLOSED, [(None, False)])


def test_error_instead_of_a_stream_leaves_the_connection_open(connection: Connection):
    """It has a length: a wrapper of the application has replaced the stream."""
    sockets: list[tuple[Any, bool]] = []
    stream = open_stream(sockets)

    def app(environ: Any, start_response: Callable[..., Any]) -> list[bytes]:
        stream(environ, lambda *_: None)
        return answer(environ, start_response)

    connection.app = app
    connection.channel.received(HEALTH)
    connection.channel.service()
    assert (connection.state, sockets) == (State.READING, [(None, False)])


def test_every_state_is_in_the_table_of_transitions():
    assert Channel.__doc__ is not None
    rows = [line.split("|") for line in Channel.__doc__.splitlines() if line.count("|") == 2][2:]
    named = {name.strip() for row in rows for cell in row[:2] for name in cell.split(",")}
    assert named - {"all"} == {state.name for state in State}
