"""waitress's reading of requests, made strict: JSON for what it refuses itself, no framing that
two servers could understand in two ways, no urgent data.
"""

from __future__ import annotations

import time
import uuid
from typing import Any

import msgspec
from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser, ParsingError, TransferEncodingNotImplemented
from waitress.receiver import ChunkedReceiver
from waitress.task import ErrorTask, WSGITask
from waitress.utilities import BadRequest

_TLS = b"\x16\x03"  # how a handshake begins
_FRAMING = (b"transfer-encoding", b"content-length")
_NAMES = {
    400: "BadDataError",
    413: "ContentTooLargeError",
    431: "HeadersTooLargeError",
    501: "NotImplementedError",
}


class JsonErrorTask(ErrorTask):  # type: ignore[misc]
    def execute(self) -> None:
        error, path = self.request.error, getattr(self.request, "path", "")
        name = _NAMES.get(error.code, "InternalError")
        body = msgspec.json.encode(
            {
                "id": str(uuid.uuid4()),
                "name": name,
                "message": error.reason,
                "details": [{"message": error.reason}],
            }
        )
        self.status = f"{error.code} {error.reason}"
        self.response_headers += [
            ("Content-Type", "application/json; charset=utf-8"),
            ("Cache-Control", "no-store"),
            *self.channel.server.refusal_headers(path, self.request.headers.get("ORIGIN", "")),
        ]
        self.set_close_on_finish()
        self.content_length = len(body)
        self.write(body)
        method = getattr(self.request, "command", "")
        self.channel.server.log_refusal(method, path, error.code)


class _Chunks(ChunkedReceiver):  # type: ignore[misc]
    """Refuses a line feed without carriage return within a chunk's size line."""

    error: Any

    def received(self, s: bytes) -> int:
        took = 0
        while took < len(s) and not (self.completed or self.error):
            piece = s[took : took + self._room(s, took)]
            line = self.control_line + piece
            if self._in_line() and line.endswith(b"\n") and not line.endswith(b"\r\n"):
                self.error = BadRequest("Invalid chunk size")
                self.all_chunks_received = True
                return took
            took += int(super().received(piece))
        return took

    def _in_line(self) -> bool:
        return not (self.chunk_remainder or self.validate_chunk_end or self.all_chunks_received)

    def _room(self, s: bytes, start: int) -> int:
        """How much of the rest belongs to what is being read: a chunk, its end, a size line."""
        if self.chunk_remainder:
            return int(self.chunk_remainder)
        if self.validate_chunk_end:
            return max(1, 2 - len(self.chunk_end))
        if self._in_line():
            end = s.find(b"\n", start)
            return len(s) if end < 0 else end + 1 - start
        return len(s)


class Parser(HTTPRequestParser):  # type: ignore[misc]
    """Refuses what two parsers could read in two ways (RFC 9112, 2.2, 5.2, 6.1 and 6.3)."""

    body_rcv: Any
    arrived, completed = 0.0, False

    def received(self, data: bytes) -> int:
        is_first = not (self.header_plus or self.headers_finished or self.completed)
        if is_first and data.startswith(_TLS):  # the other side would wait for an answer
            self.error, self.completed = BadRequest("This port speaks no TLS"), True
            return len(data)
        took = int(super().received(data))
        if self.completed and not self.arrived:
            self.arrived = time.monotonic()
        return took

    def parse_header(self, header_plus: bytes) -> None:
        start, *lines = header_plus.split(b"\r\n")
        _check_framing(start, lines)
        try:
            super().parse_header(header_plus)
        except (ParsingError, TransferEncodingNotImplemented):
            raise
        except ValueError as error:  # an address or a number that can't be read
            raise ParsingError("The request can't be read") from error
        if self.chunked:
            self.body_rcv = _Chunks(self.body_rcv.buf)
        options = self.headers.get("CONNECTION", "").lower().split(",")
        if "close" in (option.strip() for option in options):
            self.headers["CONNECTION"] = "close"  # waitress looks for the word alone


def _check_framing(start: bytes, lines: list[bytes]) -> None:
    fields: dict[bytes, list[bytes]] = {}
    for line in lines:
        if line[:1] in (b" ", b"\t"):
            raise ParsingError("Folded header lines are not supported")
        name, _, value = line.partition(b":")
        # Some servers take an underscore for a dash, so it must not hide a framing field.
        fields.setdefault(name.lower().replace(b"_", b"-"), []).append(value.strip(b" \t"))
        if b"_" in name and name.lower().replace(b"_", b"-") in _FRAMING:
            raise ParsingError("A framing header is misspelt")
    codings, lengths = fields.get(_FRAMING[0], []), fields.get(_FRAMING[1], [])
    if len(codings) > 1 or len(lengths) > 1 or (codings and lengths):
        raise ParsingError("Content-Length and Transfer-Encoding are ambiguous")
    if len(fields.get(b"host", [])) > 1:
        raise ParsingError("Several Host headers")
    if lengths and len(lengths[0]) > 100:
        raise ParsingError("Content-Length is invalid")
    if codings:
        words = [word.strip(b" \t").lower() for word in codings[0].split(b",")]
        if not start.endswith(b"HTTP/1.1"):
            raise ParsingError("Transfer-Encoding needs HTTP/1.1")
        if not all(words) or words.count(b"chunked") > 1:
            raise ParsingError("Transfer-Encoding is invalid")


class Task(WSGITask):  # type: ignore[misc]
    _stays_open = False

    def get_environment(self) -> dict[str, Any]:
        """Beside WSGI's keys `sigservice.waited`: seconds that the request was queued."""
        environ: dict[str, Any] = super().get_environment()
        environ["sigservice.waited"] = time.monotonic() - self.request.arrived
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
    parser_class = Parser
    task_class = Task
    error_task_class = JsonErrorTask
    arriving_since: float | None = None

    def handle_expt(self) -> None:
        """Urgent data: nobody reads it, and the loop would never rest while it is there."""
        self.handle_close()

    def received(self, data: bytes) -> bool:
        took = bool(super().received(data))
        if self.request is None:
            self.arriving_since = None
        elif self.arriving_since is None:
            self.arriving_since = time.monotonic()
        return took
