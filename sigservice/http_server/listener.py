"""The listener: waitress with IPv6 and IPv4 on one port, limits on the arrival time of a request
and on connections per address, and a graceful stop.

This package relies on undocumented attributes of waitress.
tests/http_server/waitress_attributes.txt lists all that it uses.
"""

import contextlib
import errno
import logging
import math
import os
import resource
import socket
import time
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from waitress import wasyncore
from waitress.server import create_server

from sigservice.concurrency.quotas import Quotas
from sigservice.concurrency.workers import STALL_SECONDS, Workers
from sigservice.errors import StartError
from sigservice.http_server.channel import Channel
from sigservice.http_server.channel_tasks import build_error_body
from sigservice.http_server.event_loop import EventLoop
from sigservice.http_server.http_parsing import BodyLimits, DecideBody
from sigservice.log import LogForwarder, Logger

MAX_BODY_BYTES = 5_500_000
MAX_CONNECTIONS = 1000
MAX_ACCEPTS = 100
# Total bytes of buffered bodies larger than 16 kB.
MAX_BODIES, MAX_BODIES_OF_CALLER = 128_000_000, 32_000_000
MAX_UNKNOWN_BODIES, MAX_UNKNOWN_BODIES_OF_ADDRESS = 32_000_000, 8_000_000
# A response in parts waits while its client has more than this to read. A part may exceed it.
MAX_UNSENT_BYTES = 1_000_000
SPILL_BYTES = 131_072  # larger bodies are buffered in a file
_OWN_FILES = 64
_WARN_SECONDS = 60
_IDLE_SECONDS = 60.0  # nothing has to be cut


class Callbacks(NamedTuple):
    """The functions of the application that the listener calls.

    `build_refusal_headers(path, origin)` returns the headers of requests that the listener rejects,
    and `log_refusal(method, path, status)` logs them. `decide_body` decides about large bodies, see
    http_parsing.BodyLimits. Connections are counted by `make_connection_key(peer)`, and aren't
    limited with the key "".
    """

    build_refusal_headers: Callable[[str, str], list[tuple[str, str]]]
    log_refusal: Callable[[str, str, int], None]
    decide_body: DecideBody
    make_connection_key: Callable[[str], str]


