"""Sign-in and sign-out for people.

The sign-in form is protected before there is a session: a random cookie and a field that
follows from it, so that another site can't sign a visitor in to an account of its choice.
"""

from __future__ import annotations

import re
from typing import Any

from bottle import Bottle, HTTPResponse, request

from sigservice import secrets
from sigservice.context import Context
from sigservice.errors import ForbiddenError, PasswordMismatch
from sigservice.services import sessions
from sigservice.services.identity import VIEW, Identity
from sigservice.web import respond, session
from sigservice.web.area import new_area
from sigservice.web.body import read_form, read_query
from sigservice.web.client_ip import is_plain_for_all_we_know
from sigservice.web.doors import OpenDoor, PageDoor, check_same_origin, safe_next

FORM_SECONDS = 24 * 3600
_NONCE = re.compile(r"[A-Za-z0-9_-]{43}")


def build(context: Context) -> Bottle:
    area = new_area(context, OpenDoor())
    form_cookie = context.config["session"]["cookieName"] + "-form"

    def form_page(environ: dict[str, Any], values: dict[str, str], **more: Any) -> HTTPResponse:
        nonce = session.cookies(environ).get(form_cookie, "")
        if not _NONCE.fullmatch(nonce):  # a made-up one may not even fit into a cookie
            nonce = secrets.new_secret()
        answer = respond.page(
            context,
            "sign_in/form",
            None,
            values=values,
            form_token=secrets.derive(nonce, "sign-in"),
            warning=_why_it_can_not_stick(context)
            if context.is_secure and is_plain_for_all_we_know(environ)
            else "",
            **({"title": "Sign in"} | more),
        )
        session.put(context, answer, form_cookie, nonce, FORM_SECONDS)
        return answer

    @area.get("/sign-in")
    def show() -> HTTPResponse:
        query = read_query(request.environ)
        next_path = safe_next(query.get("next", ""))
        if session.find(context, request.environ):
            return respond.redirect(context, next_path)
        notice = "You are signed out." if query.get("done") == "signed-out" else ""
        return form_page(request.environ, {"next": next_path}, notice=notice)

    @area.post("/sign-in", limit="login")
    def sign_in() -> HTTPResponse:
        environ = request.environ
        check_same_origin(context, environ)
        form = read_form(environ)
        nonce = session.cookies(environ).get(form_cookie, "")
        if not nonce or not secrets.equal(secrets.derive(nonce, "sign-in"), form.get("csrf", "")):
            raise ForbiddenError(
                "The sign-in form has expired, or your browser sent no cookie. Load it again. "
                + (_why_it_can_not_stick(context) if context.is_secure else "")
            )
        values = {"username": form.get("username", ""), "next": safe_next(form.get("next", ""))}
        try:
            _, new = session.start(context, environ, values["username"], form.get("password", ""))
        except PasswordMismatch as error:
            problems = [{"message": error.message, "path": "username"}]
            more = {"status": 401, "problems": problems, "title": "Problem: Sign in"}
            return form_page(environ, values, **more)
        answer = respond.redirect(context, values["next"])
        session.set_cookie(context, answer, new)
        session.put(context, answer, form_cookie, "", 0)
        return answer

    area.merge(_sign_out(context))
    return area


def _why_it_can_not_stick(context: Context) -> str:
    secure = "SECURE_HEADERS is on" if context.config["secureHeaders"] else "SERVICE_URL is https"
    there = context.public_url if context.public_url.startswith("https:") else "https://"
    return (
        f"Cookies are for HTTPS only here, because {secure}. At an address that begins with "
        f"http:// your browser drops them, and signing in leads nowhere: use {there} instead."
    )


def _sign_out(context: Context) -> Bottle:
    area = new_area(context, PageDoor(context))

    @area.post("/logout", needs=VIEW, while_built_in_password=True)
    def sign_out(identity: Identity, form: dict[str, str]) -> HTTPResponse:
        with context.database.transaction() as conn:
            sessions.close_all(conn, identity)
        answer = respond.redirect(context, "/sign-in?done=signed-out")
        session.clear_cookie(context, answer)
        return answer

    return area
