"""Connections of waitress: one request at a time, and a graceful close, so that the client can read
the error of a rejected request.
"""

import contextlib
import socket
import time
from typing import Any

from waitress.channel import ClientDisconnected, HTTPChannel
from waitress.utilities import InternalServerError

from sigservice.crypto.hidden_secrets import hide_secrets
from sigservice.http_server.channel_tasks import JsonErrorTask, TakeOver, Task
from sigservice.http_server.http_parsing import Parser
from sigservice.http_server.reading_pace import ReadingPace

ARRIVAL_SECONDS = 30
LINGER_SECONDS = 2
MAX_LINGER_BYTES = 1_000_000
# What POST requests wait for, by a part of their path: see Workers.run_similar_tasks.
_KINDS = {
    "/api/signal-endpoint/": "signal",
    "/api/client/": "report",
    "/api/frontend/client/metrics": "report",
    "/api/frontend/metrics": "report",
    "/edge/metrics": "report",
}


def _find_kind(request: Any) -> str:
    """Requests of a kind wait for the same group commit (db/group_commit.py); "" for others."""
    if request.error is None and request.command == "POST":
        for part, kind in _KINDS.items():
            if part in request.path:
                return kind
    return ""


class Channel(HTTPChannel):  # type: ignore[misc]
    """`must_end_at` is the time at which the listener closes it, None while nothing arrives."""

    task_class = Task
    error_task_class = JsonErrorTask
    must_end_at: float | None = None
    request: Any
    requests: list[Parser]  # the one that runs, or none
    close_when_flushed: bool
    current_outbuf_count: int
    connection_key: str = ""  # its key in the server's `connections`, released at the end
    kind = ""  # of its request, for Workers
    _is_unread = False  # whether the loop stopped to read during a request
    _rest = b""  # bytes after a request that is not answered yet
    _may_linger, _is_lingering, _bytes_dropped = False, False, 0
    socket: Any
    take_over: TakeOver | None = None  # takes over the connection after the response
    _must_leave, _is_chunked, _is_closed = False, False, False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._pace = ReadingPace()
        super().__init__(*args, **kwargs)

    def service(self) -> None:
        """Runs the request and sends the response. waitress wakes its loop after each response,
        also when the loop has nothing to do."""
        request = self.requests[0]
        task = (self.error_task_class if request.error else self.task_class)(self, request)
        is_handed_over = False
        try:
            if self.connected:
                task.service()
                is_handed_over = task.is_handed_over
        except ClientDisconnected:
            task.close_on_finish = True
        # The application has answered its own errors: this is one of its headers, or an exit.
        except BaseException:
            self.logger.exception("Exception while serving %s", hide_secrets(request.path))
            task.close_on_finish = True
            if not task.wrote_header:
                self._answer_fault(request)
        request.close()
        self.last_activity = time.time()
        if self.current_outbuf_count:  # so that waitress uses another buffer for the next response
            self.current_outbuf_count = self.adj.outbuf_high_watermark
        with self.requests_lock:
            self.requests = []
            self._is_chunked = task.chunked_response
            self._must_leave = is_handed_over and not self._is_closed
            self.close_when_flushed |= task.close_on_finish and not self._must_leave
            is_ready = not (self._is_unread or self._rest or self.writable())
            self._is_unread = False
        if not self._must_leave:
            self._abandon_stream()
        if not is_ready:
            self._wake_loop()

    def _answer_fault(self, request: Parser) -> None:
        request.error = InternalServerError("The server encountered an unexpected internal error")
        with contextlib.suppress(ClientDisconnected):
            self.error_task_class(self, request).service()

    def send_response(self, head: bytes, body: bytes) -> None:
        """Sends both in one system call. The loop sends what the socket doesn't take at once.
        Raises ClientDisconnected."""
        size = 0
        with self.outbuf_lock:
            if not self.connected:
                raise ClientDisconnected
            if not self.total_outbufs_len:
                try:
                    size = self.socket.sendmsg((head, body))
                except BlockingIOError:
                    pass
                except OSError:
                    self.will_close = True
                    raise ClientDisconnected from None
        if size < len(head):
            self.write_soon(head[size:])
            size = len(head)
        self.write_soon(body[size - len(head) :])

    def _wake_loop(self) -> None:
        fd = self._fileno
        if fd is not None and self.connected:
            self.server.event_loop.change(fd)
            self.server.pull_trigger()

    def write_soon(self, data: bytes) -> int:
        size = int(super().write_soon(data))
        fd = self._fileno
        if self.total_outbufs_len >= self.adj.send_bytes:
            self._wake_loop()
        elif self.total_outbufs_len and fd is not None:
            self.server.event_loop.change(fd)  # it sends the rest when it wakes
        return size

    def send(self, data: bytes, do_close: bool = True) -> int:
        size = int(super().send(data, do_close))
        self._pace.sent_bytes += size
        return size

    @property
    def is_busy(self) -> bool:
        """Whether a request is arriving or has no answer yet."""
        pending = self.request is not None or self.requests or self._rest
        return bool(pending or self.total_outbufs_len)

    @property
    def is_last_response(self) -> bool:
        """Whether the connection should end because the service is about to stop."""
        return self.server.is_draining and not self._rest

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
                request.expect_continue = False
                with contextlib.suppress(ClientDisconnected):  # closed after this
                    self.send_response(b"HTTP/1.1 100 Continue\r\n\r\n", b"")
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
            self.kind = _find_kind(request)
            self.server.add_task(self)

    def readable(self) -> bool:
        """False while a request runs: then its worker wakes the loop at the end."""
        if self._is_lingering:
            return True
        with self.requests_lock:
            self._is_unread = bool(self.requests)
        is_waiting = self._is_unread or self._rest or self._must_leave
        return not (is_waiting or not super().readable())

    def is_read_too_slowly(self, now: float) -> bool:
        """Whether a response waits for a client that is too slow, see ReadingPace. `now` is
        time.monotonic(). waitress closes no connection before its last byte."""
        has_worker = bool(self.requests)
        if self.total_outbufs_len < (self.adj.send_bytes if has_worker else 1):
            self._pace.reset()
            return False
        return self._pace.is_too_slow(self.socket, now, has_worker=has_worker)

    def writable(self) -> bool:
        return bool(super().writable() or (self._rest and not self.requests) or self._must_leave)

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
        if self.requests and self.total_outbufs_len < self.adj.send_bytes:
            # waitress doesn't send it while a request runs, so the loop would not sleep.
            self._flush_exception(self._flush_some_if_lockable)
        super().handle_write()
        if self._must_leave and self.connected and not self.total_outbufs_len:
            self._leave()
            return
        # Not in the worker of the response: this thread may flush without a lock while no request
        # is running.
        if self._rest and self.connected and not (self.requests or self.total_outbufs_len):
            with self.requests_lock:
                self._parse(self._rest)

    def _leave(self) -> None:
        """Hands the connection over and forgets it."""
        take_over, self.take_over = self.take_over, None
        sock, self.socket = self.socket, None
        self.handle_close()
        assert take_over is not None
        take_over(sock, self._is_chunked)

    def _abandon_stream(self) -> None:
        with self.requests_lock:
            take_over, self.take_over = self.take_over, None
        if take_over is not None:
            take_over(None, False)

    def _linger(self) -> None:
        """Reads and drops bytes for a moment. If the connection closed while the client still
        sends, the client would see a reset instead of the response."""
        self.close_when_flushed, self._is_lingering = False, True
        self._rest = b""  # the body of a rejected request must not run as a request
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
        with self.requests_lock:  # `service` sets it in another thread
            self._is_closed = True
        self._abandon_stream()
        super().handle_close()

    def del_channel(self, map: Any = None) -> None:
        super().del_channel(map)
        key, self.connection_key = self.connection_key, ""
        if key:
            self.server.connections.release(key)
