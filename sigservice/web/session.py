"""The session cookie: set at sign-in, read by the doors, cleared at sign-out."""

from __future__ import annotations

from typing import Any

from bottle import HTTPResponse, request

from sigservice.context import Context
from sigservice.db.run import Row
from sigservice.services import sessions
from sigservice.services.identity import Identity
from sigservice.web.client_ip import client_ip, is_https


def cookies(environ: dict[str, Any]) -> dict[str, str]:
    """The Cookie header's pairs; of two with one name the first, which has the longer path."""
    pairs: dict[str, str] = {}
    for part in environ.get("HTTP_COOKIE", "").split(";"):
        name, _, value = part.strip().partition("=")
        pairs.setdefault(name, value)
    return pairs


def session_id(context: Context, environ: dict[str, Any]) -> str:
    """What the browser sent, or ""."""
    return cookies(environ).get(context.config["session"]["cookieName"], "")


def find(context: Context, environ: dict[str, Any]) -> Identity | None:
    """Who is signed in."""
    sent = session_id(context, environ)
    if not sent:
        return None
    ip = client_ip(environ, context.config["server"]["trustedProxy"])
    with context.database.autocommit() as conn:
        return sessions.identify(conn, sent, now=context.clock.now(), ip=ip)


def start(context: Context, environ: dict[str, Any], login: str, password: str) -> tuple[Row, str]:
    """The user and the new session's id; a session that the browser had ends.

    Raises PasswordMismatch.
    """
    user = sessions.verify(context.database, context.passwords, login, password)
    with context.database.transaction() as conn:
        new = sessions.open_session(
            conn,
            user,
            now=context.clock.now(),
            ttl_hours=context.config["session"]["ttlHours"],
            replaces=session_id(context, environ) or None,
        )
    return user, new


def set_cookie(context: Context, answer: HTTPResponse, value: str) -> None:
    settings = context.config["session"]
    put(context, answer, settings["cookieName"], value, settings["ttlHours"] * 3600)


def clear_cookie(context: Context, answer: HTTPResponse) -> None:
    settings = context.config["session"]
    put(context, answer, settings["cookieName"], "", 0)
    if settings["clearSiteDataOnLogout"]:
        answer.set_header("Clear-Site-Data", '"cookies", "storage"')


def put(context: Context, answer: HTTPResponse, name: str, value: str, max_age: int) -> None:
    """A cookie of ours; cleared with the path it was set with, or the browser keeps it."""
    by_tls = is_https(request.environ, context.config["server"]["trustedProxy"])
    answer.set_cookie(
        name,
        value,
        max_age=max_age,
        path=context.prefix or "/",
        httponly=True,
        secure=context.is_secure or by_tls,
        samesite="lax",
    )
