"""Cross-origin rules of the frontend API: pages of other sites may ask it, with a token.

Two wrappers, because a preflight comes without a token and is answered before any guard, while the
headers go on every answer, errors of the outermost frame included: without them a browser hides
even the status.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from sigservice.context import Context
from sigservice.errors import UnavailableError
from sigservice.services.system.settings import ANY_ORIGIN
from sigservice.web.headers import Headers, header_sets, is_api
from sigservice.web.wsgi import Environ, StartResponse, Wsgi

AREA = "/api/frontend"
METHODS = "GET,HEAD,PUT,PATCH,POST,DELETE"  # what the field's servers say
_TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")


def allow_origins(context: Context, app: Wsgi) -> Wsgi:
    """Around everything: says which pages may read the answer."""

    def allowing(environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        def start(status: str, headers: Headers, exc_info: Any = None) -> Any:
            # The path is clean by now, and the guard may have left what it knows of revisions.
            if _is_ours(environ):
                headers = headers + _headers(context, environ, status)
            return start_response(status, headers, exc_info)

        return app(environ, start)

    return allowing


def answer_preflights(context: Context, app: Wsgi) -> Wsgi:
    """In front of the guards."""
    max_age = str(context.config["accessControlMaxAge"])

    def answering(environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        if environ["REQUEST_METHOD"] != "OPTIONS" or not _is_ours(environ):
            return app(environ, start_response)
        headers = [
            ("Access-Control-Allow-Methods", METHODS),
            ("Access-Control-Max-Age", max_age),
            ("Vary", "Access-Control-Request-Headers"),
        ]
        asked = environ.get("HTTP_ACCESS_CONTROL_REQUEST_HEADERS", "").split(",")
        names = [name.strip() for name in asked if _TOKEN.fullmatch(name.strip())]
        if names:
            headers.append(("Access-Control-Allow-Headers", ",".join(names)))
        start_response("204 No Content", headers)
        return []

    return answering


def headers_of_refusals(context: Context) -> Callable[[str, str], Headers]:
    """What goes on an answer that the listener itself gives, by path and Origin: no request has
    come into being yet, and the database is not asked."""
    api, elsewhere = header_sets(context.config)

    def headers(path: str, origin: str) -> Headers:
        below = path.removeprefix(context.base)
        if not is_api(below):
            return elsewhere
        environ = {"PATH_INFO": below, "HTTP_ORIGIN": origin}
        return api + (_headers(context, environ, "503") if _is_ours(environ) else [])

    return headers


def _is_ours(environ: Environ) -> bool:
    path = environ.get("PATH_INFO", "")
    return path == AREA or path.startswith(AREA + "/")


def _headers(context: Context, environ: Environ, status: str) -> Headers:
    """`*` never goes with credentials: browsers refuse that, and tokens travel in a header."""
    origins = _origins(context, environ, status)
    exposed = ("Access-Control-Expose-Headers", "ETag")
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


def _origins(context: Context, environ: Environ, status: str) -> frozenset[str]:
    if status.startswith("503"):  # asking once more would make it wait once more
        return context.cors_origins.get_cached()
    try:
        return context.cors_origins.get(environ.get("sigservice.revisions"))
    except UnavailableError:
        return context.cors_origins.get_cached()
