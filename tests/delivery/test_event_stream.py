"""Events and the connection that they are written to, on real sockets."""

import socket
import time
from collections.abc import Iterator

import pytest

from sigservice.delivery import event_stream
from sigservice.delivery.event_stream import (
    MAX_PENDING_BYTES,
    SLOW_SECONDS,
    EventConnection,
    write_event,
)


@pytest.fixture
def pair() -> Iterator[tuple[EventConnection, socket.socket]]:
    own, peer = socket.socketpair()
    connection = EventConnection(own, is_chunked=True)
    peer.settimeout(10)
    yield connection, peer
    connection.close()
    peer.close()


def fill(connection: EventConnection) -> None:
    """Sends until the socket takes no more."""
    while not connection.pending_bytes:
        assert connection.send(b"x" * 65_536)


def test_an_event_has_id_name_and_data():
    text = write_event(b'{"a":1}', event_id=42, name="unleash-updated")
    assert text == b'id: 42\nevent: unleash-updated\ndata: {"a":1}\n\n'


def test_an_event_without_id_and_name_has_only_data():
    assert write_event(b"{}") == b"data: {}\n\n"


def test_a_message_is_a_chunk(pair):
    connection, peer = pair
    assert connection.send(b"hello\n")
    assert peer.recv(100) == b"6\r\nhello\n\r\n"


def test_a_message_without_chunks_is_sent_as_it_is():
    own, peer = socket.socketpair()
    with own, peer:
        EventConnection(own, is_chunked=False).send(b"hello\n")
        assert peer.recv(100) == b"hello\n"


def test_what_the_socket_does_not_take_is_sent_later(pair):
    connection, peer = pair
    fill(connection)
    connection.send(b"end")
    received = b""
    while not received.endswith(b"3\r\nend\r\n"):
        received += peer.recv(1_000_000)
        assert connection.flush()
    assert not connection.pending_bytes


def test_a_client_that_does_not_read_is_slow_after_a_while(pair):
    connection, _ = pair
    fill(connection)
    now = time.monotonic()
    assert not connection.is_slow(now)
    assert connection.is_slow(now + SLOW_SECONDS + 1)


def test_a_client_that_has_read_everything_is_not_slow(pair):
    connection, _ = pair
    connection.send(b"x")
    assert not connection.is_slow(time.monotonic() + 1000)


def test_a_client_with_too_much_unread_must_go(pair):
    connection, _ = pair
    fill(connection)
    assert not connection.send(b"x" * MAX_PENDING_BYTES)


def test_a_closed_client_must_go(pair):
    connection, peer = pair
    peer.close()
    assert not connection.drop_input()
    assert not connection.send(b"x")


def test_what_the_client_sends_is_dropped_up_to_a_limit(pair):
    connection, peer = pair
    assert connection.drop_input()  # nothing has arrived
    peer.sendall(b"x" * 100)
    assert connection.drop_input()
    for _ in range(event_stream.MAX_RECEIVED_BYTES // 4096):
        peer.sendall(b"x" * 4096)
        last = connection.drop_input()
    assert not last


def test_an_orderly_end_has_the_last_chunk(pair):
    connection, peer = pair
    connection.close(orderly=True)
    assert peer.recv(100) == b"0\r\n\r\n"
    assert peer.recv(100) == b""
