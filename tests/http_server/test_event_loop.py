"""EventLoop: dispatchers are called for their events only, and asked again after a change."""

import socket
from collections.abc import Iterator
from typing import Any

import pytest

from sigservice.http_server.event_loop import EventLoop


class Dispatcher:
    """A socket as wasyncore uses it: what it wants is set by the test."""

    accepting = False

    def __init__(self, loop: EventLoop, sock: socket.socket) -> None:
        self._loop, self.socket = loop, sock
        self.is_readable, self.is_writable = True, False
        self.questions = 0
        self.events: list[Any] = []
        loop[sock.fileno()] = self

    def readable(self) -> bool:
        self.questions += 1
        return self.is_readable

    def writable(self) -> bool:
        return self.is_writable

    def handle_read_event(self) -> None:
        self.events.append(self.socket.recv(100))

    def handle_write_event(self) -> None:
        self.events.append("write")
        self.is_writable = False

    def handle_error(self) -> None:
        self.events.append("error")

    def handle_close(self) -> None:
        del self._loop[self.socket.fileno()]
        self.socket.close()


@pytest.fixture
def loop() -> Iterator[EventLoop]:
    loop = EventLoop()
    yield loop
    loop.close()


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, theirs


def test_bytes_are_read_and_nothing_else_is_called(loop: EventLoop, pair: Any):
    dispatcher = Dispatcher(loop, pair[0])
    pair[1].send(b"one")
    loop.run_once(1)
    pair[1].send(b"two")
    loop.run_once(1)
    assert dispatcher.events == [b"one", b"two"]


def test_idle_dispatcher_costs_nothing(loop: EventLoop, pair: Any):
    dispatcher = Dispatcher(loop, pair[0])
    loop.run_once(0)
    questions = dispatcher.questions
    for _ in range(5):
        loop.run_once(0)
    assert dispatcher.questions == questions


def test_dispatcher_that_stopped_reading_reads_after_a_change(loop: EventLoop, pair: Any):
    dispatcher = Dispatcher(loop, pair[0])
    loop.run_once(0)
    dispatcher.is_readable = False
    pair[1].send(b"later")
    loop.run_once(1)
    assert dispatcher.events == []
    dispatcher.is_readable = True
    loop.run_once(0)
    assert dispatcher.events == []
    loop.change(pair[0].fileno())
    loop.run_once(1)
    assert dispatcher.events == [b"later"]


@pytest.mark.parametrize("how", ["change", "refresh"])
def test_dispatcher_writes_after_a_change(loop: EventLoop, pair: Any, how: str):
    dispatcher = Dispatcher(loop, pair[0])
    loop.run_once(0)
    dispatcher.is_writable = True
    loop.run_once(0)
    assert dispatcher.events == []
    loop.change(pair[0].fileno()) if how == "change" else loop.refresh()
    loop.run_once(1)
    loop.run_once(0)
    assert dispatcher.events == ["write"]


def test_closed_dispatcher_gets_no_event_and_its_number_can_be_used_again(
    loop: EventLoop, pair: Any
):
    first = Dispatcher(loop, pair[0].dup())
    loop.run_once(0)
    number = first.socket.fileno()
    first.handle_close()
    second = Dispatcher(loop, pair[0].dup())
    assert second.socket.fileno() == number
    pair[1].send(b"one")
    loop.run_once(1)
    assert (first.events, second.events) == ([], [b"one"])
    second.handle_close()


def test_dispatcher_that_wants_nothing_is_asked_when_another_one_closes(loop: EventLoop, pair: Any):
    """A listening socket at the limit of connections accepts again."""
    full = Dispatcher(loop, pair[0])
    full.is_readable = False
    other = Dispatcher(loop, pair[1].dup())
    loop.run_once(0)
    pair[1].send(b"one")
    full.is_readable = True
    loop.run_once(0)
    assert full.events == []
    other.handle_close()
    loop.run_once(1)
    assert full.events == [b"one"]
