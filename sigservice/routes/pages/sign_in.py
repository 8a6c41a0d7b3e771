"""Sign-in and sign-out for people."""

from __future__ import annotations

from typing import Any

from bottle import Bottle, HTTPResponse, request

from sigservice.context import Context
from sigservice.errors import PasswordMismatch
from sigservice.services import sessions
from sigservice.services.identity import VIEW, Identity
from sigservice.web import respond, session
from sigservice.web.area import new_area
from sigservice.web.body import read_query
from sigservice.web.doors import OpenDoor, PageDoor, safe_next
from sigservice.web.open_forms import OpenForm

NOTICES = {
    "signed-out": "You are signed out.",
    "password": "Your password is set. Sign in with it.",
}


def build(context: Context) -> Bottle:
    area = new_area(context, OpenDoor())
    form = OpenForm(context, "sign-in")

    def form_page(values: dict[str, str], **more: Any) -> HTTPResponse:
        return form.page("sign_in/form", values=values, **({"title": "Sign in"} | more))

    @area.get("/sign-in")
    def show() -> HTTPResponse:
        query = read_query(request.environ)
        next_path = safe_next(query.get("next", ""))
        if session.find(context, request.environ):
            return respond.redirect(context, next_path)
        return form_page({"next": next_path}, notice=NOTICES.get(query.get("done", ""), ""))

    @area.post("/sign-in", limit="login")
    def sign_in() -> HTTPResponse:
        sent = form.read("sign-in")
        values = {"username": sent.get("username", ""), "next": safe_next(sent.get("next", ""))}
        try:
            _, new = session.start(
                context, request.environ, values["username"], sent.get("password", "")
            )
        except PasswordMismatch as error:
            problems = [{"message": error.message, "path": "username"}]
            more = {"status": 401, "problems": problems, "title": "Problem: Sign in"}
            return form_page(values, **more)
        answer = respond.redirect(context, values["next"])
        session.set_cookie(context, answer, new)
        return form.done(answer)

    area.merge(_sign_out(context))
    return area


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
