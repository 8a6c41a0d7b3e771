"""Real counterparts on 127.0.0.1: a web server that records requests, and a proxy."""

from __future__ import annotations

import socket
import ssl
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests.waiting import DEADLINE_SECONDS

SAMPLES = Path(__file__).parent / "outgoing" / "samples"
CERTIFICATE = SAMPLES / "cert.pem"  # of localhost, for a hundred years


@dataclass
class ReceivedRequest:
    path: str
    headers: Message
    body: bytes


@dataclass
class Receiver:
    """`answers` are given in turn, the last one for ever: (status, headers); `body` with each. A
    status of 0 closes the connection instead."""

    port: int
    scheme: str
    address: str = "127.0.0.1"
    answers: list[tuple[int, dict[str, str]]] = field(default_factory=lambda: [(204, {})])
    requests: list[ReceivedRequest] = field(default_factory=list)
    connections: int = 0
    tunnels: list[str] = field(default_factory=list)
    hold: threading.Event | None = None  # answers wait for it
    keeps_connections: bool = False
    body: bytes = b""
    answer: Callable[[ReceivedRequest], tuple[int, bytes]] | None = None  # instead of `answers`
    length: int | None = None  # that the answers promise; None: of the body

    @property
    def url(self) -> str:
        host = "localhost" if self.scheme == "https" else self.address
        return f"{self.scheme}://{host}:{self.port}"


class _Handler(BaseHTTPRequestHandler):
    receiver: Receiver

    def setup(self) -> None:
        super().setup()
        self.receiver.connections += 1
        if self.receiver.keeps_connections:
            self.protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        one = self.receiver
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        received = ReceivedRequest(self.path, self.headers, body)
        one.requests.append(received)
        if one.hold is not None:
            one.hold.wait(DEADLINE_SECONDS)
        status, headers = one.answers.pop(0) if len(one.answers) > 1 else one.answers[0]
        content = one.body
        if one.answer is not None:
            status, content = one.answer(received)
        if status == 0:
            self.close_connection = True
            return
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content) if one.length is None else one.length))
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_PUT = do_POST

    def do_CONNECT(self) -> None:
        """A tunnel, as proxies make one."""
        self.receiver.tunnels.append(self.path)
        self.receiver.requests.append(ReceivedRequest(self.path, self.headers, b""))
        port = int(self.path.rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port), DEADLINE_SECONDS) as other:
            self.send_response(200)
            self.end_headers()
            back = threading.Thread(target=_copy, args=(other, self.connection))
            back.start()
            _copy(self.connection, other)
            back.join(DEADLINE_SECONDS)
        self.close_connection = True

    def log_message(self, *args: Any) -> None: ...


def _copy(source: socket.socket, target: socket.socket) -> None:
    try:
        while data := source.recv(65_536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        pass


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that stops waiting is no error."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


@contextmanager
def receiving(scheme: str = "http", host: str = "127.0.0.1") -> Iterator[Receiver]:
    handler = type("Handler", (_Handler,), {})
    server = _Server((host, 0), handler)
    if scheme == "https":
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(CERTIFICATE, SAMPLES / "key.pem")
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    receiver = Receiver(server.server_address[1], scheme, host)
    handler.receiver = receiver
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield receiver
    finally:
        server.shutdown()
        thread.join(DEADLINE_SECONDS)
        server.server_close()
