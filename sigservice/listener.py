"""waitress with what it lacks: JSON for what it refuses itself, no ambiguous framing, a bound on
how long a request may take to arrive, and a stop that lets running requests finish.

Relies on attributes of waitress 3 that are no documented interface (active_channels,
total_outbufs_len, will_close, channel_class, error_task_class, parser_class); tests/server holds
each of them.
"""

from __future__ import annotations

import contextlib
import logging
import os
import socket
import time
import uuid
from typing import Any

import msgspec
from waitress import wasyncore
from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser, ParsingError
from waitress.server import create_server
from waitress.task import ErrorTask

from sigservice.errors import StartError
from sigservice.log import Forward, Logger

ARRIVAL_SECONDS = 30
LARGEST_BODY = 1_100_000
_NAMES = {
    400: "BadDataError",
    413: "ContentTooLargeError",
    431: "HeadersTooLargeError",
    501: "NotImplementedError",
}


class _JsonErrorTask(ErrorTask):  # type: ignore[misc]
    def execute(self) -> None:
        error = self.request.error
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
            ("X-Content-Type-Options", "nosniff"),
        ]
        self.set_close_on_finish()
        self.content_length = len(body)
        self.write(body)


class _Parser(HTTPRequestParser):  # type: ignore[misc]
    """Refuses what two parsers could read in two ways (RFC 9112, 6.1 and 6.3)."""

    def parse_header(self, header_plus: bytes) -> None:
        names = [line.split(b":", 1)[0].strip().lower() for line in header_plus.split(b"\n")[1:]]
        codings, lengths = names.count(b"transfer-encoding"), names.count(b"content-length")
        if codings > 1 or lengths > 1 or (codings and lengths):
            raise ParsingError("Content-Length and Transfer-Encoding are ambiguous")
        if names.count(b"host") > 1:
            raise ParsingError("Several Host headers")
        super().parse_header(header_plus)


class _Channel(HTTPChannel):  # type: ignore[misc]
    parser_class = _Parser
    error_task_class = _JsonErrorTask
    arriving_since: float | None = None

    def received(self, data: bytes) -> bool:
        took = bool(super().received(data))
        if self.request is None:
            self.arriving_since = None
        elif self.arriving_since is None:
            self.arriving_since = time.monotonic()
        return took


class Listener:
    """Bound after construction; `run()` serves until `ask_to_stop()`, then drains."""

    def __init__(self, app: Any, config: dict[str, Any], logger: Logger) -> None:
        """Raises StartError when the address can't be bound."""
        settings = config["server"]
        self._grace = settings["gracefulShutdownTimeout"] / 1000
        self._pipe: str | None = settings["pipe"]
        self._map: dict[int, Any] = {}
        self._stopping: float | None = None
        _forward_logs(logger)
        try:
            self._server = create_server(
                app,
                map=self._map,
                **_bind(settings),
                threads=max(8, config["db"]["pool"]["max"] * 2),
                connection_limit=1000,
                channel_timeout=config["keepAliveTimeout"] or 10**9,
                cleanup_interval=1,
                asyncore_use_poll=True,
                max_request_body_size=max(LARGEST_BODY, config["signals"]["payloadLimit"] * 2),
                max_request_header_size=32_768,
                clear_untrusted_proxy_headers=False,  # web/client_ip.py reads them, nobody else
                log_socket_errors=False,
                ident=None,
            )
        except (OSError, ValueError) as error:
            where = self._pipe or f"{settings['host'] or 'all addresses'}, port {settings['port']}"
            reason = getattr(error, "strerror", None) or error
            raise StartError(f"Can't listen on {where}: {reason}.") from error
        self._servers = [d for d in self._map.values() if hasattr(d, "active_channels")]
        for server in self._servers:
            server.channel_class = _Channel
        # With the default of 1 head and body go out separately, which costs half of the
        # throughput (bench/signals.py); set here because the argument is deprecated.
        self._server.adj.send_bytes = 18_000

    @property
    def port(self) -> int | None:
        """None for a unix socket."""
        return None if self._pipe else int(self._server.effective_port)

    def ask_to_stop(self) -> None:
        """From any thread or a signal handler; returns at once."""
        if self._stopping is None:
            self._stopping = time.monotonic()
        for server in self._servers:
            with contextlib.suppress(OSError):
                server.pull_trigger()

    def run(self) -> int:
        """Serves until asked to stop; returns how many connections had to be cut."""
        looked = time.monotonic()
        while self._stopping is None:
            self._loop(1.0)
            if time.monotonic() - looked >= 1:
                looked = time.monotonic()
                self._cut_slow(looked)
        return self._drain(self._stopping + self._grace)

    def close(self) -> None:
        """For a listener that never ran."""
        self._server.task_dispatcher.shutdown(cancel_pending=True, timeout=0.1)
        wasyncore.close_all(self._map, ignore_all=True)
        self._remove_pipe()

    def _drain(self, deadline: float) -> int:
        for server in self._servers:  # the listening socket only: workers need the trigger
            server.accepting = False
            server.del_channel(self._map)
            server.socket.close()
        while self._channels() and time.monotonic() < deadline:
            for channel in self._channels():
                if not (channel.requests or channel.total_outbufs_len):
                    channel.will_close = True
            self._loop(min(0.05, max(0.0, deadline - time.monotonic())))
        cut = self._channels()
        for channel in cut:
            channel.handle_close()
        self.close()
        return len(cut)

    def _cut_slow(self, now: float) -> None:
        """channel_timeout counts from the last byte, so a dribbling client would never end."""
        for channel in self._channels():
            since = channel.arriving_since
            if since is not None and now - since > ARRIVAL_SECONDS:
                channel.handle_close()

    def _channels(self) -> list[Any]:
        return [c for server in self._servers for c in list(server.active_channels.values())]

    def _loop(self, seconds: float) -> None:
        wasyncore.loop(timeout=seconds, map=self._map, use_poll=True, count=1)

    def _remove_pipe(self) -> None:
        if self._pipe:
            with contextlib.suppress(OSError):
                os.unlink(self._pipe)


def _bind(settings: dict[str, Any]) -> dict[str, Any]:
    """create_server's address arguments: a unix socket, or one TCP socket made here, because
    waitress itself does not listen on IPv6 and IPv4 at once on one port."""
    if settings["pipe"]:
        return {"unix_socket": settings["pipe"], "unix_socket_perms": "600"}
    host, port = settings["host"], settings["port"]
    if host in (None, "::") and socket.has_dualstack_ipv6():
        with contextlib.suppress(OSError):
            return {"sockets": [_socket(("", port), socket.AF_INET6, dualstack=True)]}
    if host is None:
        return {"sockets": [_socket(("", port), socket.AF_INET)]}
    family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    return {"sockets": [_socket(address[:2], family)]}


def _socket(address: Any, family: int, dualstack: bool = False) -> socket.socket:
    return socket.create_server(address, family=family, dualstack_ipv6=dualstack, backlog=1024)


def _forward_logs(logger: Logger) -> None:
    """waitress's few lines go where ours go; its warning for each queued task is noise."""
    for name in ("waitress", "waitress.queue"):
        library = logging.getLogger(name)
        library.propagate = False
        library.handlers = [Forward(logger)]
        library.setLevel(logging.ERROR)
