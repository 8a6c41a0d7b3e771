"""Server-sent events (WHATWG HTML, 9.2) on a connection that one thread writes to."""

import contextlib
import socket
import time

HEADERS = {
    "Content-Type": "text/event-stream; charset=utf-8",
    "Cache-Control": "no-cache",
    "X-Accel-Buffering": "no",  # nginx would collect events before it sends them
}
PING = b": ping\n\n"
SLOW_SECONDS = 10  # that the client may take to read the bytes that it was sent
MAX_PENDING_BYTES = 4 * 2**20
MAX_RECEIVED_BYTES = 65_536  # a client of a stream has nothing more to say
DEAD_MILLISECONDS = 30_000  # then the system ends a connection to a peer that went away


def write_event(data: bytes, *, event_id: int | None = None, name: str = "") -> bytes:
    """One event; `data` is a single line. Clients don't keep the ID of an event without data."""
    head = (f"id: {event_id}\n" if event_id is not None else "") + (
        f"event: {name}\n" if name else ""
    )
    return head.encode() + b"data: " + data + b"\n\n"


class EventConnection:
    """A socket whose response has begun. Only one thread uses it. It never blocks."""

    def __init__(self, sock: socket.socket, *, is_chunked: bool) -> None:
        """If `is_chunked`, the response has chunks (HTTP/1.1); otherwise it ends with the
        connection."""
        self.socket, self._is_chunked = sock, is_chunked
        self._pending = bytearray()
        self._pending_since = 0.0
        self._received_bytes = 0
        self.sent_at = time.monotonic()  # of the last message
        sock.setblocking(False)
        if sock.family != socket.AF_UNIX:
            with contextlib.suppress(OSError, AttributeError):  # Linux only
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, DEAD_MILLISECONDS)

    @property
    def pending_bytes(self) -> int:
        """The bytes that the socket did not take yet. While there are any, the caller must wait
        until the socket is writable."""
        return len(self._pending)

    def send(self, message: bytes) -> bool:
        """Sends what the socket takes now and keeps the rest; False if the connection must end."""
        self.sent_at = time.monotonic()
        part = b"%x\r\n%b\r\n" % (len(message), message) if self._is_chunked else message
        if self._pending:
            self._pending += part
            return len(self._pending) <= MAX_PENDING_BYTES
        return self._write(part)

    def flush(self) -> bool:
        """Continues to send; False if the connection must end."""
        part, self._pending = self._pending, bytearray()
        return self._write(part)

    def _write(self, part: bytes | bytearray) -> bool:
        try:
            size = self.socket.send(part)
        except BlockingIOError:
            size = 0
        except OSError:
            return False
        if size < len(part):
            self._pending = bytearray(memoryview(part)[size:])
            self._pending_since = self._pending_since or time.monotonic()
        else:
            self._pending_since = 0.0
        return True

    def is_slow(self, now: float) -> bool:
        """Whether the client hasn't read for SLOW_SECONDS; `now` is time.monotonic()."""
        return bool(self._pending) and now - self._pending_since > SLOW_SECONDS

    def drop_input(self) -> bool:
        """Drops what the client sends; False if it has closed the connection or sends too much."""
        try:
            data = self.socket.recv(4096)
        except BlockingIOError:
            return True
        except OSError:
            return False
        self._received_bytes += len(data)
        return bool(data) and self._received_bytes <= MAX_RECEIVED_BYTES

    def close(self, *, orderly: bool = False) -> None:
        """Ends the response if `orderly`, and closes the connection."""
        with contextlib.suppress(OSError):
            if orderly and self._is_chunked and not self._pending:
                self.socket.send(b"0\r\n\r\n")
            self.socket.shutdown(socket.SHUT_WR)
        self.socket.close()