class Listener:
    """Binds its address; `run()` serves until `request_stop()` and then drains."""

    def __init__(
        self, app: Any, config: dict[str, Any], logger: Logger, callbacks: Callbacks, workers: int
    ) -> None:
        """`workers` is the number of threads that run requests.

        Raises StartError if the address can't be bound.
        """
        settings = config["server"]
        self._grace = settings["gracefulShutdownTimeout"] / 1000
        self._keep_alive: float = config["keepAliveTimeout"] or math.inf
        self._pipe: str | None = settings["pipe"]
        self._loop = EventLoop()
        self._stopping: float | None = None
        self._logger, self._warned = logger, -math.inf
        self._callbacks = callbacks
        self._has_accepted = False
        self._connections = Quotas(per_key=settings["connectionsPerAddress"])
        _forward_logs(logger)
        self._workers = Workers(workers, logger)
        connections, self.max_streams = _share_files(
            config["db"]["pool"]["max"], config["streaming"]["maxStreams"]
        )
        try:
            self._server = create_server(
                app,
                map=self._loop,
                **_build_address_arguments(settings),
                _dispatcher=self._workers,
                connection_limit=connections,
                max_request_body_size=max(MAX_BODY_BYTES, config["signals"]["payloadLimit"] * 2),
                max_request_header_size=32_768,
                inbuf_overflow=SPILL_BYTES,
                outbuf_high_watermark=MAX_UNSENT_BYTES,
                clear_untrusted_proxy_headers=False,  # only web/client_ip.py reads them
                log_socket_errors=False,
                ident=None,
            )
        except (OSError, ValueError) as error:
            self._close_all()
            host, port = settings["host"] or "all addresses", settings["port"]
            where = self._pipe or f"{host}, port {port} (HTTP_HOST, HTTP_PORT)"
            reason = getattr(error, "strerror", None) or error
            raise StartError(f"Can't listen on {where}: {reason}.") from error
        unknown = Quotas(total=MAX_UNKNOWN_BODIES, per_key=MAX_UNKNOWN_BODIES_OF_ADDRESS)
        authenticated = Quotas(total=MAX_BODIES, per_key=MAX_BODIES_OF_CALLER)
        server = self._server
        server.channel_class = self._open_channel
        server.handle_accept = partial(self._accept, server.handle_accept)
        server.handle_close = lambda: None  # waitress would stop listening after an error
        server.maintenance = lambda now: None  # see _close_slow
        server.callbacks = callbacks
        server.body_limits = BodyLimits(callbacks.decide_body, unknown, authenticated)
        server.connections, server.event_loop = self._connections, self._loop
        server.is_draining = False
        # With the default of 1 each piece of a response without length is a system call.
        # Set here because the argument is deprecated.
        server.adj.send_bytes = 18_000

    @property
    def port(self) -> int | None:
        """None for a unix socket."""
        return None if self._pipe else int(self._server.effective_port)

    def close_after_responses(self) -> None:
        """From now on each response closes its connection; new connections are accepted."""
        self._server.is_draining = True

    def request_stop(self) -> None:
        """Requests a stop from any thread or a signal handler; returns at once."""
        self.close_after_responses()
        if self._stopping is None:
            self._stopping = time.monotonic()
        with contextlib.suppress(OSError):
            self._server.pull_trigger()

    def run(self) -> int:
        """Serves until a stop is requested; returns how many busy connections it closed."""
        checked_at = time.monotonic()
        while self._stopping is None:
            pause = 1.0 if self._channels() else _IDLE_SECONDS
            self._loop.run_once(STALL_SECONDS if self._workers.is_busy else pause)
            self._workers.wait(STALL_SECONDS)
            now = time.monotonic()
            self._workers.release_stalled(now)
            if now - checked_at >= 1:
                checked_at = now
                self._close_slow(now)
                self._loop.refresh()
        return self._drain(self._stopping + self._grace)

    def close(self) -> None:
        """Closes a listener that never ran."""
        self._close_all()
        self._remove_pipe()

    def _close_all(self) -> None:
        self._workers.shutdown(timeout=0.1)
        wasyncore.close_all(self._loop, ignore_all=True)
        self._loop.close()

    def _drain(self, deadline: float) -> int:
        for _ in range(2):  # accepts what waits in the backlog, then reads what has arrived
            self._loop.run_once(0)
        self._server.accepting = False
        self._remove_pipe()  # before another process can listen there
        self._server.del_channel(self._loop)
        self._server.socket.close()  # only the listening socket: workers need the trigger
        while self._channels() and time.monotonic() < deadline:
            for channel in self._channels():
                if not channel.is_busy:
                    channel.will_close = True
            self._loop.refresh()
            self._loop.run_once(min(0.05, max(0.0, deadline - time.monotonic())))
            self._workers.wait(STALL_SECONDS)
            self._workers.release_stalled(time.monotonic())
        busy = self._channels()
        for channel in busy:
            channel.handle_close()
        self._close_all()
        return len(busy)

    def _close_slow(self, now: float) -> None:
        """Closes slow and idle connections. waitress would also cut a request or response that
        pauses, and uses the system's clock, which may jump."""
        for channel in self._channels():
            is_late = channel.must_end_at is not None and now > channel.must_end_at
            is_idle = channel.measure_idleness(now) > self._keep_alive
            if is_late or is_idle or channel.is_read_too_slowly(now):
                channel.handle_close()

    def _accept(self, accept_one: Callable[[], None]) -> None:
        """Accepts up to MAX_ACCEPTS connections. waitress accepts one in each round of the loop, so
        under load new connections would wait long."""
        for _ in range(MAX_ACCEPTS):
            self._has_accepted = False
            accept_one()
            if not self._has_accepted or len(self._loop) >= self._server.adj.connection_limit:
                return

    def _open_channel(
        self, server: Any, sock: socket.socket, address: Any, adj: Any, map: Any
    ) -> None:
        """Replaces waitress's channel class: rejects addresses with too many connections."""
        self._has_accepted = True
        key = self._callbacks.make_connection_key(address[0])
        if key and not self._connections.acquire(key):
            self._refuse(sock, key)
            return
        try:
            Channel(server, sock, address, adj, map=map).connection_key = key
        except BaseException:
            self._connections.release(key)
            sock.close()
            raise

    def _refuse(self, sock: socket.socket, key: str) -> None:
        now = time.monotonic()
        if now - self._warned > _WARN_SECONDS:
            self._warned = now
            self._logger.warn(
                "%s has too many connections (SERVICE_CONNECTIONS_PER_ADDRESS): more are rejected",
                key,
            )
        with contextlib.closing(sock), contextlib.suppress(OSError):
            sock.setblocking(False)
            sock.send(
                _build_too_many_connections_response(
                    self._callbacks.build_refusal_headers("/api", "")
                )
            )
            sock.shutdown(socket.SHUT_WR)
            sock.recv(65_536)  # unread bytes would reset the connection before the response is read

    def _channels(self) -> list[Any]:
        return list(self._server.active_channels.values())

    def _remove_pipe(self) -> None:
        if self._pipe:
            with contextlib.suppress(OSError):
                os.unlink(self._pipe)


