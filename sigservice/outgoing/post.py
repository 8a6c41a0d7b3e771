"""A POST or GET to an external web server: checked, bounded in time and size, no redirects."""

from __future__ import annotations

import math
import socket
import threading
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from types import MappingProxyType
from typing import Any, NamedTuple

from sigservice.late import (
    http_client,
    urllib3,
    urllib3_connection,
    urllib3_exceptions,
    urllib3_util,
)
from sigservice.log import escape_line
from sigservice.outgoing import proxies as proxy_rules
from sigservice.outgoing.addresses import (
    AddressPolicy,
    DestinationError,
    check_address,
    check_port,
    check_through_proxy,
    parse_ip,
    resolve,
)
from sigservice.outgoing.proxies import Proxies

CONNECT_SECONDS = 5.0
TOTAL_SECONDS = 15.0
MAX_BYTES = 65_536  # of the response, by default


class DeliveryError(Exception):
    """No response came. The text has the reason, but not the URL, which may be secret."""


class Response(NamedTuple):
    """`body` ends after `max_bytes`, when the time is over or the connection is lost: it is not
    complete then. It is encoded as `encoding` says. `date` is the clock of the server."""

    status: int
    retry_after: str
    body: bytes
    is_complete: bool = True
    date: str = ""
    etag: str = ""
    encoding: str = ""


class Target(NamedTuple):
    """The parts of a URL."""

    url: urllib3_util.Url
    scheme: str
    host: str
    port: int


def parse_target(url: str, policy: AddressPolicy) -> Target:
    """Raises DestinationError if the URL is not one of a web server, or the policy refuses it."""
    if not url.isascii() or not url.isprintable() or " " in url or "\\" in url:
        raise DestinationError("A URL must consist of ASCII characters without spaces.")
    try:
        parts = urllib3_util.parse_url(url)
    except urllib3_exceptions.LocationParseError:
        raise DestinationError("This is not a valid URL.") from None
    if parts.scheme not in ("http", "https"):
        raise DestinationError("The URL must begin with https:// or http://.")
    if not parts.host:
        raise DestinationError("The URL must have a host.")
    if parts.auth is not None:
        raise DestinationError("The URL must not contain a username or password.")
    host = parts.host.strip("[]").replace("%25", "%", 1)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    check_port(host, port, policy)
    address = parse_ip(host)
    if address is not None:
        check_address(host, address, policy)
    return Target(parts, parts.scheme, host, port)


def moves_elsewhere(old_url: str, new_url: str) -> bool:
    """Whether scheme, host or port differ."""
    everything = AddressPolicy(allow_private=True, allowed_hosts=("0.0.0.0/0", "::/0"))
    try:
        old, new = (parse_target(url, everything) for url in (old_url, new_url))
    except DestinationError:
        return True
    return (old.scheme, old.host.lower(), old.port) != (new.scheme, new.host.lower(), new.port)


def post(url: str, body: bytes, headers: Mapping[str, str], **options: Any) -> Response:
    """One request: HttpConnection.request has the options, and what it raises."""
    with HttpConnection() as connection:
        return connection.request(url, body, headers, **options)


def get(url: str, *, headers: Mapping[str, str] = MappingProxyType({}), **options: Any) -> Response:
    """Like `post`."""
    with HttpConnection() as connection:
        return connection.request(url, None, headers, **options)


