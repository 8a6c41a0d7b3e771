"""Sign-in and sign-out for people."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from bottle import Bottle, HTTPResponse, request

from sigservice.context import Context
from sigservice.errors import BadDataError, PasswordMismatch
from sigservice.services import sessions
from sigservice.services.identity import VIEW, Identity
from sigservice.web import authentication, respond, session, sign_in
from sigservice.web.area import new_area
from sigservice.web.body import FORM_LIMIT, read_query
from sigservice.web.doors import OpenDoor, PageDoor, safe_next
from sigservice.web.open_forms import OpenForm

NOTICES = {
    "signed-out": "You are signed out.",
    "password": "Your password is set. Sign in with it.",
}


def build(context: Context) -> Bottle:
    area = new_area(context, OpenDoor())
    form = OpenForm(context, "sign-in")
    kind = context.authentication.type

    def form_page(values: dict[str, str], **more: Any) -> HTTPResponse:
        custom, query = context.authentication.custom, quote(values["next"], safe="")
        shared = {"title": "Sign in", "values": values, "custom": custom, "next_query": query}
        return form.page(kind.form, **(shared | more))

    @area.get("/sign-in")
    def show() -> HTTPResponse:
        query = read_query(request.environ)
        next_path = safe_next(query.get("next", ""))
        if authentication.find(context, request.environ):
            return respond.redirect(context, next_path)
        return form_page({"next": next_path}, notice=NOTICES.get(query.get("done", ""), ""))

    @area.post("/sign-in", limit="login", body_limit=FORM_LIMIT)
    def submit() -> HTTPResponse:
        if not (kind.has_passwords or kind.takes_address):
            return respond.redirect(context, "/sign-in")
        environ, sent = request.environ, form.read("sign-in")
        values = {name: sent.get(name, "") for name in ("username", "email")}
        values["next"] = safe_next(sent.get("next", ""))
        try:
            if kind.takes_address:
                _, new = sign_in.by_address(context, environ, values["email"])
            else:
                password, code = sent.get("password", ""), sent.get("code", "")
                _, new = sign_in.by_password(context, environ, values["username"], password, code)
        except (PasswordMismatch, BadDataError) as error:
            path = "email" if kind.takes_address else error.details[0].get("path", "username")
            problems = [{"message": error.message, "path": path}]
            more = {"status": error.status, "problems": problems, "title": "Problem: Sign in"}
            return form_page(values, **more)
        answer = respond.redirect(context, values["next"])
        session.set_cookie(context, answer, new)
        return form.done(answer)

    area.merge(_sign_out(context))
    return area


def _sign_out(context: Context) -> Bottle:
    area = new_area(context, PageDoor(context))

    @area.post("/logout", needs=VIEW, while_built_in_password=True, for_scripts=True)
    def sign_out(identity: Identity, form: dict[str, str]) -> HTTPResponse:
        with context.database.transaction() as conn:
            sessions.close_all(conn, identity)
        answer = respond.redirect(context, "/sign-in?done=signed-out")
        session.clear_cookie(context, answer)
        return answer

    return area
