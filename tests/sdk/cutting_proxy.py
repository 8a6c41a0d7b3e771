"""A proxy between the SDKs and the service that cuts, delays, splits and refuses."""

import contextlib
import random
import socket
import threading

from tests.waiting import take_time


class CuttingProxy:
    """Forwards connections to `port` while `is_open`. `refusals` has the status with which it
    answers requests for a path (0: never), `requests` the head of each request."""

    def __init__(self, port: int) -> None:
        self.target = port
        self.is_open = True
        self.max_delay, self.max_piece = 0.0, 65_536
        self.refusals: dict[str, int] = {}
        self.requests: list[str] = []
        self._sockets: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._server = socket.create_server(("127.0.0.1", 0), backlog=1000)
        self.port = self._server.getsockname()[1]
        self._start(self._accept)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def count(self, path: str) -> int:
        return sum(head.split(" ")[1].startswith(path) for head in list(self.requests))

    def find_headers(self, path: str, name: str) -> list[str]:
        """The values of a header in all requests for the path, "" where it is missing."""
        values = []
        for head in list(self.requests):
            if head.split(" ")[1].startswith(path):
                lines = [line.partition(": ") for line in head.split("\r\n")]
                values.append(next((v for n, _, v in lines if n.lower() == name.lower()), ""))
        return values

    def cut(self) -> None:
        """Resets all connections."""
        with self._lock:
            sockets = list(self._sockets)
        for sock in sockets:
            close_socket(sock)

    def close(self) -> None:
        self.is_open = False
        close_socket(self._server)
        self.cut()

    def _start(self, function, *arguments) -> None:
        threading.Thread(target=function, args=arguments, daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._server.accept()
                self._start(self._connect, client)

    def _connect(self, client: socket.socket) -> None:
        take_time(random.uniform(0, self.max_delay))  # a later connection may overtake this one
        if not self.is_open:
            close_socket(client)
            return
        try:
            service = socket.create_connection(("127.0.0.1", self.target))
        except OSError:
            close_socket(client)
            return
        with self._lock:
            self._sockets |= {client, service}
        self._start(self._forward, client, service, True)
        self._forward(service, client, False)
        with self._lock:
            self._sockets -= {client, service}

    def _forward(self, source: socket.socket, target: socket.socket, is_request: bool) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65_536):
                if is_request and data.startswith((b"GET ", b"POST ")):
                    head = data.partition(b"\r\n\r\n")[0].decode("latin-1")
                    self.requests.append(head)
                    status = self.refusals.get(head.split(" ")[1])
                    if status == 0:
                        continue
                    if status is not None:
                        source.sendall(
                            f"HTTP/1.1 {status} Refused\r\nContent-Length: 0\r\n"
                            "Connection: close\r\n\r\n".encode()
                        )
                        break
                    data = data.replace(b"\r\n", b"\r\nX-Forwarded-For: 192.0.2.1\r\n", 1)
                self._send(target, data)
        close_socket(source)
        close_socket(target)

    def _send(self, target: socket.socket, data: bytes) -> None:
        while data:
            size = random.randint(1, self.max_piece) if self.max_piece < 65_536 else len(data)
            target.sendall(data[:size])
            data = data[size:]
            if self.max_delay:
                take_time(random.uniform(0, self.max_delay))


def close_socket(sock: socket.socket) -> None:
    with contextlib.suppress(OSError):
        sock.shutdown(socket.SHUT_RDWR)
    sock.close()
