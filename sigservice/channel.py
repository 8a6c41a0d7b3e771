"""Connections of waitress: one request at a time, JSON errors for rejected requests, and a graceful
close, so that the client can read the error.
"""

import contextlib
import socket
import time
import uuid
from typing import Any

import msgspec
from waitress.channel import HTTPChannel
from waitress.task import ErrorTask, WSGITask

from sigservice.http_parsing import Parser

ARRIVAL_SECONDS = 30
LINGER_SECONDS = 2
MAX_LINGER_BYTES = 1_000_000
_NAMES = {
    400: "BadDataError",
    413: "ContentTooLargeError",
    431: "HeadersTooLargeError",
    501: "NotImplementedError",
    503: "UnavailableError",
}


def build_error_body(status: int, reason: str) -> bytes:
    """The JSON body of an error that the listener answers itself."""
    return msgspec.json.encode(
        {
            "id": str(uuid.uuid4()),
            "name": _NAMES.get(status, "InternalError"),
            "message": reason,
            "details": [{"message": reason}],
        }
    )


class JsonErrorTask(ErrorTask):  # type: ignore[misc]
    def execute(self) -> None:
        error, path = self.request.error, getattr(self.request, "path", "")
        body = build_error_body(error.code, error.reason)
        self.status = f"{error.code} {error.reason}"
        self.response_headers += [
            ("Content-Type", "application/json; charset=utf-8"),
            ("Cache-Control", "no-store"),
            *([("Retry-After", "5")] if error.code == 503 else []),
            *self.channel.server.refusal_headers(path, self.request.headers.get("ORIGIN", "")),
        ]
        self.set_close_on_finish()
        self.content_length = len(body)
        self.write(body)
        method = getattr(self.request, "command", "")
        self.channel.server.log_refusal(method, path, error.code)


class Task(WSGITask):  # type: ignore[misc]
    _stays_open = False

    def get_environment(self) -> dict[str, Any]:
        """The WSGI environ, with `sigservice.arrived`, the time.monotonic() of its last byte,
        `sigservice.waited`, the seconds that the request was queued, and `sigservice.body_refused`,
        whether the listener did not read its body."""
        environ: dict[str, Any] = super().get_environment()
        environ["sigservice.arrived"] = self.request.arrived
        environ["sigservice.waited"] = time.monotonic() - self.request.arrived
        environ["sigservice.body_refused"] = self.request.body_refused
        return environ

    def build_response_header(self) -> bytes:
        """Keeps the connection open after 204 and 304. waitress closes it because they have no
        length, but they need none (RFC 9112, 6.3), and SDKs get mostly 304."""
        connection = self.request.headers.get("CONNECTION", "").lower()
        self._stays_open = not self.has_body and self.version == "1.1" and connection != "close"
        try:
            return bytes(super().build_response_header())
        finally:
            self._stays_open = False

    def set_close_on_finish(self) -> None:
        if not self._stays_open:
            super().set_close_on_finish()


class Channel(HTTPChannel):  # type: ignore[misc]
    """`must_end_at` is the time at which the listener closes it, None while nothing arrives."""

    task_class = Task
    error_task_class = JsonErrorTask
    must_end_at: float | None = None
    request: Any
    connection_key: str = ""  # its key in the server's `connections`, released at the end
    _rest = b""  # bytes after a request that is not answered yet
    _may_linger, _is_lingering, _bytes_dropped = False, False, 0

    @property
    def is_busy(self) -> bool:
        """Whether a request is arriving or has no answer yet."""
        pending = self.request is not None or self.requests or self._rest
        return bool(pending or self.total_outbufs_len)

    def parser_class(self, adj: Any) -> Parser:
        return Parser(adj, self.server.body_limits, self.addr[0])

    def received(self, data: bytes) -> bool:
        with self.requests_lock:
            return bool(data) and self._parse(data)

    def _parse(self, data: bytes) -> bool:
        """Parses one request. The bytes after it wait for its response: parsing many small requests
        at once would block the thread that reads for all connections."""
        if self.will_close or self.close_when_flushed:
            self._rest = b""
            return False
        while data and self.connected and not self.requests:
            request: Parser = self.request or self.parser_class(self.adj)
            self.request = request
            data = data[request.received(data) :]
            if request.expect_continue and request.headers_finished:
                self.send_continue()
            if request.completed:
                self._finish_request(request)
        if self.request is not None and not self.request.has_begun:  # only blank lines
            self.request = None
        if self.request is None:
            self.must_end_at = None
        elif self.must_end_at is None:
            self.must_end_at = time.monotonic() + ARRIVAL_SECONDS
        self._rest = data
        return True

    def _finish_request(self, request: Parser) -> None:
        self.request, self.must_end_at = None, None
        if not request.empty:
            self._may_linger = request.body_refused or request.error is not None
            self.requests.append(request)
            self.server.add_task(self)

    def readable(self) -> bool:
        return self._is_lingering or not (self._rest or not super().readable())

    def writable(self) -> bool:
        return bool(super().writable() or (self._rest and not self.requests))

    def handle_read(self) -> None:
        if not self._is_lingering:
            super().handle_read()
            return
        try:
            self._bytes_dropped += len(self.recv(65_536))  # closes at the end of the stream
        except OSError:
            self.handle_close()
        if self._bytes_dropped > MAX_LINGER_BYTES and self.connected:
            self.handle_close()

    def handle_write(self) -> None:
        if self._may_linger and self.close_when_flushed:
            self._flush_exception(self._flush_some)
            if self.will_close:
                self.handle_close()
            elif self.connected and not self.total_outbufs_len:
                self._linger()
            return
        super().handle_write()
        # Not in the worker of the response: this thread may flush without a lock while no request
        # is running.
        if self._rest and self.connected and not (self.requests or self.total_outbufs_len):
            with self.requests_lock:
                self._parse(self._rest)

    def _linger(self) -> None:
        """Reads and drops bytes for a moment. If the connection closed while the client still
        sends, the client would see a reset instead of the response."""
        self.close_when_flushed, self._is_lingering = False, True
        self.must_end_at = time.monotonic() + LINGER_SECONDS
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_WR)

    def handle_expt(self) -> None:
        """Closes on urgent data: unread it would keep the loop busy."""
        self.handle_close()

    def handle_close(self) -> None:
        request, self.request, self._rest = self.request, None, b""
        if request is not None:
            request.close()
        super().handle_close()

    def del_channel(self, map: Any = None) -> None:
        super().del_channel(map)
        key, self.connection_key = self.connection_key, ""
        if key:
            self.server.connections.release(key)
