"""Decides which large bodies are read, from path and headers. The decision runs in the listener's
thread, so it does no I/O and doesn't use the database.
"""

from typing import Any

from bottle import HTTPError

from sigservice.context import Context
from sigservice.crypto import secrets
from sigservice.errors import AppError
from sigservice.http_server.http_parsing import SMALL_BODY_BYTES, BodyPermit, DecideBody
from sigservice.services.signals.signature_schemes import SNS_HEADER
from sigservice.services.signals.signatures import has_signature
from sigservice.web import session
from sigservice.web.body import FORM_LIMIT, JSON_LIMIT
from sigservice.web.client_ip import find_client_ip, make_limit_key
from sigservice.web.dispatcher import Dispatcher
from sigservice.web.guards import SAFE_METHODS, PageGuard, read_ofrep_token
from sigservice.web.signal_credentials import make_signal_key, read_headers, read_signal_token
from sigservice.web.wsgi import clean_path

ANY_SIZE = 2**63


def build_body_decision(
    context: Context, dispatcher: Dispatcher, *, has_wrapper: bool
) -> DecideBody:
    """`decide(method, path, query, headers, peer)` for `http_parsing.BodyLimits`.

    Routes of hooks have no limit. With `has_wrapper`, a WSGI application of a hook around the
    routes, unknown paths have none either.
    """

    def decide(
        method: str, path: str, query: str, headers: dict[str, str], peer: str
    ) -> BodyPermit:
        environ = {f"HTTP_{name}": text for name, text in headers.items()}
        environ |= {"REQUEST_METHOD": method, "PATH_INFO": path, "REMOTE_ADDR": peer}
        environ["QUERY_STRING"] = query
        ip = find_client_ip(environ, context.trusted_proxies)
        address = make_limit_key(ip)
        try:
            clean_path(environ, context.base)
            environ["PATH_INFO"] = environ["PATH_INFO"].encode("latin-1").decode()
            # Imports the module of a late route, once: until then its limit is unknown.
            route, arguments = dispatcher.match(environ)
            if route.config.get("needs_credentials"):  # a signal
                name, secret = arguments["name"], read_signal_token(environ)
                keys = [make_signal_key(name, secret, ip)]
                has_credentials = bool(secret) or _has_signature(context, name, environ)
            else:
                secret = read_ofrep_token(environ)
                session_id = session.read_session_id(context, environ)
                keys = [secrets.sha256(secret), secrets.sha256(session_id)]
                has_credentials = bool(secret or environ.get("HTTP_COOKIE"))
        except (AppError, HTTPError):
            return BodyPermit(ANY_SIZE if has_wrapper else SMALL_BODY_BYTES, False, address)
        limit = _find_limit(route, has_credentials)
        for key in keys:
            if key in context.recent_credentials:
                return BodyPermit(limit, True, key)
        return BodyPermit(limit, False, address)

    return decide


def _has_signature(context: Context, endpoint_name: str, environ: dict[str, Any]) -> bool:
    """Whether a signal may be signed: by a header that an endpoint declares, or by one of a usual
    name, because this process may not know the endpoint yet."""
    headers = read_headers(environ)
    endpoint = context.signal_endpoints.get_cached(endpoint_name)
    return any("signature" in name or name == SNS_HEADER for name in headers) or (
        endpoint is not None
        and any(
            token.signature is not None and has_signature(token.signature, headers)
            for token in endpoint.tokens
        )
    )


def _find_limit(route: Any, has_credentials: bool) -> int:
    guard = getattr(route, "guard", None)
    if guard is None:
        return ANY_SIZE
    is_open = guard.is_open and not route.config.get("needs_credentials")
    return find_body_limit(route, guard) if is_open or has_credentials else SMALL_BODY_BYTES


def find_body_limit(route: Any, guard: Any) -> int:
    """The maximum body of a route in bytes; 0 for a route without a body."""
    if isinstance(guard, PageGuard) and route.method not in SAFE_METHODS:
        return int(route.config.get("form_limit", FORM_LIMIT))
    return int(route.config.get("body_limit", JSON_LIMIT if route.config.get("takes") else 0))
