"""Connections of waitress: one request at a time, and a graceful close, so that the client can read
the error of a rejected request.
"""

import contextlib
import enum
import socket
import time
from typing import Any

from waitress.buffers import ReadOnlyFileBasedBuffer
from waitress.channel import ClientDisconnected, HTTPChannel
from waitress.utilities import InternalServerError

from sigservice.crypto.hidden_secrets import hide_secrets
from sigservice.http_server.channel_tasks import JsonErrorTask, Task
from sigservice.http_server.http_parsing import Parser
from sigservice.http_server.reading_pace import ReadingPace

ARRIVAL_SECONDS = 30
LINGER_SECONDS, MAX_LINGER_SECONDS = 2, 30  # without a byte, and in total
# The bytes of a rejected body that are dropped: of any caller, and of one with credentials, which
# may import.
MAX_LINGER_BYTES, MAX_IMPORT_BYTES = 1_000_000, 64_000_000


class State(enum.Enum):
    """What a connection is doing. `Channel` lists the transitions."""

    READING = enum.auto()  # waits for a request or reads one; sends the rest of a response
    RUNNING = enum.auto()  # a worker runs the request
    PAUSED = enum.auto()  # as RUNNING, but the loop no longer reads: the worker wakes it at the end
    ENDING = enum.auto()  # sends the rest of the last response
    REJECTING = enum.auto()  # as ENDING, then drops what the client still sends of the request
    LEAVING = enum.auto()  # sends the beginning of a stream; then the socket is handed over
    CLOSED = enum.auto()


# The names of this module are found faster than the attributes of an Enum.
READING, RUNNING, PAUSED, ENDING, REJECTING, LEAVING, CLOSED = State


class UnsentBody(ReadOnlyFileBasedBuffer):  # type: ignore[misc]
    """The rest of a large body, without copies."""

    def __init__(self, body: bytes, start: int) -> None:
        self._view = memoryview(body)[start:]

    def __len__(self) -> int:
        return len(self._view)

    def get(self, numbytes: int = -1, skip: bool = False) -> memoryview:
        view = self._view if numbytes < 0 else self._view[:numbytes]
        if skip:
            self.skip(len(view))
        return view

    def skip(self, numbytes: int, allow_prune: int = 0) -> None:
        self._view = self._view[numbytes:]

    def close(self) -> None:
        self._view = memoryview(b"")


