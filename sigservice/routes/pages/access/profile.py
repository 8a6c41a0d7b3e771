"""The current user: who I am, a new password, and where I am signed in."""

from __future__ import annotations

import re
from typing import Any

from bottle import HTTPResponse, request

from sigservice.context import Context
from sigservice.errors import AppError, BadDataError, ForbiddenError
from sigservice.services.access import passwords, sessions
from sigservice.services.identity import VIEW, Identity
from sigservice.web import respond, session
from sigservice.web.body import read_query
from sigservice.web.guards import PageGuard
from sigservice.web.password_attempts import change_own_password
from sigservice.web.router import Router

_ID = re.compile(r"[0-9]{1,18}")
FIELDS = {"oldPassword": "old"}
NOTICES = {
    "sessions": "Signed out there.",
    "password": "Your password was changed; your other sessions have ended.",
    "password-and-tokens": "Your password was changed; your other sessions have ended, and your "
    "personal API tokens are revoked.",
}


router = Router(PageGuard)


def profile_page(context: Context, identity: Identity, **more: Any) -> HTTPResponse:
    values: dict[str, Any] = {"title": "Your account", "sessions": []}
    values["rules"] = passwords.list_rules()
    if identity.session_hash and not identity.has_default_password:
        values["sessions"] = session.list_own_sessions(context, identity)
    return respond.page(context, "access/profile/show", identity, **(values | more))


@router.get("/profile", needs=VIEW, while_default_password=True)
def show(context: Context, identity: Identity) -> HTTPResponse:
    done = read_query(request.environ).get("done", "")
    return profile_page(context, identity, notice=NOTICES.get(done, ""))


@router.get("/profile/password", needs=VIEW, while_default_password=True)
def again(context: Context, identity: Identity) -> HTTPResponse:
    return respond.redirect(context, "/profile")


@router.post("/profile/password", needs=VIEW, while_default_password=True)
def change_password(context: Context, identity: Identity, form: dict[str, str]) -> HTTPResponse:
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
            context,
            identity,
            status=error.status,
            title="Problem: Your account",
            problems=_by_field(error),
        )
    done = "password-and-tokens" if form.get("revoke_tokens") == "on" else "password"
    return respond.redirect(context, f"/profile?done={done}")


@router.get("/profile/sessions", needs=VIEW)
def show_sessions(context: Context, identity: Identity) -> HTTPResponse:
    return respond.redirect(context, "/profile")


@router.post("/profile/sessions", needs=VIEW)
def end_sessions(context: Context, identity: Identity, form: dict[str, str]) -> HTTPResponse:
    """`session` is an ID, or `others`."""
    if not identity.session_hash:
        raise ForbiddenError("Only a user who is signed in has sessions.")
    chosen, is_current = form.get("session", ""), False
    with context.database.transaction() as conn:
        if chosen == "others":
            sessions.end_other_sessions(conn, identity)
        else:
            id = int(chosen) if _ID.fullmatch(chosen) else 0
            is_current = sessions.end_session(conn, identity, id)
    if not is_current:
        return respond.redirect(context, "/profile?done=sessions")
    answer = respond.redirect(context, "/sign-in?done=signed-out")
    session.clear_cookie(context, answer)
    return answer


def _by_field(error: AppError) -> list[dict[str, Any]]:
    """One problem for each failed rule of the policy."""
    problems = passwords.list_problems(error)
    return [
        problem | {"path": FIELDS.get(problem["path"], problem["path"])} for problem in problems
    ]
