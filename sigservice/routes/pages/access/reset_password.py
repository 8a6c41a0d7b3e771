"""Setting a password by link, for users: request a link by email, open it, set a password."""

from __future__ import annotations

from typing import Any

from bottle import HTTPResponse, request

from sigservice.context import Context
from sigservice.errors import AppError, BadDataError, InvalidTokenError, UsedTokenError
from sigservice.services.access import passwords, reset_tokens
from sigservice.services.system.mails import PAGES, format_lifetime
from sigservice.web import reset_links, respond
from sigservice.web.body import FORM_LIMIT, read_query
from sigservice.web.guards import Public
from sigservice.web.public_forms import PublicForm
from sigservice.web.router import Router

TITLES = {"reset": "Set a new password", "welcome": "Welcome: set your password"}

router = Router(Public)


@router.get("/forgot-password")
def show_request(context: Context) -> HTTPResponse:
    return _render_request(context)


@router.post("/forgot-password", limit="password_reset", body_limit=FORM_LIMIT)
def send_reset_link(context: Context) -> HTTPResponse:
    form = PublicForm(context, "forgot-password").read("password")
    email = form.get("email", "").strip()
    if "@" not in email:
        problem = {"message": "Enter a valid email address.", "path": "email"}
        title = "Problem: Forgot your password?"
        return _render_request(context, status=400, problems=[problem], title=title, email=email)
    reset_links.send_reset_link(context, request.environ, email)
    return _render_request(context, is_sent=True, email=email)


@router.get(f"/{PAGES['reset']}")
def show_reset(context: Context) -> HTTPResponse:
    return _render_link(context, "reset", read_query(request.environ).get("token", ""))


@router.post(f"/{PAGES['reset']}", body_limit=FORM_LIMIT)
def reset_password(context: Context) -> HTTPResponse:
    return _set_password(context, "reset")


@router.get(f"/{PAGES['welcome']}")
def show_welcome(context: Context) -> HTTPResponse:
    return _render_link(context, "welcome", read_query(request.environ).get("token", ""))


@router.post(f"/{PAGES['welcome']}", body_limit=FORM_LIMIT)
def set_first_password(context: Context) -> HTTPResponse:
    return _set_password(context, "welcome")


def _set_password(context: Context, kind: str) -> HTTPResponse:
    public_form = PublicForm(context, "reset-password")
    form = public_form.read("password")
    token, password = form.get("token", ""), form.get("password", "")
    try:
        if password != form.get("confirm", ""):
            raise BadDataError("The two passwords differ.", path="confirm")
        reset_links.redeem_link(context, request.environ, token, password)
    except AppError as error:
        if error.status not in (400, 401, 403):
            raise
        title = f"Problem: {TITLES[kind]}"
        problems = passwords.list_problems(error)
        return _render_link(
            context, kind, token, status=error.status, problems=problems, title=title
        )
    return public_form.done(respond.redirect(context, "/sign-in?done=password"))


def _render_request(context: Context, **more: Any) -> HTTPResponse:
    """The page that asks for the email address of the account."""
    reset_links.require_passwords(context)
    values = {"title": "Forgot your password?", "email": "", "is_sent": False}
    values["sends_mail"] = context.mail_server is not None
    values["lifetime"] = format_lifetime(context.reset_lifetime)
    page = PublicForm(context, "forgot-password")
    return page.page("access/reset_password/ask", **(values | more))


def _render_link(context: Context, kind: str, token: str, **more: Any) -> HTTPResponse:
    """The form that sets a password, or what is wrong with the link."""
    reset_links.require_passwords(context)
    form = PublicForm(context, "reset-password")
    values: dict[str, Any] = {"title": TITLES[kind], "path": f"/{PAGES[kind]}", "token": token}
    values["sends_mail"] = context.mail_server is not None
    try:
        with context.database.autocommit() as conn:
            user = reset_tokens.find_link(conn, token, context.clock.now())
    except (InvalidTokenError, UsedTokenError) as error:
        problems = [{"message": error.message}]
        title = f"Problem: {TITLES[kind]}"
        more = {"status": error.status, "problems": problems, "title": title}
        return form.page("access/reset_password/set", user=None, rules=[], **(values | more))
    rules = passwords.list_rules()
    return form.page("access/reset_password/set", user=user, rules=rules, **(values | more))
