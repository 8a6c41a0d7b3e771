"""A proxy that passes each answer when it is complete, without headers of its own."""

import contextlib
import re
import socket

from tests.sdk.cutting_proxy import CuttingProxy, close_socket

_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_WITHOUT_BODY = (b"204", b"304")


class BufferingProxy(CuttingProxy):
    def _forward(self, source: socket.socket, target: socket.socket, is_request: bool) -> None:
        pending = b""
        with contextlib.suppress(OSError):
            while data := source.recv(65_536):
                if is_request:
                    self.requests.append(data.partition(b"\r\n\r\n")[0].decode("latin-1"))
                    target.sendall(data)
                    continue
                pending += data
                while size := _find_size(pending):
                    target.sendall(pending[:size])
                    pending = pending[size:]
            target.sendall(pending)
        close_socket(source)
        close_socket(target)


def _find_size(data: bytes) -> int:
    """The size of the first answer, 0 while it is not complete; one without a length ends with its
    connection."""
    head, end, _ = data.partition(b"\r\n\r\n")
    length = 0
    if data[9:12] not in _WITHOUT_BODY:
        match = _LENGTH.search(head)
        if match is None:
            return 0
        length = int(match[1])
    size = len(head) + len(end) + length
    return size if end and len(data) >= size else 0
