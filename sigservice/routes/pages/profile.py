"""The current user: who I am, and a new password."""

from __future__ import annotations

from typing import Any

from bottle import Bottle, HTTPResponse, request

from sigservice.context import Context
from sigservice.errors import AppError, BadDataError
from sigservice.services import passwords
from sigservice.services.identity import VIEW, Identity
from sigservice.web import respond
from sigservice.web.area import new_area
from sigservice.web.body import read_query
from sigservice.web.doors import PageDoor
from sigservice.web.password_attempts import change_own_password

FIELDS = {"oldPassword": "old"}
NOTICES = {
    "password": "Your password was changed; your other sessions have ended.",
    "password-and-tokens": "Your password was changed; your other sessions have ended, and your "
    "personal API tokens are revoked.",
}


def build(context: Context) -> Bottle:
    area = new_area(context, PageDoor(context))

    def profile_page(identity: Identity, **more: Any) -> HTTPResponse:
        values = {"title": "Your account", "rules": [text for _, text in passwords.RULES]}
        return respond.page(context, "profile/show", identity, **(values | more))

    @area.get("/profile", needs=VIEW, while_built_in_password=True)
    def show(identity: Identity) -> HTTPResponse:
        done = read_query(request.environ).get("done", "")
        return profile_page(identity, notice=NOTICES.get(done, ""))

    @area.get("/profile/password", needs=VIEW, while_built_in_password=True)
    def again(identity: Identity) -> HTTPResponse:
        return respond.redirect(context, "/profile")

    @area.post("/profile/password", needs=VIEW, while_built_in_password=True)
    def change_password(identity: Identity, form: dict[str, str]) -> HTTPResponse:
        try:
            if form.get("password", "") != form.get("confirm", ""):
                raise BadDataError("The two new passwords differ.", path="confirm")
            change_own_password(
                context,
                identity,
                form.get("old", ""),
                form.get("password", ""),
                revoke_tokens=form.get("revoke_tokens") == "on",
            )
        except AppError as error:
            if error.status not in (400, 401):
                raise
            return profile_page(
                identity,
                status=error.status,
                title="Problem: Your account",
                problems=_by_field(error),
            )
        done = "password-and-tokens" if form.get("revoke_tokens") == "on" else "password"
        return respond.redirect(context, f"/profile?done={done}")

    return area


def _by_field(error: AppError) -> list[dict[str, Any]]:
    """One problem for each failed rule of the policy."""
    problems = passwords.problems_of(error)
    return [
        problem | {"path": FIELDS.get(problem["path"], problem["path"])} for problem in problems
    ]
