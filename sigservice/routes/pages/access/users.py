"""Users, pages: list (with the service accounts), new, edit, password or link for it, delete."""

from __future__ import annotations

from collections import Counter
from typing import Any

from bottle import HTTPResponse, request

from sigservice.context import Context
from sigservice.db.statements import Row
from sigservice.errors import AppError, ConflictError
from sigservice.repository.access import personal_tokens, service_accounts
from sigservice.repository.access import users as repository
from sigservice.repository.system import mails as mail_repository
from sigservice.services import outbox
from sigservice.services.access import passwords, reset_tokens, users
from sigservice.services.identity import ADMIN, Identity
from sigservice.web import reset_links, respond
from sigservice.web.body import read_query
from sigservice.web.guards import PageGuard
from sigservice.web.router import Router

PATH = "/admin/users"
NOTICES = {
    "created": "The user was created.",
    "saved": "The user was saved.",
    "password": "The password was set; the user's sessions have ended, and the user's personal API "
    "tokens are revoked.",
    "deleted": "The user was deleted.",
    "account-deleted": "The service account was deleted.",
}


router = Router(PageGuard)


def notice() -> str:
    return NOTICES.get(read_query(request.environ).get("done", ""), "")


@router.get(PATH, needs=ADMIN)
def show_list(context: Context, identity: Identity) -> HTTPResponse:
    with context.database.transaction() as conn:
        rows = repository.list_all(conn)
        accounts = service_accounts.list_all(conn)
        tokens = personal_tokens.list_of_service_accounts(conn)
    counts = Counter(token["user_id"] for token in tokens)
    return respond.page(
        context,
        "access/users/list",
        identity,
        title="Users",
        users=rows,
        accounts=[account | {"tokens": counts[account["id"]]} for account in accounts],
        notice=notice(),
    )


def form_page(
    context: Context, identity: Identity, user: Row | None, values: dict[str, str], **more: Any
) -> HTTPResponse:
    shared: dict[str, Any] = {"title": f"User {_login(user)}" if user else "New user"}
    shared["send_mail"] = True
    with context.database.autocommit() as conn:
        roles = repository.list_roles(conn)
        mail = mail_repository.find_last(conn, user["id"]) if user else None
    return respond.page(
        context,
        "access/users/form",
        identity,
        user=user,
        values=values,
        roles=roles,
        rules=passwords.list_rules(),
        sends_mail=context.mail_server is not None,
        mail=mail,
        mail_state=outbox.describe_state(mail) if mail else "",
        **(shared | more),
    )


@router.get(f"{PATH}/new", needs=ADMIN)
def new(context: Context, identity: Identity) -> HTTPResponse:
    return form_page(context, identity, None, _values({"rootRole": "Viewer"}))


@router.post(f"{PATH}/new", needs=ADMIN)
def create(context: Context, identity: Identity, form: dict[str, str]) -> HTTPResponse:
    values, password = _values(form), form.get("password", "")
    by_mail = form.get("send_mail") == "on"
    try:
        who = users.check_profile(**_given(values))
        if password:
            passwords.check(password, who.username, who.email)
        made = reset_links.invite_user(
            context, request.environ, who, password, identity, by_mail=by_mail
        )
    except AppError as error:
        if error.status != 400:
            raise
        return form_page(
            context, identity, None, values, send_mail=by_mail, **_told(error, "New user")
        )
    if password or not made.secret:
        return respond.redirect(context, f"{PATH}?done=created")
    return link_page(context, identity, made.user, "welcome", made.secret, made.is_mailed)


def link_page(
    context: Context, identity: Identity, user: Row, kind: str, secret: str, is_mailed: bool | None
) -> HTTPResponse:
    return respond.page(
        context,
        "access/users/link",
        identity,
        user=user,
        link=reset_links.make_link(context, request.environ, kind, secret),
        is_mailed=is_mailed,
        title=f"Password link for {_login(user)}",
    )


@router.get(f"{PATH}/<user_id:id>/link", needs=ADMIN)
def link_again(context: Context, identity: Identity, user_id: int) -> HTTPResponse:
    return respond.redirect(context, f"{PATH}/{user_id}")