class HttpConnection:
    """Sends requests, one after another, and keeps the connection for the next one if that goes to
    the same server. For one thread."""

    def __init__(self) -> None:
        self._key: object = None  # what the connection can be used for
        self._target: tuple[str, AddressPolicy, Target] | None = None  # of the last request
        self._urlopen: Callable[..., Any] = lambda: None
        self._opened: list[urllib3_connection.HTTPConnection] = []
        self._ends_at, self._is_timed_out = math.inf, False
        self._closed = threading.Event()
        self._watch: threading.Thread | None = None

    def __enter__(self) -> HttpConnection:
        return self

    def __exit__(self, *error: object) -> None:
        self._closed.set()
        self._drop()

    def request(
        self,
        url: str,
        body: bytes | None,
        headers: Mapping[str, str],
        *,
        policy: AddressPolicy,
        proxies: Proxies,
        seconds: float = TOTAL_SECONDS,
        max_bytes: int = MAX_BYTES,
        ca_file: str | None = None,
    ) -> Response:
        """Takes at most `seconds`. Without a body it is a GET. `ca_file` replaces the certificate
        authorities of the system. Raises DestinationError, DeliveryError."""
        if self._target is None or self._target[:2] != (url, policy):
            self._target = url, policy, parse_target(url, policy)
        target = self._target[2]
        self._ends_at, self._is_timed_out = time.monotonic() + seconds, False
        if self._watch is None:
            self._watch = threading.Thread(target=self._cut_late, name="request", daemon=True)
            self._watch.start()
        try:
            proxy = proxies.find(target.scheme, target.host, target.port)
            if proxy:
                check_through_proxy(target.host, target.port, policy, seconds)
            key = (proxy, target.scheme, target.host, target.port, policy, ca_file)
            send = _Request(target, body, headers, seconds, max_bytes)
            if key == self._key and self._is_open():
                try:
                    return (
                        self._send_again(send) if not proxy else self._send(send, is_proxied=True)
                    )
                except (urllib3_exceptions.ProtocolError, ConnectionError) as error:
                    is_closed = isinstance(error, ConnectionError) or isinstance(
                        error.args[-1], ConnectionError
                    )
                    if self._is_timed_out or not is_closed:
                        raise  # else the server had closed a connection that it didn't use
            return self._connect(key, proxy, send, policy, ca_file)
        except socket.gaierror:
            raise DeliveryError("The hostname can't be resolved.") from None
        except (
            urllib3_exceptions.HTTPError,
            http_client.HTTPException,
            OSError,
            ValueError,
        ) as error:
            self._drop()
            if self._is_timed_out:
                raise DeliveryError(f"No response within {seconds:.0f} s.") from None
            raise DeliveryError(_describe_error(error, seconds)) from None
        finally:
            self._ends_at = math.inf

    def _connect(
        self,
        key: object,
        proxy: str,
        request: _Request,
        policy: AddressPolicy,
        ca_file: str | None,
    ) -> Response:
        """Connects to the address that was checked, so that a second look-up can't change it."""
        target = request.target
        if proxy:
            self._use_proxy(key, proxy, target, ca_file)
            return self._send(request, is_proxied=True)
        addresses = resolve(target.host, target.port, policy, request.seconds)
        for n, address in enumerate(addresses, 1):
            pool: urllib3.HTTPConnectionPool
            if target.scheme == "https":
                pool = urllib3.HTTPSConnectionPool(
                    address,
                    target.port,
                    server_hostname=target.host,
                    assert_hostname=target.host,
                    ca_certs=ca_file,
                )
            else:
                pool = urllib3.HTTPConnectionPool(address, target.port)
            self._use(key, pool, pool.urlopen)
            try:
                return self._send(request, is_proxied=False)
            except (urllib3_exceptions.ConnectTimeoutError, urllib3_exceptions.NewConnectionError):
                if n == min(len(addresses), 2):
                    raise
        raise DeliveryError("The hostname has no address.")

    def _use_proxy(self, key: object, proxy: str, target: Target, ca_file: str | None) -> None:
        """The proxy resolves the name again, possibly to another address."""
        try:
            manager = proxy_rules.make_manager(proxy, ca_certs=ca_file)
        except (urllib3_exceptions.HTTPError, ValueError):
            raise DeliveryError("The configured proxy can't be used.") from None
        pool = manager.connection_from_host(target.url.host, target.port, target.scheme)
        self._use(key, pool, manager.urlopen)

    def _use(
        self, key: object, pool: urllib3.HTTPConnectionPool, urlopen: Callable[..., Any]
    ) -> None:
        self._drop()
        connection_class: Any = pool.ConnectionCls

        def connect(**options: Any) -> urllib3_connection.HTTPConnection:
            self._opened.append(connection_class(**options))
            return self._opened[-1]

        pool.ConnectionCls = connect  # type: ignore[assignment]
        self._key, self._urlopen = key, urlopen

    def _is_open(self) -> bool:
        """Only the first connection is kept: its address was checked."""
        return len(self._opened) == 1 and self._opened[0].is_connected

    def _send(self, request: _Request, *, is_proxied: bool) -> Response:
        url = request.target.url
        headers = request.headers if is_proxied else {"Host": url.netloc or "", **request.headers}
        response: urllib3.HTTPResponse = self._urlopen(
            "GET" if request.body is None else "POST",
            url.url if is_proxied else url.request_uri,
            body=request.body,
            headers=headers,
            redirect=False,
            retries=False,
            timeout=urllib3_util.Timeout(connect=CONNECT_SECONDS, total=request.seconds),
            preload_content=False,
            decode_content=False,
        )
        return self._read(response, request)

    def _send_again(self, request: _Request) -> Response:
        """On the kept connection, without urllib3's pool and in one packet: a third of the cost."""
        connection = self._opened[0]
        connection.sock.settimeout(request.seconds)
        connection.sock.sendall(_encode(request))
        response = http_client.HTTPResponse(connection.sock)
        response.begin()
        result = self._read(response, request)
        if response.will_close:
            self._drop()
        return result

    def _read(
        self, response: urllib3.HTTPResponse | http_client.HTTPResponse, request: _Request
    ) -> Response:
        if self._is_timed_out:  # headers that were cut look like a response
            raise urllib3_exceptions.HTTPError
        content, is_complete = b"", False
        try:
            content = response.read(request.max_bytes)
            is_complete = not response.read(1)  # raises if the server promised more
        except (urllib3_exceptions.HTTPError, http_client.HTTPException, OSError):
            pass  # the status is known
        if not is_complete:
            self._drop()
        fields = response.headers
        return Response(
            response.status,
            fields.get("Retry-After", ""),
            content,
            is_complete and not self._is_timed_out,
            fields.get("Date", ""),
            fields.get("ETag", ""),
            fields.get("Content-Encoding", "").strip().lower(),
        )

    def _cut_late(self) -> None:
        """Closes the connection when the time of a request is over, so that a slow server can't
        prolong it. A thread of its own: it costs as much for one request as for many."""
        while not self._closed.wait(max(0.0, min(self._ends_at - time.monotonic(), 1.0))):
            if time.monotonic() >= self._ends_at:
                self._is_timed_out, self._ends_at = True, math.inf
                for connection in self._opened:
                    _shut_down(connection)

    def _drop(self) -> None:
        self._key, opened, self._opened = None, self._opened, []
        for connection in opened:
            connection.close()


