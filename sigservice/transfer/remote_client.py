"""The server that is moved from: its admin API, read with patience. The token is in no message."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

import urllib3
from urllib3.exceptions import HTTPError
from urllib3.util import Retry, Timeout

from sigservice import payload
from sigservice.errors import AppError, StartError
from sigservice.log import escape_line
from sigservice.outgoing import proxies as proxy_rules
from sigservice.outgoing.proxies import Proxies
from sigservice.version import __version__

AT_ONCE = 4
LONGEST_PAUSE = 60.0
_AGAIN = (429, 502, 503, 504)
_NOT_THERE = (400, 402, 403, 404, 405, 501)


class _Patience(Retry):
    """A Retry-After is honoured up to a minute."""

    def get_retry_after(self, response: urllib3.response.BaseHTTPResponse) -> float | None:
        seconds = super().get_retry_after(response)
        return None if seconds is None else min(seconds, LONGEST_PAUSE)


class Source:
    """`url` is the server's, with or without /api. Raises StartError, one line, whenever it can't
    be read."""

    def __init__(
        self, url: str, token: str, *, proxies: Proxies | None = None, pause: float = 0.5
    ) -> None:
        self._base = _base(url)
        token = token.strip()
        if not token or not token.isascii() or not token.isprintable():
            raise StartError("The token is empty or holds characters that no token has.")
        headers = {
            "Authorization": token,
            "Accept": "application/json",
            "Accept-Encoding": "gzip",
            "User-Agent": f"sigservice/{__version__}",
        }
        settings: dict[str, Any] = {
            "headers": headers,
            "maxsize": AT_ONCE,
            "block": True,
            "timeout": Timeout(connect=10, read=60),
            "retries": _Patience(
                total=6,
                connect=1,
                redirect=False,
                allowed_methods=("GET",),
                status_forcelist=_AGAIN,
                backoff_factor=pause,
                raise_on_status=False,
            ),
        }
        self._pool = _pool(self._base, proxies or Proxies(), settings)

    def get(self, *parts: str, **query: str) -> Any:
        """The JSON at the path whose parts these are, below /api/admin."""
        status, value = self._ask(parts, query)
        if status != 200:
            raise StartError(f"{self._where(parts)} answers {status}.")
        return value

    def find(self, *parts: str, **query: str) -> Any | None:
        """None where the server, or the token's owner, has no such thing."""
        status, value = self._ask(parts, query)
        if status in _NOT_THERE:
            return None
        if status != 200:
            raise StartError(f"{self._where(parts)} answers {status}.")
        return value

    def each(self, asks: Iterable[Callable[[], Any]], done: Callable[[], None]) -> list[Any]:
        """The answers in order, several asked for at once."""

        def ask(one: Callable[[], Any]) -> Any:
            answer = one()
            done()
            return answer

        with ThreadPoolExecutor(AT_ONCE) as pool:
            waiting = [pool.submit(ask, one) for one in asks]
            try:
                return [future.result() for future in waiting]
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise

    def _ask(self, parts: tuple[str, ...], query: Mapping[str, str]) -> tuple[int, Any]:
        path = "/".join(quote(part, safe="") for part in parts)
        url = f"{self._base}/api/admin/{path}" + (f"?{urlencode(query)}" if query else "")
        try:
            response = self._pool.request("GET", url, redirect=False)
        except HTTPError as error:
            reason = escape_line(str(getattr(error, "reason", None) or error))[:300]
            raise StartError(f"{self._where(parts)} can't be read: {reason}") from None
        if response.status == 401:
            raise StartError(f"{self._base} does not accept the token (401).")
        if 300 <= response.status < 400:
            raise StartError(
                f"{self._where(parts)} leads elsewhere ({response.status}); "
                "give the address that the server really has."
            )
        if response.status != 200:
            return response.status, None
        try:
            return 200, payload.parse(response.data)
        except AppError as error:
            text = f"{self._where(parts)} gives what can't be read: {error.message}"
            raise StartError(text) from None

    def _where(self, parts: tuple[str, ...]) -> str:
        return escape_line(f"{self._base}/api/admin/{'/'.join(parts)}")


def _base(url: str) -> str:
    try:
        split = urlsplit(url.strip())
        is_good = split.scheme in ("http", "https") and bool(split.hostname) and split.port != 0
    except ValueError:
        is_good = False
    if not is_good:
        raise StartError("--from takes an address such as https://unleash.example.com.")
    if split.username is not None or split.password is not None:
        raise StartError("--from takes an address without a name and a password in it.")
    path = split.path.rstrip("/").removesuffix("/admin").removesuffix("/api")
    return f"{split.scheme}://{split.netloc}{path}"


def _pool(base: str, proxies: Proxies, settings: dict[str, Any]) -> urllib3.PoolManager:
    """Through the proxy that the environment names for the address."""
    split = urlsplit(base)
    port = split.port or (443 if split.scheme == "https" else 80)
    proxy = proxies.find(split.scheme, split.hostname or "", port)
    if not proxy:
        return urllib3.PoolManager(**settings)
    try:
        return proxy_rules.make_manager(proxy, **settings)
    except (HTTPError, ValueError):
        raise StartError("The proxy that the environment names can't be used.") from None
