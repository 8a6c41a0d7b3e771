"""Decides which large bodies are read, from path and headers. It runs in the listener's thread, so
it uses neither I/O nor the database.
"""

from typing import Any

from bottle import Bottle, HTTPError

from sigservice import secrets
from sigservice.context import Context
from sigservice.errors import AppError
from sigservice.http_parsing import SMALL_BODY_BYTES, BodyPermit, DecideBody
from sigservice.web import session
from sigservice.web.body import FORM_LIMIT, JSON_LIMIT
from sigservice.web.client_ip import find_client_ip, make_limit_key
from sigservice.web.guards import SAFE_METHODS, PageGuard, read_bearer_token
from sigservice.web.wsgi import clean_path

ANY_SIZE = 2**63


def build_body_decision(context: Context, root: Bottle, *, has_wrapper: bool) -> DecideBody:
    """`decide(method, path, headers, peer)` for `http_parsing.BodyLimits`.

    Routes of hooks have no limit. With `has_wrapper`, a WSGI application of a hook around the
    routes, unknown paths have none either.
    """

    def decide(method: str, path: str, headers: dict[str, str], peer: str) -> BodyPermit:
        environ = {f"HTTP_{name}": text for name, text in headers.items()}
        environ |= {"REQUEST_METHOD": method, "PATH_INFO": path, "REMOTE_ADDR": peer}
        address = make_limit_key(find_client_ip(environ, context.trusted_proxies))
        try:
            clean_path(environ, context.base)
            environ["PATH_INFO"] = environ["PATH_INFO"].encode("latin-1").decode()
            route, arguments = root.router.match(environ)
        except (AppError, HTTPError):
            return BodyPermit(ANY_SIZE if has_wrapper else SMALL_BODY_BYTES, False, address)
        secret, session_id = read_bearer_token(environ), session.read_session_id(context, environ)
        keys = (
            secrets.sha256(secret),
            secrets.sha256(session_id),
            secrets.sha256(f"{arguments.get('name')}\n{secret}"),  # the key of signals
        )
        is_authenticated = any(key in context.recent_credentials for key in keys)
        has_credentials = bool(secret or environ.get("HTTP_COOKIE"))
        return BodyPermit(_find_limit(route, has_credentials), is_authenticated, address)

    return decide


def _find_limit(route: Any, has_credentials: bool) -> int:
    guard = next((p for p in route.app.plugins if getattr(p, "name", "") == "guard"), None)
    if guard is None:
        return ANY_SIZE
    is_open = guard.is_open and not route.config.get("needs_credentials")
    return find_body_limit(route, guard) if is_open or has_credentials else SMALL_BODY_BYTES


def find_body_limit(route: Any, guard: Any) -> int:
    """The maximum body of a route in bytes; 0 for a route without a body."""
    if isinstance(guard, PageGuard) and route.method not in SAFE_METHODS:
        return int(route.config.get("form_limit", FORM_LIMIT))
    return int(route.config.get("body_limit", JSON_LIMIT if route.config.get("takes") else 0))
