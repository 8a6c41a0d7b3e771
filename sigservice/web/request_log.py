"""What is counted and logged of each answered request."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

from sigservice.context import Context
from sigservice.errors import AppError
from sigservice.telemetry.instruments import LONGEST_NAME, Series
from sigservice.telemetry.requests import is_sdk
from sigservice.web.body import query_pairs
from sigservice.web.logged_path import logged_path

# Set by guards in the environ: the request has a good API token or personal token.
HAS_TOKEN = "sigservice.has_token"

Environ = dict[str, Any]
Observe = Callable[[Environ, str, int, float], None]

_METHODS = frozenset(("GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"))
_PARAMETER = re.compile(r"<(\w+)(:[^>]*)?>")
_GROUPS = ("/api/admin", "/api/client", "/api/frontend", "/api", "/edge", "/auth")
_MOST_KEPT = 1000
_UNCOUNTED = ("/health", "/ready", "/internal-backstage/", "/static/")
# Programs by the words of their User-Agent; the first that fits.
_PROGRAMS = re.compile(
    r"(?P<terraform>terraform)|(?P<curl>curl)|(?P<python>python|aiohttp|httpx)|(?P<go>go-http)"
    r"|(?P<node>node|axios|undici)|(?P<java>java|okhttp)|(?P<browser>mozilla)",
    re.IGNORECASE,
)


class _Place(NamedTuple):
    """`tells_origin` is false where the origin is of no interest, or follows from the path."""

    label: str
    tells_origin: bool


def observer(context: Context) -> Observe | None:
    """`observe(environ, path as asked, status, began)`; None when nobody wants to know."""
    telemetry, seconds = context.telemetry, context.clock.monotonic
    log = context.get_logger("HTTP") if context.config["enableRequestLogger"] else None
    places: dict[str, _Place] = {}
    kept: dict[tuple[str, str, int, str], Series] = {}

    def place(environ: Environ) -> _Place:
        route = environ.get("bottle.route")
        if route is None:
            path = environ["PATH_INFO"]
            return _Place(_hidden(path), _tells_origin(path))
        known = places.get(route.rule)
        if known is None:
            label = _PARAMETER.sub(r":\1", route.rule)
            known = places[route.rule] = _Place(label, _tells_origin(label))
        return known

    def measure(environ: Environ, method: str, status: int, milliseconds: float) -> None:
        label, tells_origin = place(environ)
        key = (label, method, status, _app_name(environ))
        series = kept.get(key)
        if series is None:
            series = telemetry.requests.find_series(*key)
            if len(kept) < _MOST_KEPT:
                kept[key] = series
        series.observe(milliseconds)
        if tells_origin:
            telemetry.requests.count_origin(*_origin(environ, method))

    def observe(environ: Environ, asked: str, status: int, began: float) -> None:
        method = environ.get("REQUEST_METHOD", "")
        if method not in _METHODS:
            method = "?"  # clients make up methods
        if telemetry.enabled:
            measure(environ, method, status, (seconds() - began) * 1000)
        if log is not None:
            log.info("%s %s %s", status, method, logged_path(_text(asked)))

    return observe if telemetry.enabled or log is not None else None


def refusal_log(context: Context) -> Callable[[str, str, int], None]:
    """`log(method, path, status)` for what the listener refuses before anything is asked."""
    if not context.config["enableRequestLogger"]:
        return lambda method, path, status: None
    log = context.get_logger("HTTP")
    return lambda method, path, status: log.info(
        "%s %s %s", status, method or "-", logged_path(_text(path))
    )


def _app_name(environ: Environ) -> str:
    """What the client calls the application that it runs in, "" when it does not say. Cut, since
    it is kept. Without a good token "": anybody could use up the names that are kept."""
    if HAS_TOKEN not in environ:
        return ""
    text = environ.get("HTTP_X_UNLEASH_APPNAME") or environ.get("HTTP_UNLEASH_APPNAME")
    if text:
        return _text(text)[:LONGEST_NAME]
    if "appName=" not in environ.get("QUERY_STRING", ""):
        return ""
    try:
        return dict(query_pairs(environ)).get("appName", "")[:LONGEST_NAME]
    except AppError:
        return ""


def _hidden(path: str) -> str:
    for group in _GROUPS:
        if path.startswith(group + "/"):
            return f"{group}/(hidden)"
    return "(hidden)"


def _tells_origin(path: str) -> bool:
    return not (is_sdk(path) or path.startswith(_UNCOUNTED))


def _origin(environ: Environ, method: str) -> tuple[str, str, str]:
    """UI for people, who have a session; API for programs, which have a token, and which kind."""
    if "HTTP_AUTHORIZATION" not in environ and (
        "HTTP_COOKIE" in environ or not environ["PATH_INFO"].startswith("/api/")
    ):
        return "UI", method, ""
    found = _PROGRAMS.search(environ.get("HTTP_USER_AGENT", "")[:300])
    return "API", method, str(found.lastgroup) if found else "other"


def _text(value: str) -> str:
    """What WSGI hands over as latin-1, as UTF-8."""
    return (
        value if value.isascii() else value.encode("latin-1", "replace").decode("utf-8", "replace")
    )
