"""Responses of a connection: the application's, or the error of a rejected request."""

import socket
import time
import uuid
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

import msgspec
from waitress.task import ErrorTask, WSGITask
from waitress.utilities import build_http_date

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
    take_over: None = None
    is_stream = False

    def execute(self) -> None:
        error, path = self.request.error, getattr(self.request, "path", "")
        origin = self.request.headers.get("ORIGIN", "")
        callbacks = self.channel.server.callbacks
        body = build_error_body(error.code, error.reason)
        self.status = f"{error.code} {error.reason}"
        self.response_headers += [
            ("Content-Type", "application/json; charset=utf-8"),
            ("Cache-Control", "no-store"),
            *([("Retry-After", "5")] if error.code == 503 else []),
            *callbacks.build_refusal_headers(path, origin),
        ]
        self.set_close_on_finish()
        self.content_length = len(body)
        self.write(body)
        method = getattr(self.request, "command", "")
        callbacks.log_refusal(method, path, error.code)


# Gets a connection whose response has begun, or None if the client has left before, and whether the
# response is chunked.
TakeOver = Callable[[socket.socket | None, bool], None]


class Task(WSGITask):  # type: ignore[misc]
    close_on_finish: bool
    wrote_header: bool
    chunked_response: bool
    take_over: TakeOver | None = None

    def service(self) -> None:
        """waitress would ignore an OSError, as that of a client that has left: here that is a
        ClientDisconnected."""
        for step in (self.start, self.execute, self.finish):
            step()

    def get_environment(self) -> dict[str, Any]:
        """The WSGI environ, with `sigservice.arrived`, the time.monotonic() of its last byte,
        `sigservice.waited`, the seconds that the request was queued, `sigservice.body_refused`,
        whether the listener did not read its body, and `sigservice.hand_over`, a function: its
        argument takes over the connection after the response."""
        environ: dict[str, Any] = super().get_environment()
        environ["sigservice.arrived"] = self.request.arrived
        environ["sigservice.waited"] = time.monotonic() - self.request.arrived
        environ["sigservice.body_refused"] = self.request.body_refused
        environ["sigservice.hand_over"] = partial(setattr, self, "take_over")
        return environ

    def finish(self) -> None:
        """A stream continues, so it gets no last chunk."""
        if not self.is_stream:
            super().finish()

    @property
    def is_stream(self) -> bool:
        """Whether `take_over` gets the connection. A response with a length is not a stream but an
        error that a wrapper of the application has made."""
        has_end = self.content_length is not None
        return self.take_over is not None and not has_end

    def build_response_header(self) -> bytes:
        """The head. The connection stays open after 204 and 304: waitress closes it because they
        have no length, but they need none (RFC 9112, 6.3), and SDKs get mostly 304."""
        has_body, length = self.has_body, self.content_length
        lines = [f"HTTP/{self.version} {self.status}"]
        has_date = False
        for name, text in self.response_headers:
            lowered = name.lower()
            has_date = has_date or lowered == "date"
            if lowered not in ("content-length", "connection"):
                lines.append(f"{name}: {text}")
        if not has_date:
            lines.append(f"Date: {_format_date(int(self.start_time))}")
        if has_body and length is not None:
            lines.append(f"Content-Length: {length}")
        elif has_body and self.version == "1.1":
            lines.append("Transfer-Encoding: chunked")
            self.chunked_response = True
        connection = self.request.headers.get("CONNECTION", "").lower()
        if self.version == "1.1":
            closes = connection == "close" or self.chunked_response
        else:
            closes = connection != "keep-alive" or not (has_body and length is not None)
        if closes or self.close_on_finish or self.channel.is_last_response:
            self.close_on_finish = True
            lines.append("Connection: close")
        elif self.version == "1.0":
            lines.append("Connection: Keep-Alive")
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")

    def write(self, data: bytes) -> None:
        """Sends head and body together if `data` is the whole body."""
        is_whole = len(data) == self.content_length if data else True
        if self.wrote_header or not self.complete or not is_whole:
            super().write(data)
            return
        head = self.build_response_header()
        self.wrote_header = True
        self.content_bytes_written = len(data)
        self.channel.send_response(head, data if self.has_body else b"")


@lru_cache(maxsize=2)
def _format_date(seconds: int) -> str:
    return str(build_http_date(seconds))
