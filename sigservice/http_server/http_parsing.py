"""Strict HTTP parsing for waitress: no framing that servers could interpret differently, no input
that costs more than its size, no body without a limit.
"""

import re
import time
from collections.abc import Callable, Hashable
from contextlib import suppress
from typing import Any, NamedTuple

from waitress.parser import HTTPRequestParser, ParsingError, TransferEncodingNotImplemented
from waitress.receiver import CHUNK_EXT_RE, ONLY_HEXDIG_RE
from waitress.utilities import BadRequest, Error, RequestHeaderFieldsTooLarge

from sigservice.concurrency.quotas import Quotas

SMALL_BODY_BYTES = 16_384  # read for all callers and paths
MAX_HEADER_LINES = 500
MAX_CHUNK_LINE = 256
MAX_TRAILER = 8192
_TLS = b"\x16\x03"  # how a handshake begins
# Some servers treat an underscore as a dash, so it must not hide a header that frames the body.
_FRAMING = re.compile(rb"\r\n(host|transfer[-_]encoding|content[-_]length):([^\r\n]*)")
_END = b"\r\n\r\n"
_AUTHORITY = re.compile("https?://[^/?#]*", re.IGNORECASE)
_SIGNALS = "/signal-endpoint/"


class BodyPermit(NamedTuple):
    """The maximum body of a request. Its bytes count against the share of `caller`: the key of
    recently verified credentials, else the address, with a smaller share."""

    limit: int
    is_authenticated: bool
    caller: Hashable


DecideBody = Callable[[str, str, str, dict[str, str], str], BodyPermit]


class BodyLimits(NamedTuple):
    """Decides which bodies are buffered.

    `decide(method, path, query, headers, peer)` is called for large bodies only; headers have the
    names of waitress (`CONTENT_LENGTH`).
    """

    decide: DecideBody
    anonymous: Quotas
    authenticated: Quotas


class Busy(Error):  # type: ignore[misc]
    code, reason = 503, "Service Unavailable"


class ChunkedBody:
    """A strict decoder of chunked bodies (RFC 9112, 7.1). Each read costs one pass and one append
    for any number of chunks; the number of small chunks is limited by their bytes."""

    def __init__(self, buf: Any) -> None:
        self.buf, self.completed, self.error = buf, False, None
        self._read_line: Callable[[bytes], None] = self._read_size
        self._line = b""
        self._remainder = self._size = self._chunks = self._trailer = 0

    def __len__(self) -> int:
        return self._size

    def received(self, data: bytes) -> int:
        """The number of bytes of `data` that belong to this body."""
        position, pieces = 0, []
        while position < len(data) and not (self.completed or self.error):
            if self._remainder:
                piece = data[position : position + self._remainder]
                pieces.append(piece)
                position += len(piece)
                self._size += len(piece)
                self._remainder -= len(piece)
            else:
                position = self._find_line(data, position)
        if pieces:
            self.buf.append(b"".join(pieces))
        return position

    def _find_line(self, data: bytes, start: int) -> int:
        end = data.find(b"\n", start, start + MAX_CHUNK_LINE) + 1
        line = self._line + data[start : end or start + MAX_CHUNK_LINE]
        if len(line) > MAX_CHUNK_LINE or (end and not line.endswith(b"\r\n")):
            self._refuse("Invalid chunk")
        elif end:
            self._line = b""
            self._read_line(line[:-2])
        else:
            self._line = line
        return end or min(len(data), start + MAX_CHUNK_LINE)

    def _read_size(self, line: bytes) -> None:
        size, semicolon, extension = line.partition(b";")
        if semicolon and not CHUNK_EXT_RE.match(semicolon + extension):
            self._refuse("Invalid chunk extension")
        elif not ONLY_HEXDIG_RE.match(size):
            self._refuse("Invalid chunk size")
        elif remainder := int(size, 16):
            self._chunks += 1
            if self._chunks > 256 + self._size // 32:
                self._refuse("Too many small chunks")
            self._remainder, self._read_line = remainder, self._read_end
        else:
            self._read_line = self._read_trailer

    def _read_end(self, line: bytes) -> None:
        if line:
            self._refuse("Chunk not properly terminated")
        self._read_line = self._read_size

    def _read_trailer(self, line: bytes) -> None:
        self.completed = not line
        self._trailer += len(line) + 2
        if self._trailer > MAX_TRAILER:
            self._refuse("Trailer too large")

    def _refuse(self, reason: str) -> None:
        self.error = BadRequest(reason)

    def getfile(self) -> Any:
        return self.buf.getfile()

    def getbuf(self) -> Any:
        return self.buf


