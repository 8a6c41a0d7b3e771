"""What is counted and logged of each answered request."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from sigservice.context import Context
from sigservice.errors import AppError
from sigservice.telemetry.requests import Asked
from sigservice.web.body import query_pairs

Environ = dict[str, Any]
Observe = Callable[[Environ, str, int, float], None]

_METHODS = frozenset(("GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"))
_PARAMETER = re.compile(r"<(\w+)(:[^>]*)?>")
_GROUPS = ("/api/admin", "/api/client", "/api/frontend", "/api", "/edge", "/auth")
_SDK = ("/api/client/", "/api/frontend", "/edge/")
_UNCOUNTED = ("/health", "/ready", "/internal-backstage/", "/static/")
# Programs by the words of their User-Agent; the first that fits.
_PROGRAMS = re.compile(
    r"(?P<terraform>terraform)|(?P<curl>curl)|(?P<python>python|aiohttp|httpx)|(?P<go>go-http)"
    r"|(?P<node>node|axios|undici)|(?P<java>java|okhttp)|(?P<browser>mozilla)",
    re.IGNORECASE,
)


def observer(context: Context) -> Observe | None:
    """`observe(environ, path as asked, status, began)`; None when nobody wants to know."""
    telemetry, seconds = context.telemetry, context.clock.monotonic
    log = context.get_logger("HTTP") if context.config["enableRequestLogger"] else None
    patterns: dict[str, str] = {}

    def pattern(environ: Environ) -> str:
        route = environ.get("bottle.route")
        if route is None:
            return _hidden(environ["PATH_INFO"])
        known = patterns.get(route.rule)
        if known is None:
            known = patterns[route.rule] = _PARAMETER.sub(r":\1", route.rule)
        return known

    def observe(environ: Environ, asked: str, status: int, began: float) -> None:
        method = environ.get("REQUEST_METHOD", "")
        method = method if method in _METHODS else "?"  # clients make up methods
        if telemetry.enabled:
            path = environ["PATH_INFO"]
            is_sdk = path.startswith(_SDK)
            origin, source = _origin(environ, path, is_sdk)
            telemetry.requests.answered(
                Asked(pattern(environ), method, status, app_name(environ), origin, source, is_sdk),
                (seconds() - began) * 1000,
            )
        if log is not None:
            path = (
                asked
                if asked.isascii()
                else asked.encode("latin-1", "replace").decode("utf-8", "replace")
            )
            log.info("%s %s %s", status, method, path)

    return observe if telemetry.enabled or log is not None else None


def app_name(environ: Environ) -> str:
    """What the client calls the application that it runs in, "" when it does not say."""
    text = environ.get("HTTP_X_UNLEASH_APPNAME") or environ.get("HTTP_UNLEASH_APPNAME") or ""
    if text:
        return (
            text if text.isascii() else text.encode("latin-1", "replace").decode("utf-8", "replace")
        )
    if "appName=" not in environ.get("QUERY_STRING", ""):
        return ""
    try:
        return dict(query_pairs(environ)).get("appName", "")
    except AppError:
        return ""


def _hidden(path: str) -> str:
    for group in _GROUPS:
        if path.startswith(group + "/"):
            return f"{group}/(hidden)"
    return "(hidden)"


def _origin(environ: Environ, path: str, is_sdk: bool) -> tuple[str, str]:
    """UI for people, who have a session; API for programs, which have a token, and which kind."""
    if is_sdk:
        return "API", "sdk"
    if path.startswith(_UNCOUNTED):
        return "", ""
    if not environ.get("HTTP_AUTHORIZATION"):
        is_page = not path.startswith(("/api/", "/edge/"))
        return ("UI", "") if is_page or "HTTP_COOKIE" in environ else ("API", _program(environ))
    return "API", _program(environ)


def _program(environ: Environ) -> str:
    found = _PROGRAMS.search(environ.get("HTTP_USER_AGENT", "")[:300])
    return str(found.lastgroup) if found else "other"
