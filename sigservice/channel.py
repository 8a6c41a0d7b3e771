"""waitress's connections: one request at a time, JSON for what is refused before the application
sees it, and an end that lets the client read why.
"""

from __future__ import annotations

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


def refusal(status: int, reason: str) -> bytes:
    """The JSON body of an answer that the listener gives itself."""
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
        body = refusal(error.code, error.reason)
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
        """Beside WSGI's keys `sigservice.waited`: seconds that the request was queued, and
        `sigservice.body_refused`: whether its body was left unread."""
        environ: dict[str, Any] = super().get_environment()
        environ["sigservice.waited"] = time.monotonic() - self.request.arrived
        environ["sigservice.body_refused"] = self.request.body_refused
        return environ

    def build_response_header(self) -> bytes:
        """waitress closes after 304 and 204 because they have no length; they need none (RFC
        9112, 6.3), and SDKs get little else than 304."""
        asked = self.request.headers.get("CONNECTION", "").lower()
        self._stays_open = not self.has_body and self.version == "1.1" and asked != "close"
        try:
            return bytes(super().build_response_header())
        finally:
            self._stays_open = False

    def set_close_on_finish(self) -> None:
        if not self._stays_open:
            super().set_close_on_finish()


class Channel(HTTPChannel):  # type: ignore[misc]
    """`must_end_at` is the time at which the listener cuts it, None while nothing arrives."""

    task_class = Task
    error_task_class = JsonErrorTask
    must_end_at: float | None = None
    request: Any
    share: str = ""  # of the server's `connections`, released at the end
    _rest = b""  # what came after a request that is not answered yet
    _may_linger, _is_lingering, _bytes_dropped = False, False, 0

    @property
    def is_busy(self) -> bool:
        """Whether a request is arriving or has no answer yet."""
        pending = self.request is not None or self.requests or self._rest
        return bool(pending or self.total_outbufs_len)

    def parser_class(self, adj: Any) -> Parser:
        return Parser(adj, self.server.entrance, self.addr[0])

    def received(self, data: bytes) -> bool:
        with self.requests_lock:
            return bool(data) and self._parse(data)

    def _parse(self, data: bytes) -> bool:
        """Reads one request. What follows waits as bytes until that one is answered: parsed all
        together, many small requests would hold up the thread that reads for everybody."""
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
        if self.request is not None and not self.request.has_begun:  # nothing but blank lines
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
            self._bytes_dropped += len(self.recv(65_536))  # which closes at the end of the stream
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
        # Here and not in the worker that has answered: this thread may be flushing without a
        # lock, because no request is at work.
        if self._rest and self.connected and not (self.requests or self.total_outbufs_len):
            with self.requests_lock:
                self._parse(self._rest)

    def _linger(self) -> None:
        """The client may still be sending: closed at once, it would meet a reset instead of the
        answer. What it sends is thrown away for a moment."""
        self.close_when_flushed, self._is_lingering = False, True
        self.must_end_at = time.monotonic() + LINGER_SECONDS
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_WR)

    def handle_expt(self) -> None:
        """Urgent data: nobody reads it, and the loop would never rest while it is there."""
        self.handle_close()

    def handle_close(self) -> None:
        request, self.request, self._rest = self.request, None, b""
        if request is not None:
            request.close()
        super().handle_close()

    def del_channel(self, map: Any = None) -> None:
        super().del_channel(map)
        share, self.share = self.share, ""
        if share:
            self.server.connections.release(share)
