"""Setting a password by link, for people: ask for a link by mail, open it, set a password."""

from __future__ import annotations

from typing import Any

from bottle import Bottle, HTTPResponse, request

from sigservice.context import Context
from sigservice.errors import AppError, BadDataError, InvalidTokenError, UsedTokenError
from sigservice.services import passwords, reset_tokens
from sigservice.services.mails import PAGES, readable_lifetime
from sigservice.web import password_links, respond
from sigservice.web.area import new_area
from sigservice.web.body import FORM_LIMIT, read_query
from sigservice.web.doors import OpenDoor
from sigservice.web.open_forms import OpenForm

TITLES = {"reset": "Set a new password", "welcome": "Welcome: set your password"}


def build(context: Context) -> Bottle:
    area = new_area(context, OpenDoor())
    area.merge(_ask(context))
    for kind, page in PAGES.items():
        area.merge(_set(context, kind, f"/{page}"))
    return area


def _ask(context: Context) -> Bottle:
    area = new_area(context, OpenDoor())
    form = OpenForm(context, "forgot-password")

    def form_page(**more: Any) -> HTTPResponse:
        password_links.demand_passwords(context)
        values = {"title": "Forgot your password?", "email": "", "is_sent": False}
        values["sends_mail"] = context.mail_server is not None
        values["lifetime"] = readable_lifetime(context.reset_lifetime)
        return form.page("reset_password/ask", **(values | more))

    @area.get("/forgot-password")
    def show() -> HTTPResponse:
        return form_page()

    @area.post("/forgot-password", limit="password_reset", body_limit=FORM_LIMIT)
    def send_mail() -> HTTPResponse:
        email = form.read("password").get("email", "").strip()
        if "@" not in email:
            problem = {"message": "This is not an e-mail address.", "path": "email"}
            title = "Problem: Forgot your password?"
            return form_page(status=400, problems=[problem], title=title, email=email)
        password_links.ask(context, request.environ, email)
        return form_page(is_sent=True, email=email)

    return area


def _set(context: Context, kind: str, path: str) -> Bottle:
    area = new_area(context, OpenDoor())
    form = OpenForm(context, "reset-password")

    def form_page(token: str, **more: Any) -> HTTPResponse:
        """The form, or what is wrong with the link."""
        password_links.demand_passwords(context)
        values: dict[str, Any] = {"title": TITLES[kind], "path": path, "token": token}
        values["sends_mail"] = context.mail_server is not None
        try:
            with context.database.autocommit() as conn:
                user = reset_tokens.find(conn, token, context.clock.now())
        except (InvalidTokenError, UsedTokenError) as error:
            problems = [{"message": error.message}]
            title = f"Problem: {TITLES[kind]}"
            more = {"status": error.status, "problems": problems, "title": title}
            return form.page("reset_password/set", user=None, rules=[], **(values | more))
        rules = passwords.rule_texts()
        return form.page("reset_password/set", user=user, rules=rules, **(values | more))

    @area.get(path)
    def show() -> HTTPResponse:
        return form_page(read_query(request.environ).get("token", ""))

    @area.post(path, body_limit=FORM_LIMIT)
    def set_password() -> HTTPResponse:
        sent = form.read("password")
        token, password = sent.get("token", ""), sent.get("password", "")
        try:
            if password != sent.get("confirm", ""):
                raise BadDataError("The two passwords differ.", path="confirm")
            password_links.redeem(context, request.environ, token, password)
        except AppError as error:
            if error.status not in (400, 401, 403):
                raise
            title = f"Problem: {TITLES[kind]}"
            problems = passwords.problems_of(error)
            return form_page(token, status=error.status, problems=problems, title=title)
        return form.done(respond.redirect(context, "/sign-in?done=password"))

    return area
