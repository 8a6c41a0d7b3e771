"""Sign-in and sign-out for people."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from bottle import HTTPResponse, request

from sigservice.context import Context
from sigservice.errors import BadDataError, PasswordMismatch
from sigservice.services.access import sessions
from sigservice.services.identity import VIEW, Identity
from sigservice.web import request_identity, respond, session, sign_in
from sigservice.web.body import FORM_LIMIT, read_query
from sigservice.web.guards import PageGuard, Public, make_next_path
from sigservice.web.public_forms import PublicForm
from sigservice.web.router import Router

NOTICES = {
    "signed-out": "You are signed out.",
    "password": "Your password is set. Sign in with it.",
}


router = Router(Public)
signed_in_router = Router(PageGuard)


def form_page(context: Context, values: dict[str, str], **more: Any) -> HTTPResponse:
    custom, query = context.authentication.custom, quote(values["next"], safe="")
    shared = {"title": "Sign in", "values": values, "custom": custom, "next_query": query}
    return PublicForm(context, "sign-in").page(context.authentication.type.form, **(shared | more))


@router.get("/sign-in")
def show(context: Context) -> HTTPResponse:
    query = read_query(request.environ)
    next_path = make_next_path(query.get("next", ""))
    if request_identity.find_identity(context, request.environ):
        return respond.redirect(context, next_path)
    return form_page(context, {"next": next_path}, notice=NOTICES.get(query.get("done", ""), ""))


@router.post("/sign-in", limit="login", body_limit=FORM_LIMIT)
def submit(context: Context) -> HTTPResponse:
    if not (context.authentication.type.has_passwords or context.authentication.type.takes_email):
        return respond.redirect(context, "/sign-in")
    environ, sent = request.environ, PublicForm(context, "sign-in").read("sign-in")
    values = {name: sent.get(name, "") for name in ("username", "email")}
    values["next"] = make_next_path(sent.get("next", ""))
    try:
        if context.authentication.type.takes_email:
            _, new = sign_in.by_address(context, environ, values["email"])
        else:
            password, code = sent.get("password", ""), sent.get("code", "")
            _, new = sign_in.by_password(context, environ, values["username"], password, code)
    except (PasswordMismatch, BadDataError) as error:
        path = (
            "email"
            if context.authentication.type.takes_email
            else error.details[0].get("path", "username")
        )
        problems = [{"message": error.message, "path": path}]
        more = {"status": error.status, "problems": problems, "title": "Problem: Sign in"}
        return form_page(context, values, **more)
    answer = respond.redirect(context, values["next"])
    session.set_cookie(context, answer, new)
    return PublicForm(context, "sign-in").done(answer)


@signed_in_router.post("/logout", needs=VIEW, while_default_password=True, for_scripts=True)
def sign_out(context: Context, identity: Identity, form: dict[str, str]) -> HTTPResponse:
    with context.database.transaction() as conn:
        sessions.sign_out(conn, identity)
    answer = respond.redirect(context, "/sign-in?done=signed-out")
    session.clear_cookie(context, answer)
    return answer
