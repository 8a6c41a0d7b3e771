"""A proxy in front of a server that can swallow everything, as after the loss of power or of a
cable: connections stay open, and nothing arrives."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tests.waiting import DEADLINE_SECONDS


class TcpProxy:
    """Listens on `port` and forwards to the port `target`, which a test may change for later
    connections. `count` is the number of connections."""

    def __init__(self, target: int) -> None:
        self.target, self.count = target, 0
        self._flows = threading.Event()
        self._flows.set()
        self._sockets: list[socket.socket] = []
        self._threads: list[threading.Thread] = []
        self._is_closed = False
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]
        self._start(self._accept)

    def swallow(self) -> None:
        """From now on nothing is forwarded."""
        self._flows.clear()

    def close(self) -> None:
        self._is_closed = True
        self._flows.set()
        _shut(self._listening)
        self._threads[0].join(DEADLINE_SECONDS)
        for sock in list(self._sockets):
            _shut(sock)
        for thread in self._threads:
            thread.join(DEADLINE_SECONDS)
        self._listening.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client = self._listening.accept()[0]
                self.count += 1
                self._sockets.append(client)
                self._start(self._serve, client)

    def _serve(self, client: socket.socket) -> None:
        self._flows.wait()
        with client, contextlib.suppress(OSError):
            if self._is_closed:
                return
            with socket.create_connection(("127.0.0.1", self.target)) as server:
                self._sockets.append(server)
                back = self._start(self._forward, server, client)
                self._forward(client, server)
                back.join()

    def _forward(self, source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65_536):
                self._flows.wait()
                target.sendall(data)
        self._flows.wait()
        for sock in (source, target):
            _shut(sock)

    def _start(self, work: Callable[..., None], *arguments: socket.socket) -> threading.Thread:
        thread = threading.Thread(target=work, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()
        return thread


def _shut(sock: socket.socket) -> None:
    with contextlib.suppress(OSError):
        sock.shutdown(socket.SHUT_RDWR)


@contextmanager
def tcp_proxy(target: int) -> Iterator[TcpProxy]:
    proxy = TcpProxy(target)
    try:
        yield proxy
    finally:
        proxy.close()
