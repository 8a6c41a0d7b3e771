"""Metrics and the log line of each request."""

import re
from collections.abc import Callable
from typing import Any, NamedTuple

from sigservice.context import Context
from sigservice.crypto.hidden_secrets import hide_secrets
from sigservice.errors import AppError
from sigservice.log import NamedFormat
from sigservice.telemetry.instruments import MAX_NAME_LENGTH, Series
from sigservice.telemetry.requests import is_sdk
from sigservice.web.body import read_query_pairs

# Guards set this key of the environ if the request has a valid API token or personal token.
HAS_TOKEN = "sigservice.has_token"

Environ = dict[str, Any]
Observe = Callable[[Environ, str, int, float], None]

_LINE = NamedFormat("%s %s %s", "status", "method", "path")
_METHODS = frozenset(("GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"))
_PARAMETER = re.compile(r"<(\w+)(:[^>]*)?>")
_GROUPS = (
    *("/api/admin", "/api/client", "/api/frontend", "/api/proxy", "/api"),
    *("/edge", "/auth", "/ofrep"),
)
_MAX_CACHED = 1000
_UNCOUNTED = ("/health", "/ready", "/internal-backstage/", "/static/")
# Programs by a word in their User-Agent; the first match counts.
_PROGRAMS = re.compile(
    r"(?P<terraform>terraform)|(?P<curl>curl)|(?P<python>python|aiohttp|httpx)|(?P<go>go-http)"
    r"|(?P<node>node|axios|undici)|(?P<java>java|okhttp)|(?P<browser>mozilla)",
    re.IGNORECASE,
)


class _RouteLabel(NamedTuple):
    """`counts_client_type` is false if the path determines the type, or the type is not counted."""

    label: str
    counts_client_type: bool


def build_observer(context: Context) -> Observe | None:
    """`observe(environ, original path, status, started_at)`, or None without metrics and log."""
    telemetry, seconds = context.telemetry, context.clock.monotonic
    log = context.get_logger("HTTP") if context.config["enableRequestLogger"] else None
    labels_by_rule: dict[str, _RouteLabel] = {}
    cached_series: dict[tuple[str, str, int, str], Series] = {}

    def find_label(environ: Environ) -> _RouteLabel:
        route = environ.get("bottle.route")
        if route is None:
            path = environ["PATH_INFO"]
            return _RouteLabel(_hide_path(path), _counts_client_type(path))
        cached = labels_by_rule.get(route.rule)
        if cached is None:
            label = _PARAMETER.sub(r":\1", route.rule)
            cached = labels_by_rule[route.rule] = _RouteLabel(label, _counts_client_type(label))
        return cached

    def measure(environ: Environ, method: str, status: int, milliseconds: float) -> None:
        label, counts_client_type = find_label(environ)
        key = (label, method, status, _read_app_name(environ))
        series = cached_series.get(key)
        if series is None:
            series = telemetry.requests.find_series(*key)
            if len(cached_series) < _MAX_CACHED:
                cached_series[key] = series
        series.observe(milliseconds)
        if counts_client_type:
            telemetry.requests.count_client_type(*_find_client_type(environ, method))

    def observe(environ: Environ, path: str, status: int, started_at: float) -> None:
        method = environ.get("REQUEST_METHOD", "")
        if method not in _METHODS:
            method = "?"  # clients can send any method
        if telemetry.enabled:
            measure(environ, method, status, (seconds() - started_at) * 1000)
        if log is not None:
            log.info(_LINE, status, method, hide_secrets(_decode(path)))

    return observe if telemetry.enabled or log is not None else None


def build_refusal_log(context: Context) -> Callable[[str, str, int], None]:
    """`log(method, path, status)` for requests that the listener rejects."""
    if not context.config["enableRequestLogger"]:
        return lambda method, path, status: None
    log = context.get_logger("HTTP")
    return lambda method, path, status: log.info(
        _LINE, status, method or "-", hide_secrets(_decode(path))
    )


def _read_app_name(environ: Environ) -> str:
    """The application name that the client sends, cut to MAX_NAME_LENGTH, or "". The name counts
    only with a valid token, because the number of cached names is limited."""
    if HAS_TOKEN not in environ:
        return ""
    text = environ.get("HTTP_X_UNLEASH_APPNAME") or environ.get("HTTP_UNLEASH_APPNAME")
    if text:
        return _decode(text)[:MAX_NAME_LENGTH]
    if "appName=" not in environ.get("QUERY_STRING", ""):
        return ""
    try:
        return dict(read_query_pairs(environ)).get("appName", "")[:MAX_NAME_LENGTH]
    except AppError:
        return ""


def _hide_path(path: str) -> str:
    for group in _GROUPS:
        if path.startswith(group + "/"):
            return f"{group}/(hidden)"
    return "(hidden)"


def _counts_client_type(path: str) -> bool:
    return not (is_sdk(path) or path.startswith(_UNCOUNTED))


def _find_client_type(environ: Environ, method: str) -> tuple[str, str, str]:
    """UI for requests with a session, API with the program for requests with a token."""
    if "HTTP_AUTHORIZATION" not in environ and (
        "HTTP_COOKIE" in environ or not environ["PATH_INFO"].startswith("/api/")
    ):
        return "UI", method, ""
    match = _PROGRAMS.search(environ.get("HTTP_USER_AGENT", "")[:300])
    return "API", method, str(match.lastgroup) if match else "other"


def _decode(value: str) -> str:
    """Decodes a WSGI string, which is UTF-8 in latin-1."""
    return (
        value if value.isascii() else value.encode("latin-1", "replace").decode("utf-8", "replace")
    )