@router.post(f"{PATH}/<user_id:id>/link", needs=ADMIN)
def hand_out_link(
    context: Context, identity: Identity, user_id: int, form: dict[str, str]
) -> HTTPResponse:
    reset_links.require_passwords(context)
    with context.database.transaction() as conn:
        user = users.get(conn, user_id)
        secret = reset_tokens.create_link(conn, user, identity, context.clock.now())
    return link_page(context, identity, user, "reset", secret, None)


@router.get(f"{PATH}/<user_id:id>", needs=ADMIN)
def edit(context: Context, identity: Identity, user_id: int) -> HTTPResponse:
    user = _found(context, user_id)
    return form_page(context, identity, user, _stored(user), notice=notice())


@router.post(f"{PATH}/<user_id:id>", needs=ADMIN)
def save(context: Context, identity: Identity, user_id: int, form: dict[str, str]) -> HTTPResponse:
    values = _values(form)
    try:
        with context.database.transaction() as conn:
            users.update(conn, user_id, _given(values), identity)
    except AppError as error:
        if error.status not in (400, 409):
            raise
        return form_page(
            context, identity, _found(context, user_id), values, **_told(error, "User")
        )
    return respond.redirect(context, f"{PATH}/{user_id}?done=saved")


# The answer to a refused password is a page: whoever loads it again is led to the form.
@router.get(f"{PATH}/<user_id:id>/password", needs=ADMIN)
def again(context: Context, identity: Identity, user_id: int) -> HTTPResponse:
    return respond.redirect(context, f"{PATH}/{user_id}")


@router.post(f"{PATH}/<user_id:id>/password", needs=ADMIN)
def set_password(
    context: Context, identity: Identity, user_id: int, form: dict[str, str]
) -> HTTPResponse:
    user, password = _found(context, user_id), form.get("password", "")
    try:
        passwords.check(password, user["username"], user["email"])
    except AppError as error:
        return form_page(context, identity, user, _stored(user), **_told(error, "Set password"))
    password_hash = context.passwords.hash(password)
    with context.database.transaction() as conn:
        users.set_password(
            conn, user_id, password_hash, identity, keep_session=identity.session_hash
        )
    return respond.redirect(context, f"{PATH}/{user_id}?done=password")


def delete_page(context: Context, identity: Identity, user: Row, **more: Any) -> HTTPResponse:
    title = f"Delete user {_login(user)}?"
    return respond.page(
        context, "access/users/delete", identity, user=user, **({"title": title} | more)
    )


@router.get(f"{PATH}/<user_id:id>/delete", needs=ADMIN)
def confirm_delete(context: Context, identity: Identity, user_id: int) -> HTTPResponse:
    return delete_page(context, identity, _found(context, user_id))


@router.post(f"{PATH}/<user_id:id>/delete", needs=ADMIN)
def delete(
    context: Context, identity: Identity, user_id: int, form: dict[str, str]
) -> HTTPResponse:
    try:
        with context.database.transaction() as conn:
            users.delete(conn, user_id, identity)
    except ConflictError as error:
        return delete_page(
            context, identity, _found(context, user_id), **_told(error, "Delete user")
        )
    return respond.redirect(context, f"{PATH}?done=deleted")


def _found(context: Context, user_id: int) -> Row:
    with context.database.autocommit() as conn:
        return users.get(conn, user_id)


def _login(user: Row) -> str:
    return str(user["username"] or user["email"])


def _stored(user: Row) -> dict[str, str]:
    values = {name: user[name] or "" for name in ("username", "email", "name")}
    return values | {"rootRole": user["role"]}


def _values(form: dict[str, str]) -> dict[str, str]:
    return {name: form.get(name, "").strip() for name in ("username", "email", "name", "rootRole")}


def _given(values: dict[str, str]) -> dict[str, Any]:
    kept = {name: values[name] for name in ("username", "email", "name")}
    return kept | {"root_role": values["rootRole"]}


def _told(error: AppError, what: str) -> dict[str, Any]:
    """What a page with a problem needs: one line for each failed rule."""
    problems = passwords.list_problems(error)
    return {"status": error.status, "problems": problems, "title": f"Problem: {what}"}
