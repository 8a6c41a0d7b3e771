"""One POST or GET to an external web server: checked, bounded in time and size, no redirects."""

import socket
import threading
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from urllib3 import HTTPConnectionPool, HTTPResponse, HTTPSConnectionPool
from urllib3.connection import HTTPConnection
from urllib3.exceptions import (
    ConnectTimeoutError,
    HTTPError,
    LocationParseError,
    NewConnectionError,
    ProxyError,
    ReadTimeoutError,
    SSLError,
)
from urllib3.util import Timeout, Url, parse_url

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
    complete then. `date` is the clock of the server."""

    status: int
    retry_after: str
    body: bytes
    is_complete: bool = True
    date: str = ""


class _Limits(NamedTuple):
    seconds: float
    max_bytes: int


class Target(NamedTuple):
    """The parts of a URL."""

    url: Url
    scheme: str
    host: str
    port: int


def parse_target(url: str, policy: AddressPolicy) -> Target:
    """Raises DestinationError if the URL is not one of a web server, or the policy refuses it."""
    if not url.isascii() or not url.isprintable() or " " in url or "\\" in url:
        raise DestinationError("A URL must consist of ASCII characters without spaces.")
    try:
        parts = parse_url(url)
    except LocationParseError:
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


def post(
    url: str,
    body: bytes,
    headers: Mapping[str, str],
    *,
    policy: AddressPolicy,
    proxies: Proxies,
    seconds: float = TOTAL_SECONDS,
    max_bytes: int = MAX_BYTES,
    ca_file: str | None = None,
) -> Response:
    """Takes at most `seconds`. `ca_file` replaces the certificate authorities of the system. Raises
    DestinationError, DeliveryError."""
    limits = _Limits(seconds, max_bytes)
    return _request(url, body, headers, policy, proxies, limits, ca_file)


def get(
    url: str,
    *,
    policy: AddressPolicy,
    proxies: Proxies,
    headers: Mapping[str, str] = MappingProxyType({}),
    seconds: float = TOTAL_SECONDS,
    max_bytes: int = MAX_BYTES,
    ca_file: str | None = None,
) -> Response:
    """Like `post`."""
    return _request(url, None, headers, policy, proxies, _Limits(seconds, max_bytes), ca_file)


def _request(
    url: str,
    body: bytes | None,
    headers: Mapping[str, str],
    policy: AddressPolicy,
    proxies: Proxies,
    limits: _Limits,
    ca_file: str | None,
) -> Response:
    """Without a body it is a GET."""
    target = parse_target(url, policy)
    try:
        proxy = proxies.find(target.scheme, target.host, target.port)
        if proxy:
            check_through_proxy(target.host, target.port, policy)
            return _send_through_proxy(proxy, target, body, headers, limits, ca_file)
        return _send_directly(target, body, headers, policy, limits, ca_file)
    except socket.gaierror:
        raise DeliveryError("The hostname can't be resolved.") from None
    except (HTTPError, OSError, ValueError) as error:
        raise DeliveryError(_describe_error(error, limits.seconds)) from None


def _send_directly(
    target: Target,
    body: bytes | None,
    headers: Mapping[str, str],
    policy: AddressPolicy,
    limits: _Limits,
    ca_file: str | None,
) -> Response:
    """Connects to the address that was checked, so that a second look-up can't change it."""
    addresses = resolve(target.host, target.port, policy)
    headers = {"Host": target.url.netloc or "", **headers}
    for n, address in enumerate(addresses, 1):
        pool: HTTPConnectionPool
        if target.scheme == "https":
            pool = HTTPSConnectionPool(
                address,
                target.port,
                server_hostname=target.host,
                assert_hostname=target.host,
                ca_certs=ca_file,
            )
        else:
            pool = HTTPConnectionPool(address, target.port)
        try:
            return _send(pool, pool.urlopen, target.url.request_uri, body, headers, limits)
        except (ConnectTimeoutError, NewConnectionError):
            if n == min(len(addresses), 2):
                raise
    raise DeliveryError("The hostname has no address.")


def _send_through_proxy(
    proxy: str,
    target: Target,
    body: bytes | None,
    headers: Mapping[str, str],
    limits: _Limits,
    ca_file: str | None,
) -> Response:
    """The proxy resolves the name again, possibly to another address."""
    try:
        manager = proxy_rules.make_manager(proxy, ca_certs=ca_file)
    except (HTTPError, ValueError):
        raise DeliveryError("The configured proxy can't be used.") from None
    pool = manager.connection_from_host(target.url.host, target.port, target.scheme)
    return _send(pool, manager.urlopen, target.url.url, body, headers, limits)


def _send(
    pool: HTTPConnectionPool,
    urlopen: Callable[..., Any],
    target: str,
    body: bytes | None,
    headers: Mapping[str, str],
    limits: _Limits,
) -> Response:
    """Closes the connection when the time is over, so that a slow server can't prolong it."""
    connections: list[HTTPConnection] = []
    connection_class: Any = pool.ConnectionCls

    def connect(**options: Any) -> HTTPConnection:
        connections.append(connection_class(**options))
        return connections[-1]

    pool.ConnectionCls = connect  # type: ignore[assignment]
    is_timed_out = threading.Event()

    def time_out() -> None:
        is_timed_out.set()
        for connection in connections:
            _shut_down(connection)

    timer = threading.Timer(limits.seconds, time_out)
    timer.daemon = True
    timer.start()
    try:
        response: HTTPResponse = urlopen(
            "GET" if body is None else "POST",
            target,
            body=body,
            headers=headers,
            redirect=False,
            retries=False,
            timeout=Timeout(connect=CONNECT_SECONDS, total=limits.seconds),
            preload_content=False,
            decode_content=False,
        )
        if is_timed_out.is_set():  # headers that were cut look like a response
            raise HTTPError
        content, is_complete = b"", False
        try:
            content = response.read(limits.max_bytes)
            is_complete = not response.read(1)  # raises if the server promised more
        except (HTTPError, OSError):
            pass  # the status is known
        fields = response.headers
        return Response(
            response.status,
            fields.get("Retry-After", ""),
            content,
            is_complete and not is_timed_out.is_set(),
            fields.get("Date", ""),
        )
    except (HTTPError, OSError, ValueError):
        if is_timed_out.is_set():
            raise DeliveryError(f"No response within {limits.seconds:.0f} s.") from None
        raise
    finally:
        timer.cancel()
        for connection in connections:
            connection.close()


def _shut_down(connection: HTTPConnection) -> None:
    try:
        if connection.sock is not None:
            connection.sock.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass


def _describe_error(error: Exception, seconds: float) -> str:
    """Not urllib3's own messages: they contain the URL."""
    if isinstance(error, ProxyError):
        return "The proxy can't be reached or refuses the connection."
    if isinstance(error, NewConnectionError):
        cause = error.__cause__ or error.__context__
        reason = getattr(cause, "strerror", None)
        return escape_line(f"Connection failed: {reason}." if reason else "Connection failed.")
    if isinstance(error, ConnectTimeoutError):
        return f"No connection within {CONNECT_SECONDS:.0f} s."
    if isinstance(error, ReadTimeoutError):
        return f"No response within {seconds:.0f} s."
    if isinstance(error, SSLError):
        reason = getattr(error.args[0] if error.args else None, "verify_message", None)
        return escape_line(f"TLS failed: {reason}." if reason else "TLS failed.")
    return "The connection was closed, or the response is not HTTP."
