"""The API for a customAuthHandler in your code; see docs/authentication.md.

def handler(app, config):
    return authentication.Custom(identify=…, path="/sign-in/example", label="Sign in with Example")
"""

from collections.abc import Mapping
from typing import Any

from bottle import HTTPResponse

from sigservice.context import Context
from sigservice.services.access.authentication_scheme import Custom
from sigservice.services.access.passwordless_users import find_custom_user
from sigservice.web import links, respond, session
from sigservice.web.client_ip import find_client_ip
from sigservice.web.guards import make_next_path

__all__ = ["Custom", "own_url", "sign_in"]


def sign_in(environ: dict[str, Any], user: Mapping[str, Any], next_path: str = "/") -> HTTPResponse:
    """Opens a session for `user` {username, email, name, rootRole}; returns a redirect to
    `next_path`, for a route of the handler.

    Raises BadDataError for an invalid user, RuntimeError for other authentication types.
    """
    context = _context(environ)
    if context.authentication.custom is None:
        raise RuntimeError("sign_in is for the authentication type custom.")
    ip = find_client_ip(environ, context.trusted_proxies)
    with context.database.transaction() as conn:
        row = find_custom_user(conn, user, ip=ip)
    answer = respond.redirect(context, make_next_path(next_path))
    session.set_cookie(context, answer, session.start_session(context, environ, row, "custom"))
    return answer


def own_url(environ: dict[str, Any]) -> str:
    """SERVICE_URL, or without it the address of the request if it is localhost or an IP address."""
    return links.make_own_url(_context(environ), environ)


def _context(environ: dict[str, Any]) -> Context:
    context: Context = environ["sigservice.context"]
    return context
