"""Which large bodies are read at all: decided by the listener's thread from path and headers, so
it does no I/O and asks nothing of the database.
"""

from __future__ import annotations

from typing import Any

from bottle import Bottle, HTTPError

from sigservice import secrets
from sigservice.context import Context
from sigservice.errors import AppError
from sigservice.http_parsing import SMALL_BODY, Admission, Admit
from sigservice.web import session
from sigservice.web.body import FORM_LIMIT, JSON_LIMIT
from sigservice.web.client_ip import find_client_ip, make_limit_key
from sigservice.web.guards import SAFE_METHODS, PageGuard, read_bearer_token
from sigservice.web.wsgi import clean_path

ANY_SIZE = 2**63


def admission(context: Context, root: Bottle, *, has_wrapper: bool) -> Admit:
    """`admit(method, path, headers, peer)` for `http_parsing.Entrance`.

    A route of the user's hooks may read what it likes; with `has_wrapper`, a WSGI application of
    a hook's around the routes, so may every path that is no route.
    """

    def admit(method: str, path: str, headers: dict[str, str], peer: str) -> Admission:
        environ = {f"HTTP_{name}": text for name, text in headers.items()}
        environ |= {"REQUEST_METHOD": method, "PATH_INFO": path, "REMOTE_ADDR": peer}
        address = make_limit_key(find_client_ip(environ, context.trusted_proxies))
        try:
            clean_path(environ, context.base)
            environ["PATH_INFO"] = environ["PATH_INFO"].encode("latin-1").decode()
            route, arguments = root.router.match(environ)
        except (AppError, HTTPError):
            return Admission(ANY_SIZE if has_wrapper else SMALL_BODY, False, address)
        secret, session_id = read_bearer_token(environ), session.read_session_id(context, environ)
        keys = (
            secrets.sha256(secret),
            secrets.sha256(session_id),
            secrets.sha256(f"{arguments.get('name')}\n{secret}"),  # as signals count it
        )
        is_known = any(key in context.recent_credentials for key in keys)
        has_credentials = bool(secret or environ.get("HTTP_COOKIE"))
        return Admission(_limit(route, has_credentials), is_known, address)

    return admit


def _limit(route: Any, has_credentials: bool) -> int:
    guard = next((p for p in route.app.plugins if getattr(p, "name", "") == "guard"), None)
    if guard is None:
        return ANY_SIZE
    is_open = guard.is_open and not route.config.get("needs_credentials")
    return body_limit(route, guard) if is_open or has_credentials else SMALL_BODY


def body_limit(route: Any, guard: Any) -> int:
    """How many bytes the route reads, by what its line says; 0 for one that takes no body."""
    if isinstance(guard, PageGuard) and route.method not in SAFE_METHODS:
        return int(route.config.get("form_limit", FORM_LIMIT))
    return int(route.config.get("body_limit", JSON_LIMIT if route.config.get("takes") else 0))
