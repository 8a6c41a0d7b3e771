"""ReadingPace: which clients are too slow, by what their system has confirmed."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from sigservice.http_server.reading_pace import (
    MAX_CREDIT_SECONDS,
    MIN_BYTES_PER_SECOND,
    SLOW_SECONDS,
    STALLED_SECONDS,
    ReadingPace,
)
from tests.waiting import until


class Response:
    """A response on a TCP connection whose client has not read anything."""

    def __init__(self, sock: socket.socket, client: socket.socket) -> None:
        self.pace, self.socket, self.client = ReadingPace(), sock, client
        sock.setblocking(False)
        client.setblocking(False)
        self.fill()

    def fill(self) -> None:
        try:
            while True:
                self.pace.sent_bytes += self.socket.send(b"x" * 65_536)
        except BlockingIOError:
            pass

    def read(self) -> None:
        """Reads everything, and waits until the system has confirmed it."""

        def is_confirmed() -> bool:
            try:
                self.client.recv(1_000_000)
            except BlockingIOError:
                return not self.is_unread
            return False

        until(is_confirmed, "the confirmation")

    @property
    def is_unread(self) -> bool:
        pace = ReadingPace()
        pace.is_too_slow(self.socket, 0, has_worker=True)
        return pace._read_bytes < 0

    def is_too_slow(self, now: float, *, has_worker: bool = True) -> bool:
        return self.pace.is_too_slow(self.socket, now, has_worker=has_worker)


@pytest.fixture
def response() -> Iterator[Response]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        client = socket.create_connection(listening.getsockname())
        sock, _ = listening.accept()
    with sock, client:
        yield Response(sock, client)


def test_client_that_reads_nothing_is_too_slow_after_ten_seconds(response: Response):
    seconds = [second for second in range(15) if not response.is_too_slow(second)]
    assert seconds == list(range(int(SLOW_SECONDS) + 1))


def test_client_that_has_read_a_lot_is_too_slow_half_a_minute_later(response: Response):
    assert not response.is_too_slow(0)
    response.read()
    assert not response.is_too_slow(1)
    assert not response.is_too_slow(1 + MAX_CREDIT_SECONDS)
    assert response.is_too_slow(2 + MAX_CREDIT_SECONDS)


def test_client_that_reads_less_than_the_minimum_is_too_slow(response: Response):
    """It reads a tenth, so that ten seconds give it one more."""
    too_slow_at = None
    for second in range(20):
        response.pace.sent_bytes += MIN_BYTES_PER_SECOND // 10  # confirmed at once
        if response.is_too_slow(second):
            too_slow_at = second
            break
    assert too_slow_at == 12


def test_client_that_reads_the_minimum_is_fast_enough(response: Response):
    for second in range(1000):
        response.pace.sent_bytes += MIN_BYTES_PER_SECOND
        assert not response.is_too_slow(second)


def test_pause_of_the_service_does_not_count(response: Response):
    assert not response.is_too_slow(0)
    response.pace.reset()
    assert not response.is_too_slow(1000)


def test_whole_response_may_be_read_at_any_pace(response: Response):
    """It occupies no worker."""
    for second in range(0, 1000, int(STALLED_SECONDS)):
        response.pace.sent_bytes += 1
        assert not response.is_too_slow(second, has_worker=False)
    assert not response.is_too_slow(second + STALLED_SECONDS, has_worker=False)
    assert response.is_too_slow(second + STALLED_SECONDS + 1, has_worker=False)