class Parser(HTTPRequestParser):  # type: ignore[misc]
    """Rejects requests that parsers could interpret differently (RFC 9112, 2.2, 5.2, 6.1, 6.3).

    A body that the route doesn't accept from this caller is not read: the request is complete
    without it (`body_refused`), and the application answers.
    """

    body_rcv: Any
    expect_continue: bool
    arrived, completed, body_refused = 0.0, False, False
    _permit: BodyPermit | None = None
    _shared = 0  # the bytes of the body that count against a share

    def __init__(self, adj: Any, limits: BodyLimits, peer: str = "") -> None:
        super().__init__(adj)
        self._limits, self._peer = limits, peer
        self._head = bytearray()

    @property
    def has_begun(self) -> bool:
        return bool(self._head) or self.headers_finished or self.completed

    @property
    def has_large_limit(self) -> bool:
        """Whether the route accepts large bodies from this caller."""
        return self._permit is not None and self._permit.limit > SMALL_BODY_BYTES

    def received(self, data: bytes) -> int:
        if self.completed:
            return 0
        if self.body_rcv is None:
            consumed = self._receive_head(data)
        else:
            consumed = self._receive_body(data)
            if not self.error:
                self._check_body()
        if self.completed:
            self.expect_continue = False  # waitress would continue reading
            self.arrived = self.arrived or time.monotonic()
        return consumed

    def close(self) -> None:
        with suppress(OSError):  # it writes the rest to the file first
            super().close()
        shared, self._shared = self._shared, 0
        if shared:
            self._find_quotas().release(self._decide().caller, shared)

    def _receive_head(self, data: bytes) -> int:
        """Searches only new bytes for the end of the head; waitress searches all at each read."""
        if not self._head:
            text = data.lstrip(b"\r\n")
            if len(text) < len(data):
                return len(data) - len(text)
            if data.startswith(_TLS):  # the client would wait for a response
                self.error, self.completed = BadRequest("This port doesn't support TLS"), True
                return len(data)
        old_size = len(self._head)
        self._head += data
        is_whole = self._head.find(_END, max(0, old_size - len(_END) + 1)) >= 0
        if not is_whole and len(self._head) < self.adj.max_request_header_size:
            return len(data)
        self.header_plus, self.header_bytes_received = bytes(self._head[:old_size]), old_size
        self._head.clear()
        consumed = int(super().received(data))
        self.header_plus = b""
        return consumed

    def parse_header(self, header_plus: bytes) -> None:
        if header_plus.count(b"\r\n") > MAX_HEADER_LINES:
            self.error, self.completed = RequestHeaderFieldsTooLarge("too many lines"), True
            return
        _check_framing(header_plus)
        try:
            super().parse_header(header_plus)
        except (ParsingError, TransferEncodingNotImplemented):
            raise
        except ValueError as error:  # an invalid address or number
            raise ParsingError("Invalid request") from error
        _check_spelling(self.request_uri, self.path)
        if self.chunked:
            self.body_rcv = ChunkedBody(self.body_rcv.buf)
        if connection := self.headers.get("CONNECTION"):
            options = [option.strip() for option in connection.lower().split(",")]
            if "close" in options:
                self.headers["CONNECTION"] = "close"  # waitress compares the whole value
        if self.content_length > SMALL_BODY_BYTES and self.content_length > self._decide().limit:
            self._refuse_body(self.content_length)

    def _receive_body(self, data: bytes) -> int:
        try:
            return int(super().received(data))
        except OSError:  # the disk of temporary files is full, or there is no such directory
            self._refuse_busy("The request can't be buffered")
            return len(data)

    def _refuse_busy(self, reason: str) -> None:
        self.error, self.completed = Busy(reason), True
        self.close()

    def _check_body(self) -> None:
        size = len(self.body_rcv)
        if size <= SMALL_BODY_BYTES:
            return
        if self.chunked and size > self._decide().limit:
            self._refuse_body(size)
        elif self._find_quotas().acquire(self._decide().caller, size - self._shared):
            self._shared = size
        else:
            self._refuse_busy("Too many large requests")

    def _refuse_body(self, length: int) -> None:
        self.close()
        self.body_rcv, self.content_length = None, 0
        self.headers["CONTENT_LENGTH"], self.headers["CONNECTION"] = str(length), "close"
        self.body_refused = self.completed = True

    def _decide(self) -> BodyPermit:
        if self._permit is None:
            self._permit = self._limits.decide(
                self.command, self.path, self.query, self.headers, self._peer
            )
        return self._permit

    def _find_quotas(self) -> Quotas:
        limits = self._limits
        return limits.authenticated if self._decide().is_authenticated else limits.anonymous


def _check_spelling(target: str, path: str) -> None:
    """Refuses other spellings of the path of signals. A proxy that sends each token to one process,
    which counts its limit, would not recognize `//api` or `/%61pi`, and would take a fragment for a
    part of the token."""
    before, signals, _ = path.partition(_SIGNALS)
    if signals and (
        "//" in before + signals
        or "#" in target
        or not _AUTHORITY.sub("", target, count=1).startswith(before + signals)
    ):
        raise ParsingError("The path must be normalized")


def _check_framing(head: bytes) -> None:
    lowered = head.lower()
    if b"\r\n " in lowered or b"\r\n\t" in lowered:
        raise ParsingError("Folded header lines are not supported")
    fields: dict[bytes, bytes] = {}
    for name, value in _FRAMING.findall(lowered):
        if b"_" in name:
            raise ParsingError("Misspelled framing header")
        if name in fields:
            raise ParsingError(f"More than one {name.decode()} header")
        fields[name] = value.strip(b" \t")
    codings, length = fields.get(b"transfer-encoding"), fields.get(b"content-length")
    if length is not None and len(length) > 100:
        raise ParsingError("Content-Length is invalid")
    if codings is not None:
        words = [word.strip(b" \t") for word in codings.split(b",")]
        if length is not None:
            raise ParsingError("Content-Length and Transfer-Encoding are ambiguous")
        if not head.partition(b"\r\n")[0].endswith(b"HTTP/1.1"):
            raise ParsingError("Transfer-Encoding needs HTTP/1.1")
        if not all(words) or words.count(b"chunked") > 1:
            raise ParsingError("Transfer-Encoding is invalid")