class _Request(NamedTuple):
    target: Target
    body: bytes | None
    headers: Mapping[str, str]
    seconds: float
    max_bytes: int


def _encode(request: _Request) -> bytes:
    """Raises ValueError for a line break in a header."""
    url, body = request.target.url, request.body
    headers = {"Host": url.netloc, "Accept-Encoding": "identity", **request.headers}
    if body is not None:
        headers["Content-Length"] = str(len(body))
    head = "\r\n".join(f"{name}: {value}" for name, value in headers.items())
    if head.count("\r") + head.count("\n") != 2 * (len(headers) - 1):
        raise ValueError("A header contains a line break.")
    method = "GET" if body is None else "POST"
    return f"{method} {url.request_uri} HTTP/1.1\r\n{head}\r\n\r\n".encode("latin-1") + (
        body or b""
    )


def _shut_down(connection: urllib3_connection.HTTPConnection) -> None:
    try:
        if connection.sock is not None:
            connection.sock.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass


def _describe_error(error: Exception, seconds: float) -> str:
    """Not urllib3's own messages: they contain the URL."""
    if isinstance(error, urllib3_exceptions.ProxyError):
        return "The proxy can't be reached or refuses the connection."
    if isinstance(error, urllib3_exceptions.NewConnectionError):
        cause = error.__cause__ or error.__context__
        reason = getattr(cause, "strerror", None)
        return escape_line(f"Connection failed: {reason}." if reason else "Connection failed.")
    if isinstance(error, urllib3_exceptions.ConnectTimeoutError):
        return f"No connection within {CONNECT_SECONDS:.0f} s."
    if isinstance(error, urllib3_exceptions.ReadTimeoutError | TimeoutError):
        return f"No response within {seconds:.0f} s."
    if isinstance(error, urllib3_exceptions.SSLError):
        reason = getattr(error.args[0] if error.args else None, "verify_message", None)
        return escape_line(f"TLS failed: {reason}." if reason else "TLS failed.")
    return "The connection was closed, or the response is not HTTP."


def parse_retry_after(text: str, now: datetime, limit: timedelta) -> timedelta:
    """The pause that the header (seconds or an HTTP date) requests, at most `limit`; zero for an
    empty or invalid one."""
    try:
        if text.isascii() and text.isdigit():
            pause = timedelta(seconds=int(text[:9]))
        else:
            at = parsedate_to_datetime(text)
            pause = (at if at.tzinfo else at.replace(tzinfo=UTC)) - now
    except (ValueError, OverflowError):
        return timedelta(0)
    return max(timedelta(0), min(pause, limit))
