"""The session cookie: set at sign-in, read by the guards, cleared at sign-out."""

import re
from typing import Any

from bottle import HTTPResponse, request

from sigservice.context import Context
from sigservice.crypto import secrets
from sigservice.db import Connection, Row
from sigservice.errors import ConflictError
from sigservice.services.access import sessions
from sigservice.services.access.sessions import SessionOrigin
from sigservice.services.identity import Identity
from sigservice.web.client_ip import find_client_ip, is_https

FORM_SECONDS = 24 * 3600
FLOW_SECONDS = 600
YEAR_SECONDS = 365 * 86400
_PROJECT = re.compile(r"[A-Za-z0-9_.~-]{1,100}")
_NONCE = re.compile(r"[A-Za-z0-9_-]{43}")


def _parse_cookies(environ: dict[str, Any]) -> dict[str, str]:
    """The cookies by name; the first of two with one name, because its path is longer."""
    pairs: dict[str, str] = {}
    for part in environ.get("HTTP_COOKIE", "").split(";"):
        name, _, value = part.strip().partition("=")
        pairs.setdefault(name, value)
    return pairs


def read_session_id(context: Context, environ: dict[str, Any]) -> str:
    """The session ID in the cookie, or ""."""
    return _parse_cookies(environ).get(context.cookie_name, "")


def find_identity(context: Context, environ: dict[str, Any]) -> Identity | None:
    """The signed-in user, or None."""
    session_id = read_session_id(context, environ)
    if not session_id:
        return None
    last_used = context.last_used
    with context.database.autocommit() as conn:
        identity = sessions.find_identity(
            conn,
            session_id,
            now=context.clock.now(),
            ip=find_client_ip(environ, context.trusted_proxies),
            authentication_scope=context.authentication.session_scope,
            idle=context.session_idle,
            last_use=last_used.sessions.get,
            accepts=context.authentication.accepts_session,
        )
    if identity is not None:
        context.recent_credentials.add(secrets.sha256(session_id))  # web/body_permits.py reads it
        if "HTTP_X_LIVE_REFRESH" not in environ:  # a page refreshes itself without a user
            last_used.record_session(identity.session_hash)
    return identity


def list_own_sessions(context: Context, identity: Identity) -> list[Row]:
    now, idle = context.clock.now(), context.session_idle
    with context.database.autocommit() as conn:
        return sessions.list_own_sessions(conn, identity, now=now, idle=idle)


def start_session(context: Context, environ: dict[str, Any], user: Row, method: str) -> str:
    """The ID of a new session, which replaces the browser's, for a user who signs in without a
    password, by `method`. Raises ConflictError if the user was deleted meanwhile."""
    with context.database.transaction() as conn:
        session_id = open_session(context, environ, conn, user, SessionOrigin(method))
    if session_id is None:
        raise ConflictError("This user was deleted meanwhile.")
    return session_id


def open_session(
    context: Context,
    environ: dict[str, Any],
    conn: Connection,
    user: Row,
    origin: SessionOrigin,
    verified_hash: str | None = None,
) -> str | None:
    """Returns what sessions.open_session returns."""
    return sessions.open_session(
        conn,
        user,
        now=context.clock.now(),
        ttl_hours=context.config["session"]["ttlHours"],
        replaces=read_session_id(context, environ) or None,
        authentication_scope=context.authentication.session_scope,
        ip=find_client_ip(environ, context.trusted_proxies),
        user_agent=_read_user_agent(environ),
        origin=origin,
        verified_hash=verified_hash,
    )


def _read_user_agent(environ: dict[str, Any]) -> str:
    """The header without unprintable characters."""
    header = environ.get("HTTP_USER_AGENT", "").encode("latin-1", "replace")
    return "".join(char for char in header.decode("utf-8", "replace") if char.isprintable())


def read_form_nonce(context: Context, environ: dict[str, Any]) -> str:
    """The random text in the cookie from which the CSRF token of a form without a session is
    derived; a new one if there is none, or if the cookie is invalid."""
    nonce = _parse_cookies(environ).get(_form_cookie_name(context), "")
    return nonce if _NONCE.fullmatch(nonce) else secrets.generate_secret()


def set_form_nonce(context: Context, answer: HTTPResponse, nonce: str) -> None:
    """An empty nonce deletes the cookie."""
    _write_cookie(context, answer, _form_cookie_name(context), nonce, FORM_SECONDS if nonce else 0)


def _form_cookie_name(context: Context) -> str:
    return context.cookie_name + "-form"


def find_flow_secret(context: Context, environ: dict[str, Any]) -> str:
    """The random text in the cookie of sign-ins with the provider; "" if there is none."""
    secret = _parse_cookies(environ).get(context.cookie_name + "-oidc", "")
    return secret if _NONCE.fullmatch(secret) else ""


def set_flow_secret(context: Context, answer: HTTPResponse, secret: str) -> None:
    """An empty secret deletes the cookie."""
    max_age = FLOW_SECONDS if secret else 0
    _write_cookie(context, answer, context.cookie_name + "-oidc", secret, max_age)


def read_project(context: Context, environ: dict[str, Any]) -> str:
    """The ID of the project that lists show, "" for all."""
    value = _parse_cookies(environ).get(context.cookie_name + "-project", "")
    return value if _PROJECT.fullmatch(value) else ""


def set_project(context: Context, answer: HTTPResponse, project: str) -> None:
    """An invalid project deletes the cookie."""
    is_valid = _PROJECT.fullmatch(project)
    age = YEAR_SECONDS if is_valid else 0
    _write_cookie(context, answer, context.cookie_name + "-project", project if age else "", age)


def hides_start(context: Context, environ: dict[str, Any]) -> bool:
    """Whether the browser hides the list of first steps."""
    return context.cookie_name + "-start" in _parse_cookies(environ)


def hide_start(context: Context, answer: HTTPResponse) -> None:
    _write_cookie(context, answer, context.cookie_name + "-start", "hidden", YEAR_SECONDS)


def set_cookie(context: Context, answer: HTTPResponse, session_id: str) -> None:
    max_age = context.config["session"]["ttlHours"] * 3600
    _write_cookie(context, answer, context.cookie_name, session_id, max_age)


def clear_cookie(context: Context, answer: HTTPResponse) -> None:
    _write_cookie(context, answer, context.cookie_name, "", 0)
    if context.config["session"]["clearSiteDataOnLogout"]:
        answer.set_header("Clear-Site-Data", '"cookies", "storage"')


def _write_cookie(
    context: Context, answer: HTTPResponse, name: str, value: str, max_age: int
) -> None:
    """A browser deletes a cookie only if the path is the same as when it was set."""
    answer.set_cookie(
        name,
        value,
        max_age=max_age,
        path=context.prefix or "/",
        httponly=True,
        secure=context.is_secure or is_https(request.environ, context.trusted_proxies),
        samesite="lax",
    )
