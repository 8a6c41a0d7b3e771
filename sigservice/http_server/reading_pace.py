"""Checks whether the client of a connection reads its response fast enough."""

import fcntl
import socket
import struct
import termios

MIN_BYTES_PER_SECOND = 1000
SLOW_SECONDS = 10.0
# Systems receive in steps of up to 64 kB, so the bytes that a client has read count for longer.
MAX_CREDIT_SECONDS = 30.0
STALLED_SECONDS = 60.0


class ReadingPace:
    """`sent_bytes` counts the bytes that the socket took. The client has read the bytes that its
    system has confirmed: the system of this machine buffers megabytes, and takes more only when a
    third is free."""

    def __init__(self) -> None:
        self.sent_bytes = 0
        self._read_bytes = 0
        self._must_read_by: float | None = None

    def reset(self) -> None:
        """To call while nothing waits for the client."""
        self._must_read_by = None

    def is_too_slow(self, sock: socket.socket, now: float, *, has_worker: bool) -> bool:
        """To call every second while data waits for the client.

        If a worker may wait to continue the response, the client has SLOW_SECONDS, and a second
        more for each MIN_BYTES_PER_SECOND that it reads. A whole response occupies no worker:
        each byte that the client reads gives it STALLED_SECONDS.
        """
        read_bytes = self.sent_bytes - _count_unread(sock)
        progress, self._read_bytes = read_bytes - self._read_bytes, read_bytes
        if self._must_read_by is None:
            self._must_read_by = now + (SLOW_SECONDS if has_worker else STALLED_SECONDS)
        elif has_worker:
            deadline = self._must_read_by + progress / MIN_BYTES_PER_SECOND
            self._must_read_by = min(deadline, now + MAX_CREDIT_SECONDS)
        elif progress > 0:
            self._must_read_by = now + STALLED_SECONDS
        return now > self._must_read_by


def _count_unread(sock: socket.socket) -> int:
    """The bytes in the socket's buffer that the other system has not confirmed."""
    try:
        size: tuple[int] = struct.unpack("i", fcntl.ioctl(sock, termios.TIOCOUTQ, b"\0" * 4))
    except OSError:
        return 0
    return size[0]
