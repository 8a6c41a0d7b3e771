"""Client of a remote server's admin API, with retries. No message contains the token."""

from collections.abc import Callable, Iterable
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

MAX_CONNECTIONS = 4
MAX_RETRY_AFTER_SECONDS = 60.0
_RETRY_STATUSES = (429, 502, 503, 504)
_MISSING_STATUSES = (400, 402, 403, 404, 405, 501)


class _BoundedRetry(Retry):
    """Honors Retry-After for up to MAX_RETRY_AFTER_SECONDS."""

    def get_retry_after(self, response: urllib3.response.BaseHTTPResponse) -> float | None:
        seconds = super().get_retry_after(response)
        return None if seconds is None else min(seconds, MAX_RETRY_AFTER_SECONDS)


class RemoteClient:
    """`url` is the server's base URL, with or without /api. Methods raise StartError with a message
    of one line if a response can't be read."""

    def __init__(
        self, url: str, token: str, *, proxies: Proxies | None = None, pause: float = 0.5
    ) -> None:
        self._base_url = _parse_base_url(url)
        token = token.strip()
        if not token or not token.isascii() or not token.isprintable():
            raise StartError("The token is empty or contains invalid characters.")
        headers = {
            "Authorization": token,
            "Accept": "application/json",
            "Accept-Encoding": "gzip",
            "User-Agent": f"sigservice/{__version__}",
        }
        settings: dict[str, Any] = {
            "headers": headers,
            "maxsize": MAX_CONNECTIONS,
            "block": True,
            "timeout": Timeout(connect=10, read=60),
            "retries": _BoundedRetry(
                total=6,
                connect=1,
                redirect=False,
                allowed_methods=("GET",),
                status_forcelist=_RETRY_STATUSES,
                backoff_factor=pause,
                raise_on_status=False,
            ),
        }
        self._pool = open_pool(self._base_url, proxies or Proxies(), settings)

    @property
    def base_url(self) -> str:
        return self._base_url

    def get(self, *parts: str, **query: str) -> Any:
        """The JSON at the path below /api/admin."""
        return self._require(parts, *self.fetch(*parts, **query))

    def find(self, *parts: str, **query: str) -> Any | None:
        """The same, or None if the path doesn't exist or the token may not read it."""
        status, value = self.fetch(*parts, **query)
        return None if status in _MISSING_STATUSES else self._require(parts, status, value)

    def run_parallel(
        self, calls: Iterable[Callable[[], Any]], advance: Callable[[], None]
    ) -> list[Any]:
        """The results in order; `advance` is called after each."""

        def run(call: Callable[[], Any]) -> Any:
            result = call()
            advance()
            return result

        with ThreadPoolExecutor(MAX_CONNECTIONS) as pool:
            futures = [pool.submit(run, call) for call in calls]
            try:
                return [future.result() for future in futures]
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise

    def fetch(self, *parts: str, **query: str) -> tuple[int, Any]:
        """Status and JSON at the path below /api/admin; None unless the status is 200."""
        path = "/".join(quote(part, safe="") for part in parts)
        url = f"{self._base_url}/api/admin/{path}" + (f"?{urlencode(query)}" if query else "")
        try:
            response = self._pool.request("GET", url, redirect=False)
        except HTTPError as error:
            reason = escape_line(str(getattr(error, "reason", None) or error))[:300]
            raise StartError(f"{self._format_url(parts)} could not be read: {reason}") from None
        if response.status == 401:
            raise StartError(f"{self._base_url} rejected the token (401).")
        if 300 <= response.status < 400:
            raise StartError(
                f"{self._format_url(parts)} redirects to another URL ({response.status}); "
                "use the URL of the server itself."
            )
        if response.status != 200:
            return response.status, None
        try:
            return 200, payload.parse(response.data)
        except AppError as error:
            text = f"{self._format_url(parts)} could not be read: {error.message}"
            raise StartError(text) from None

    def _require(self, parts: tuple[str, ...], status: int, value: Any) -> Any:
        if status != 200:
            raise StartError(f"{self._format_url(parts)} responded with status {status}.")
        return value

    def _format_url(self, parts: tuple[str, ...]) -> str:
        return escape_line(f"{self._base_url}/api/admin/{'/'.join(parts)}")


def _parse_base_url(url: str) -> str:
    try:
        split = urlsplit(url.strip())
        is_valid = split.scheme in ("http", "https") and bool(split.hostname) and split.port != 0
    except ValueError:
        is_valid = False
    if not is_valid:
        raise StartError("--from must be a URL such as https://unleash.example.com.")
    if split.username is not None or split.password is not None:
        raise StartError("The URL of --from must not contain a username or password.")
    path = split.path.rstrip("/").removesuffix("/admin").removesuffix("/api")
    return f"{split.scheme}://{split.netloc}{path}"


def open_pool(base_url: str, proxies: Proxies, settings: dict[str, Any]) -> urllib3.PoolManager:
    """Connections through the proxy that the environment defines for the URL. Raises StartError."""
    split = urlsplit(base_url)
    port = split.port or (443 if split.scheme == "https" else 80)
    proxy = proxies.find(split.scheme, split.hostname or "", port)
    if not proxy:
        return urllib3.PoolManager(**settings)
    try:
        return proxy_rules.make_manager(proxy, **settings)
    except (HTTPError, ValueError):
        raise StartError("The proxy that the environment defines is not valid.") from None