class Channel(HTTPChannel):  # type: ignore[misc]
    """A connection. `must_end_at` is the time at which the listener closes it, None while nothing
    arrives.

    The transitions of its state. A worker makes those at the end of a request, the loop the others:

    from             | to        | when
    -----------------|-----------|------------------------------------------------------------
    READING          | RUNNING   | a request is complete
    RUNNING          | PAUSED    | the loop looks at it while the request runs
    RUNNING, PAUSED  | READING   | the worker has made the response
    RUNNING, PAUSED  | ENDING    | the same, and the response closes the connection
    RUNNING, PAUSED  | REJECTING | the same, of a request with an error or a body that is not read
    RUNNING, PAUSED  | LEAVING   | the worker has made the beginning of a stream
    ENDING, LEAVING  | CLOSED    | the response is sent; the socket of a stream remains open
    all              | CLOSED    | the client has closed, an error, a limit of time or bytes, a stop
    """

    task_class = Task
    error_task_class = JsonErrorTask
    must_end_at: float | None = None
    request: Any
    requests: list[Parser]  # the one that runs, or none
    current_outbuf_count: int
    connection_key: str = ""  # its key in the server's `connections`, released at the end
    socket: Any
    _state = READING
    _rest = b""  # bytes after a request that is not answered yet
    _linger_bytes, _linger_end = 0, 0.0  # what may still be dropped, and until when
    _stream: Any = None  # the task whose `take_over` gets the socket
    _seen_activity, _idle_since = 0.0, 0.0  # see measure_idleness

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._pace = ReadingPace()
        super().__init__(*args, **kwargs)

    def service(self) -> None:
        """Runs the request and sends the response. waitress wakes its loop after each response even
        if the loop has nothing to do."""
        request = self.requests[0]
        is_rejected = request.body_refused or request.error is not None
        task = (self.error_task_class if request.error else self.task_class)(self, request)
        is_stream = False
        try:
            if self.connected:
                task.service()
                is_stream = task.is_stream
        except ClientDisconnected:
            task.close_on_finish = True
        # The application has answered its own errors: this one is from its headers, or an exit.
        except BaseException:
            self.logger.exception("Exception while serving %s", hide_secrets(request.path))
            task.close_on_finish = True
            if not task.wrote_header:
                self._answer_fault(request)
        request.close()
        self.last_activity = time.time()
        if self.current_outbuf_count:  # so that waitress uses another buffer for the next response
            self.current_outbuf_count = self.adj.outbuf_high_watermark
        if is_stream:
            next_state = LEAVING
        elif not task.close_on_finish:
            next_state = READING
        else:
            next_state = REJECTING if is_rejected else ENDING
        self._end_request(task, next_state)

    def _end_request(self, task: Task | JsonErrorTask, next_state: State) -> None:
        with self.requests_lock:
            self.requests = []
            must_wake = self._state is PAUSED or bool(self._rest)
            if self._state is not CLOSED:
                self._state = next_state
            if self._state is REJECTING:
                self._begin_dropping()
                must_wake = True
            is_leaving = self._state is LEAVING
            self._stream = task if is_leaving else None
            must_wake = must_wake or self.writable()
        if task.take_over is not None and not is_leaving:
            task.take_over(None, False)
        if must_wake:
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
        self.write_soon(self._wrap_rest(body, size - len(head)))

    def _wrap_rest(self, body: bytes, start: int) -> Any:
        """The rest that the loop sends. waitress would write a large body to a temporary file."""
        if len(body) - start < self.adj.outbuf_overflow:
            return body[start:]
        return UnsentBody(body, start)

    def _wake_loop(self) -> None:
        fd = self._fileno
        if fd is not None and self.connected:
            self.server.event_loop.change(fd)
            self.server.pull_trigger()

    def write_soon(self, data: bytes | ReadOnlyFileBasedBuffer) -> int:
        try:
            size = int(super().write_soon(data))
        except OSError:  # the disk of temporary files is full: the response ends here
            self.will_close = True
            raise
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

    def measure_idleness(self, now: float) -> float:
        """To call every second: for how many seconds the connection has waited for a request.
        `now` is time.monotonic(); the clock of `last_activity` may jump."""
        if self.is_busy or self.last_activity != self._seen_activity:
            self._seen_activity, self._idle_since = self.last_activity, now
        return now - self._idle_since

    @property
    def is_last_response(self) -> bool:
        """Whether the connection should end because the service is about to stop."""
        return self.server.is_draining and not self._rest

    def parser_class(self, adj: Any) -> Parser:
        return Parser(adj, self.server.body_limits, self.addr[0])

    def received(self, data: bytes) -> None:
        with self.requests_lock:
            self._parse(data)

    def _parse(self, data: bytes) -> None:
        """Parses one request. The bytes after it wait for its response: parsing many small requests
        at once would block the thread that reads for all connections."""
        while data and self.connected and self._state is READING:
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

    def _finish_request(self, request: Parser) -> None:
        self.request, self.must_end_at = None, None
        if not request.empty:
            self._state = RUNNING
            self._linger_bytes = MAX_IMPORT_BYTES if request.has_large_limit else MAX_LINGER_BYTES
            self.requests.append(request)
            self.server.add_task(self)

    def readable(self) -> bool:
        """False while a request runs: then its worker wakes the loop at the end."""
        with self.requests_lock:
            if self._state is RUNNING:
                self._state = PAUSED
        if self._state is READING:
            return not (self._rest or self.will_close or self.total_outbufs_len)
        # The end of what the client sends would close the connection before the response is sent.
        return self._state is REJECTING and not self.total_outbufs_len

    def is_read_too_slowly(self, now: float) -> bool:
        """Whether a response waits for a client that is too slow, see ReadingPace. `now` is
        time.monotonic(). waitress closes no connection before its last byte."""
        has_worker = bool(self.requests)
        if self.total_outbufs_len < (self.adj.send_bytes if has_worker else 1):
            self._pace.reset()
            return False
        return self._pace.is_too_slow(self.socket, now, has_worker=has_worker)

    def writable(self) -> bool:
        if self._state is READING and self._rest:
            return True
        return bool(super().writable() or self._state in (ENDING, LEAVING))

    def handle_read(self) -> None:
        if self._state is not REJECTING:
            super().handle_read()
            return
        try:
            self._linger_bytes -= len(self.recv(65_536))  # closes at the end of the stream
        except OSError:
            self.handle_close()
        self.must_end_at = min(time.monotonic() + LINGER_SECONDS, self._linger_end)
        if self._linger_bytes < 0 and self.connected:
            self.handle_close()

    def handle_write(self) -> None:
        if self.requests and self.total_outbufs_len < self.adj.send_bytes:
            # waitress doesn't send it while a request runs, so the loop would not sleep.
            self._flush_exception(self._flush_some_if_lockable)
        super().handle_write()
        if not self.connected or self.total_outbufs_len:
            return
        if self._state is ENDING:
            self.handle_close()
        elif self._state is REJECTING:
            self._shut_down()
        elif self._state is LEAVING:
            self._leave()
        elif self._state is READING and self._rest:
            # Not in the worker of the response: this thread may flush without a lock while no
            # request is running.
            with self.requests_lock:
                self._parse(self._rest)

    def _leave(self) -> None:
        """Hands the connection over and forgets it."""
        stream, self._stream = self._stream, None
        sock, self.socket = self.socket, None
        self.handle_close()
        stream.take_over(sock, stream.chunked_response)

    def _begin_dropping(self) -> None:
        """If the connection closed while the client still sends, the client would see a reset
        instead of the response."""
        self._rest = b""  # the body of a rejected request must not run as a request
        self.must_end_at = self._linger_end = time.monotonic() + MAX_LINGER_SECONDS
        if not self.total_outbufs_len:
            self._shut_down()

    def _shut_down(self) -> None:
        """Tells the client that the response has ended."""
        self.must_end_at = min(time.monotonic() + LINGER_SECONDS, self._linger_end)
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_WR)

    def handle_expt(self) -> None:
        """Closes the connection on urgent data, which would keep the loop busy."""
        self.handle_close()

    def handle_close(self) -> None:
        request, self.request, self._rest = self.request, None, b""
        if request is not None:
            request.close()
        with self.requests_lock:  # a worker may end a request in this moment
            self._state, stream, self._stream = CLOSED, self._stream, None
        if stream is not None:
            stream.take_over(None, False)
        super().handle_close()

    def del_channel(self, map: Any = None) -> None:
        super().del_channel(map)
        key, self.connection_key = self.connection_key, ""
        if key:
            self.server.connections.release(key)
