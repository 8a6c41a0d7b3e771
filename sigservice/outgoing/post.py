"""One POST to somebody's web server: checked, bounded, and never led elsewhere."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Mapping
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
    Reach,
    Refused,
    check_address,
    check_port,
    check_through_proxy,
    literal,
    resolve,
)
from sigservice.outgoing.proxies import Proxies

CONNECT_SECONDS = 5.0
TOTAL_SECONDS = 15.0
MOST_BYTES = 65_536  # of the answer


class Failed(Exception):
    """No answer came; the text says why, without the address that was asked."""


class Answer(NamedTuple):
    """`body` is what came within MOST_BYTES and the time, maybe not all of it."""

    status: int
    retry_after: str
    body: bytes


class Place(NamedTuple):
    """An address that has been taken apart."""

    url: Url
    scheme: str
    host: str
    port: int


def parse(url: str, reach: Reach) -> Place:
    """Raises Refused for what is no address of a web server, or is known to be out of reach."""
    if not url.isascii() or not url.isprintable() or " " in url or "\\" in url:
        raise Refused("An address has none but ASCII characters, and no blanks.")
    try:
        parts = parse_url(url)
    except LocationParseError:
        raise Refused("This is no address.") from None
    if parts.scheme not in ("http", "https"):
        raise Refused("It must begin with https:// or http://.")
    if not parts.host:
        raise Refused("This is no address: there is no host in it.")
    if parts.auth is not None:
        raise Refused("There can't be a name and a password in it.")
    host = parts.host.strip("[]").replace("%25", "%", 1)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    check_port(host, port, reach)
    address = literal(host)
    if address is not None:
        check_address(host, address, reach)
    return Place(parts, parts.scheme, host, port)


def post(
    url: str,
    body: bytes,
    headers: Mapping[str, str],
    *,
    reach: Reach,
    proxies: Proxies,
    seconds: float = TOTAL_SECONDS,
) -> Answer:
    """Raises Refused, Failed. It may take `seconds`."""
    place = parse(url, reach)
    try:
        proxy = proxies.find(place.scheme, place.host, place.port)
        if proxy:
            check_through_proxy(place.host, place.port, reach)
            return _through(proxy, place, body, headers, seconds)
        return _directly(place, body, headers, reach, seconds)
    except socket.gaierror:
        raise Failed("Its name can't be resolved.") from None
    except (HTTPError, OSError, ValueError) as error:
        raise Failed(_reason(error, seconds)) from None


def _directly(
    place: Place, body: bytes, headers: Mapping[str, str], reach: Reach, seconds: float
) -> Answer:
    """Connects to the very address that was checked, so that a name can't change its mind."""
    addresses = resolve(place.host, place.port, reach)
    headers = {"Host": place.url.netloc or "", **headers}
    for n, address in enumerate(addresses, 1):
        pool: HTTPConnectionPool
        if place.scheme == "https":
            pool = HTTPSConnectionPool(
                address, place.port, server_hostname=place.host, assert_hostname=place.host
            )
        else:
            pool = HTTPConnectionPool(address, place.port)
        try:
            return _ask(pool, pool.urlopen, place.url.request_uri, body, headers, seconds)
        except (ConnectTimeoutError, NewConnectionError):
            if n == min(len(addresses), 2):
                raise
    raise Failed("Its name has no address.")


def _through(
    proxy: str, place: Place, body: bytes, headers: Mapping[str, str], seconds: float
) -> Answer:
    """The proxy resolves the name once more, maybe to something else."""
    try:
        manager = proxy_rules.manager(proxy)
    except (HTTPError, ValueError):
        raise Failed("The proxy that the environment names can't be used.") from None
    pool = manager.connection_from_host(place.url.host, place.port, place.scheme)
    return _ask(pool, manager.urlopen, place.url.url, body, headers, seconds)


def _ask(
    pool: HTTPConnectionPool,
    urlopen: Callable[..., Any],
    target: str,
    body: bytes,
    headers: Mapping[str, str],
    seconds: float,
) -> Answer:
    """Whoever answers byte by byte is cut off when the time is over."""
    made: list[HTTPConnection] = []
    build: Any = pool.ConnectionCls

    def connection(**settings: Any) -> HTTPConnection:
        made.append(build(**settings))
        return made[-1]

    pool.ConnectionCls = connection  # type: ignore[assignment]
    is_over = threading.Event()

    def cut() -> None:
        is_over.set()
        for one in made:
            _shut(one)

    timer = threading.Timer(seconds, cut)
    timer.daemon = True
    timer.start()
    try:
        response: HTTPResponse = urlopen(
            "POST",
            target,
            body=body,
            headers=headers,
            redirect=False,
            retries=False,
            timeout=Timeout(connect=CONNECT_SECONDS, total=seconds),
            preload_content=False,
            decode_content=False,
        )
        if is_over.is_set():  # what was cut in the middle of its head looks like an answer
            raise HTTPError
        text = b""
        try:
            text = response.read(MOST_BYTES)
        except (HTTPError, OSError):
            pass  # its status has been said
        return Answer(response.status, response.headers.get("Retry-After", ""), text)
    except (HTTPError, OSError, ValueError):
        if is_over.is_set():
            raise Failed(f"There was no answer within {seconds:.0f} s.") from None
        raise
    finally:
        timer.cancel()
        for one in made:
            one.close()


def _shut(connection: HTTPConnection) -> None:
    try:
        if connection.sock is not None:
            connection.sock.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass


def _reason(error: Exception, seconds: float) -> str:
    """Nothing of urllib3's own words: they hold the address."""
    if isinstance(error, ProxyError):
        return "The proxy can't be reached, or it refuses."
    if isinstance(error, NewConnectionError):
        cause = error.__cause__ or error.__context__
        why = getattr(cause, "strerror", None)
        return escape_line(f"There is no connection: {why}." if why else "There is no connection.")
    if isinstance(error, ConnectTimeoutError):
        return f"There was no connection within {CONNECT_SECONDS:.0f} s."
    if isinstance(error, ReadTimeoutError):
        return f"There was no answer within {seconds:.0f} s."
    if isinstance(error, SSLError):
        why = getattr(error.args[0] if error.args else None, "verify_message", None)
        return escape_line(f"TLS failed: {why}." if why else "TLS failed.")
    return "The connection was cut, or the answer is not HTTP."