def _build_too_many_connections_response(headers: list[tuple[str, str]]) -> bytes:
    body = build_error_body(503, "Too many connections from this address")
    fields = [
        ("Content-Type", "application/json; charset=utf-8"),
        ("Content-Length", str(len(body))),
        ("Connection", "close"),
        ("Retry-After", "5"),
        *headers,
    ]
    head = "".join(f"{name}: {text}\r\n" for name, text in fields)
    return f"HTTP/1.1 503 Service Unavailable\r\n{head}\r\n".encode("latin-1") + body


def _build_address_arguments(settings: dict[str, Any]) -> dict[str, Any]:
    """The address arguments for create_server: a unix socket, or one TCP socket created here,
    because waitress can't listen on IPv6 and IPv4 with one port."""
    if settings["pipe"]:
        _check_socket_path(settings["pipe"])
        return {"unix_socket": settings["pipe"], "unix_socket_perms": "600"}
    host, port = settings["host"], settings["port"]
    if host in (None, "::") and socket.has_dualstack_ipv6():
        with contextlib.suppress(OSError):
            return {"sockets": [_create_socket(("", port), socket.AF_INET6, dualstack=True)]}
    if host is None:
        return {"sockets": [_create_socket(("", port), socket.AF_INET)]}
    family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    return {"sockets": [_create_socket(address[:2], family)]}


def _check_socket_path(path: str) -> None:
    """Raises OSError if a process listens there, because waitress would take over the name."""
    with socket.socket(socket.AF_UNIX) as probe:
        with contextlib.suppress(FileNotFoundError, ConnectionRefusedError, NotADirectoryError):
            probe.connect(path)
            raise OSError(errno.EADDRINUSE, os.strerror(errno.EADDRINUSE))


def _share_files(pool_max: int, max_streams: int) -> tuple[int, int]:
    """(maximum number of connections, of streams) that the limit of open files allows beside the
    service's own. Raises the limit first. At the system's limit the loop would spin."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    own = pool_max + _OWN_FILES
    limit = MAX_CONNECTIONS + max_streams + own
    if soft != resource.RLIM_INFINITY and soft < limit:
        soft = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= limit:
        return MAX_CONNECTIONS, max_streams
    streams = min(max_streams, max(0, soft - own) // 2)
    return max(10, min(MAX_CONNECTIONS, soft - own - streams)), streams


def _create_socket(address: Any, family: int, dualstack: bool = False) -> socket.socket:
    return socket.create_server(address, family=family, dualstack_ipv6=dualstack, backlog=1024)


def _forward_logs(logger: Logger) -> None:
    """Forwards errors of waitress to the logger. Its warning for each queued task is noise."""
    for name in ("waitress", "waitress.queue"):
        library = logging.getLogger(name)
        library.propagate = False
        library.handlers = [LogForwarder(logger)]
        library.setLevel(logging.ERROR)
