"""The session cookie: set at sign-in, read by the guards, cleared at sign-out."""

from __future__ import annotations

import re
from typing import Any

from bottle import HTTPResponse, request

from sigservice import secrets
from sigservice.context import Context
from sigservice.db.pool import Connection
from sigservice.db.statements import Row
from sigservice.errors import ConflictError
from sigservice.services.access import sessions
from sigservice.services.identity import Identity
from sigservice.web.client_ip import find_client_ip, is_https

FORM_SECONDS = 24 * 3600
_NONCE = re.compile(r"[A-Za-z0-9_-]{43}")


def _parse_cookies(environ: dict[str, Any]) -> dict[str, str]:
    """The Cookie header's pairs; of two with one name the first, which has the longer path."""
    pairs: dict[str, str] = {}
    for part in environ.get("HTTP_COOKIE", "").split(";"):
        name, _, value = part.strip().partition("=")
        pairs.setdefault(name, value)
    return pairs


def read_session_id(context: Context, environ: dict[str, Any]) -> str:
    """What the browser sent, or ""."""
    return _parse_cookies(environ).get(context.cookie_name, "")


def find_identity(context: Context, environ: dict[str, Any]) -> Identity | None:
    """Who is signed in."""
    sent = read_session_id(context, environ)
    if not sent:
        return None
    last_used = context.revision_cache.last_used
    with context.database.autocommit() as conn:
        identity = sessions.find_identity(
            conn,
            sent,
            now=context.clock.now(),
            ip=find_client_ip(environ, context.trusted_proxies),
            authentication_scope=context.authentication.session_scope,
            idle=context.session_idle,
            last_use=last_used.find_session_use,
        )
    if identity is not None:
        context.recent_credentials.add(secrets.sha256(sent))  # its large bodies are read first
        if "HTTP_X_LIVE_REFRESH" not in environ:  # which a page that nobody looks at sends
            last_used.record_session(identity.session_hash)
    return identity


def list_own_sessions(context: Context, identity: Identity) -> list[Row]:
    """The sessions of the user who asks."""
    with context.database.autocommit() as conn:
        return sessions.list_own_sessions(
            conn, identity, now=context.clock.now(), idle=context.session_idle
        )


def start_session(context: Context, environ: dict[str, Any], user: Row) -> str:
    """The new session's id, for a user that something other than a password vouches for; a session
    that the browser had ends. Raises ConflictError when the user was deleted meanwhile."""
    with context.database.transaction() as conn:
        started = open_session(context, environ, conn, user)
    if started is None:
        raise ConflictError("This user was deleted meanwhile.")
    return started


def open_session(
    context: Context,
    environ: dict[str, Any],
    conn: Connection,
    user: Row,
    verified_hash: str | None = None,
) -> str | None:
    """What sessions.open_session returns."""
    return sessions.open_session(
        conn,
        user,
        now=context.clock.now(),
        ttl_hours=context.config["session"]["ttlHours"],
        replaces=read_session_id(context, environ) or None,
        authentication_scope=context.authentication.session_scope,
        ip=find_client_ip(environ, context.trusted_proxies),
        user_agent=_user_agent(environ),
        verified_hash=verified_hash,
    )


def _user_agent(environ: dict[str, Any]) -> str:
    """As the browser sent it, without what can't be printed."""
    text = (
        environ.get("HTTP_USER_AGENT", "").encode("latin-1", "replace").decode("utf-8", "replace")
    )
    return "".join(letter for letter in text if letter.isprintable())


def read_form_nonce(context: Context, environ: dict[str, Any]) -> str:
    """A random text that the browser keeps and our forms' token follows from, where there is no
    session; a new one for who has none."""
    nonce = _parse_cookies(environ).get(_form_cookie(context), "")
    # A made-up one may not even fit into a cookie.
    return nonce if _NONCE.fullmatch(nonce) else secrets.generate_secret()


def set_form_nonce(context: Context, answer: HTTPResponse, nonce: str) -> None:
    """An empty one makes the browser forget it."""
    _write_cookie(context, answer, _form_cookie(context), nonce, FORM_SECONDS if nonce else 0)


def _form_cookie(context: Context) -> str:
    return context.cookie_name + "-form"


def set_cookie(context: Context, answer: HTTPResponse, value: str) -> None:
    _write_cookie(
        context, answer, context.cookie_name, value, context.config["session"]["ttlHours"] * 3600
    )


def clear_cookie(context: Context, answer: HTTPResponse) -> None:
    _write_cookie(context, answer, context.cookie_name, "", 0)
    if context.config["session"]["clearSiteDataOnLogout"]:
        answer.set_header("Clear-Site-Data", '"cookies", "storage"')


def _write_cookie(
    context: Context, answer: HTTPResponse, name: str, value: str, max_age: int
) -> None:
    """A cookie of ours; cleared with the path it was set with, or the browser keeps it."""
    by_tls = is_https(request.environ, context.trusted_proxies)
    answer.set_cookie(
        name,
        value,
        max_age=max_age,
        path=context.prefix or "/",
        httponly=True,
        secure=context.is_secure or by_tls,
        samesite="lax",
    )
