"""CORS for the frontend API and OFREP: pages of other sites may call them, with a token.

A preflight has no token, so it is answered before the guards. The headers are added to every
answer, including errors of the outermost layer, because without them a browser hides even the
status.
"""

import re
from collections.abc import Callable
from typing import Any

from sigservice.config.addresses import ANY_ORIGIN
from sigservice.context import Context
from sigservice.errors import UnavailableError
from sigservice.web.guards import REVISIONS
from sigservice.web.headers import Headers, build_header_sets, is_api
from sigservice.web.ofrep_errors import is_ofrep

Environ = dict[str, Any]
PATHS = ("/api/frontend", "/api/proxy")
_BEGINNINGS = tuple(f"{path}/" for path in PATHS)
METHODS = "GET,HEAD,PUT,PATCH,POST,DELETE"  # as Unleash answers
_TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")


def make_preflight_headers(environ: Environ, max_age: str) -> Headers:
    headers = [
        ("Access-Control-Allow-Methods", METHODS),
        ("Access-Control-Max-Age", max_age),
        ("Vary", "Access-Control-Request-Headers"),
    ]
    requested = environ.get("HTTP_ACCESS_CONTROL_REQUEST_HEADERS", "").split(",")
    names = [name.strip() for name in requested if _TOKEN.fullmatch(name.strip())]
    if names:
        headers.append(("Access-Control-Allow-Headers", ",".join(names)))
    return headers


def make_rejection_headers(context: Context) -> Callable[[str, str], Headers]:
    """A function that makes the headers of the listener's own answers from path and Origin. There
    is no request yet, and it never queries the database."""
    api_headers, page_headers = build_header_sets(context.config)

    def headers(path: str, origin: str) -> Headers:
        below = path.removeprefix(context.base)
        if not is_api(below):
            return page_headers
        environ = {"PATH_INFO": below, "HTTP_ORIGIN": origin}
        if not is_cors_path(below):
            return api_headers
        return api_headers + make_headers(context, environ, "503")

    return headers


def is_cors_path(path: str) -> bool:
    is_frontend = path in PATHS or path.startswith(_BEGINNINGS)
    return is_frontend or is_ofrep(path)


def make_headers(context: Context, environ: Environ, status: str) -> Headers:
    """The headers of an answer. With `*` they don't include Allow-Credentials, which browsers would
    reject; tokens are sent in a header."""
    origins = _find_origins(context, environ, status)
    names = "ETag, Retry-After" if is_ofrep(environ.get("PATH_INFO", "")) else "ETag"
    exposed = ("Access-Control-Expose-Headers", names)
    if ANY_ORIGIN in origins:
        return [("Access-Control-Allow-Origin", ANY_ORIGIN), exposed]
    origin = environ.get("HTTP_ORIGIN", "")
    if origin not in origins:
        return [("Vary", "Origin")]
    return [
        ("Access-Control-Allow-Origin", origin),
        ("Access-Control-Allow-Credentials", "true"),
        exposed,
        ("Vary", "Origin"),
    ]


def _find_origins(context: Context, environ: Environ, status: str) -> frozenset[str]:
    if status.startswith("503"):  # another query would wait again
        return context.cors_origins.get_cached()
    try:
        return context.cors_origins.get(environ.get(REVISIONS))
    except UnavailableError:
        return context.cors_origins.get_cached()
