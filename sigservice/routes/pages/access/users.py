"""Users, pages: list (with service accounts), create, edit, password and reset link, delete."""

from collections import Counter
from typing import Any

from bottle import HTTPResponse, request

from sigservice.context import Context
from sigservice.db.statements import Row
from sigservice.errors import AppError, ConflictError
from sigservice.repository.access import personal_tokens, service_accounts
from sigservice.repository.access import users as repository
from sigservice.repository.system import mails as mail_repository
from sigservice.routes.pages.access.account_fields import make_password_field, make_role_field
from sigservice.services import outbox
from sigservice.services.access import passwords, reset_tokens, users
from sigservice.services.identity import ADMIN, Identity
from sigservice.web import reset_links, respond
from sigservice.web.forms import Field
from sigservice.web.guards import PageGuard
from sigservice.web.router import Router

PATH = "/admin/users"
ONE = f"{PATH}/<user_id:id>"
NOTICES = {
    "created": "User created.",
    "saved": "User saved.",
    "password": "Password set. The user was signed out and the user's personal API tokens revoked.",
    "deleted": "User deleted.",
    "account-deleted": "Service account deleted.",
}


router = Router(PageGuard)


@router.get(PATH, needs=ADMIN)
def list_users(context: Context, identity: Identity) -> HTTPResponse:
    with context.database.transaction() as conn:
        rows = repository.list_all(conn)
        accounts = service_accounts.list_all(conn)
        tokens = personal_tokens.list_of_users(conn, [account["id"] for account in accounts])
    counts = Counter(token["user_id"] for token in tokens)
    return respond.page(
        context,
        "access/users/list",
        identity,
        title="Users",
        users=rows,
        accounts=[account | {"tokens": counts[account["id"]]} for account in accounts],
        notice=respond.find_notice(NOTICES),
    )


@router.get(f"{PATH}/new", needs=ADMIN)
def show_new_user(context: Context, identity: Identity) -> HTTPResponse:
    return _render_form(context, identity, None, _read_values({"rootRole": "Viewer"}))


@router.post(f"{PATH}/new", needs=ADMIN)
def create_user(context: Context, identity: Identity, form: dict[str, str]) -> HTTPResponse:
    values, password = _read_values(form), form.get("password", "")
    by_mail = form.get("send_mail") == "on"
    try:
        profile = users.check_profile(**_to_changes(values))
        if password:
            passwords.check(password, profile.username, profile.email)
        user, secret, is_mailed = reset_links.invite_user(
            context, request.environ, profile, password, identity, by_mail=by_mail
        )
    except AppError as error:
        if error.status != 400:
            raise
        return _render_form(context, identity, None, values, error, by_mail=by_mail)
    if password or not secret:
        return respond.redirect(context, f"{PATH}?done=created")
    mail_state = f"An email with its own link is on its way to {user['email']}."
    if not is_mailed:
        mail_state = "No email was sent - share the link yourself."
    return _render_link(context, identity, user, "welcome", secret, mail_state)


@router.get(f"{ONE}/link", needs=ADMIN)
def redirect_from_link(context: Context, identity: Identity, user_id: int) -> HTTPResponse:
    return respond.redirect(context, f"{PATH}/{user_id}")


@router.post(f"{ONE}/link", needs=ADMIN)
def create_reset_link(
    context: Context, identity: Identity, user_id: int, form: dict[str, str]
) -> HTTPResponse:
    reset_links.require_passwords(context)
    with context.database.transaction() as conn:
        user = users.get(conn, user_id)
        secret = reset_tokens.create_link(conn, user, identity, context.clock.now())
    return _render_link(context, identity, user, "reset", secret)


@router.get(ONE, needs=ADMIN)
def show_user(context: Context, identity: Identity, user_id: int) -> HTTPResponse:
    user = _get_user(context, user_id)
    return _render_form(context, identity, user, _to_values(user))


@router.post(ONE, needs=ADMIN)
def save_user(
    context: Context, identity: Identity, user_id: int, form: dict[str, str]
) -> HTTPResponse:
    values = _read_values(form)
    try:
        with context.database.transaction() as conn:
            users.update(conn, user_id, _to_changes(values), identity)
    except AppError as error:
        if error.status not in (400, 409):
            raise
        return _render_form(context, identity, _get_user(context, user_id), values, error)
    return respond.redirect(context, f"{PATH}/{user_id}?done=saved")


# The answer to a rejected password is a page; reloading its URL shows the user again.
@router.get(f"{ONE}/password", needs=ADMIN)
def redirect_from_password(context: Context, identity: Identity, user_id: int) -> HTTPResponse:
    return respond.redirect(context, f"{PATH}/{user_id}")


@router.post(f"{ONE}/password", needs=ADMIN)
def set_password(
    context: Context, identity: Identity, user_id: int, form: dict[str, str]
) -> HTTPResponse:
    user, password = _get_user(context, user_id), form.get("password", "")
    try:
        passwords.check(password, user["username"], user["email"])
    except AppError as error:
        return _render_form(context, identity, user, _to_values(user), error)
    password_hash = context.passwords.hash(password)
    with context.database.transaction() as conn:
        users.set_password(
            conn, user_id, password_hash, identity, keep_session=identity.session_hash
        )
    return respond.redirect(context, f"{PATH}/{user_id}?done=password")


@router.get(f"{ONE}/delete", needs=ADMIN)
def confirm_delete_user(context: Context, identity: Identity, user_id: int) -> HTTPResponse:
    return _render_delete(context, identity, _get_user(context, user_id))


@router.post(f"{ONE}/delete", needs=ADMIN)
def delete_user(
    context: Context, identity: Identity, user_id: int, form: dict[str, str]
) -> HTTPResponse:
    try:
        with context.database.transaction() as conn:
            users.delete(conn, user_id, identity)
    except ConflictError as error:
        return _render_delete(context, identity, _get_user(context, user_id), error)
    return respond.redirect(context, f"{PATH}?done=deleted")


def _render_form(
    context: Context,
    identity: Identity,
    user: Row | None,
    values: dict[str, str],
    error: AppError | None = None,
    *,
    by_mail: bool = True,
) -> HTTPResponse:
    with context.database.autocommit() as conn:
        roles = repository.list_roles(conn)
        mail = mail_repository.find_last(conn, user["id"]) if user else None
    login = user["username"] or user["email"] if user else ""
    note = context.authentication.type.note
    if context.authentication.type.has_passwords and not user and context.mail_server is None:
        note = "Email isn't configured - share the link yourself."
    return respond.page(
        context,
        "access/users/form",
        identity,
        user=user,
        login=login,
        fields=_make_fields(context, user, values, roles, by_mail=by_mail),
        note=note,
        new_password=make_password_field("password", "New password", passwords.REQUIREMENTS),
        mail=mail,
        mail_state=_describe_mail(mail) if mail else "",
        title=f"User {login}" if user else "New user",
        notice=respond.find_notice(NOTICES),
        form_error=error,
        problems=passwords.list_problems(error) if error else [],
    )


def _make_fields(
    context: Context, user: Row | None, values: dict[str, str], roles: list[Row], *, by_mail: bool
) -> list[Field]:
    has_passwords = context.authentication.type.has_passwords
    login_hint = "Username or email is required"
    login_hint += "; either can be used to sign in." if has_passwords else "."
    fields = [
        Field("username", "Username", values["username"], hint=login_hint),
        Field("email", "Email", values["email"]),
        Field("name", "Full name", values["name"]),
        make_role_field(roles, values["rootRole"]),
    ]
    if user or not has_passwords:
        return fields
    hint = f"Leave empty to get an invite link. {passwords.REQUIREMENTS}"
    attributes = {"autocomplete": "new-password"}
    fields.append(Field("password", "Password", type="password", hint=hint, attributes=attributes))
    if context.mail_server is not None:
        fields.append(Field("send_mail", "Send a welcome email with a link", by_mail, "checkbox"))
    return fields


def _describe_mail(mail: Row) -> str:
    error = f" ({mail['last_error']})" if mail["last_error"] else ""
    return f"{mail['kind']}, {outbox.describe_state(mail)}{error}"


def _render_link(
    context: Context, identity: Identity, user: Row, kind: str, secret: str, mail_state: str = ""
) -> HTTPResponse:
    url = reset_links.make_link(context, request.environ, kind, secret)
    name = "Invite link" if kind == "welcome" else "Reset link"
    title = f"{name} for {user['username'] or user['email']}"
    values: dict[str, Any] = {"title": title, "mail_state": mail_state}
    values["link"] = Field("link", "Link", url)
    return respond.page(context, "access/users/link", identity, **values)


def _render_delete(
    context: Context, identity: Identity, user: Row, error: AppError | None = None
) -> HTTPResponse:
    login = user["username"] or user["email"]
    values: dict[str, Any] = {"title": f"Delete user {login}?", "user": user, "login": login}
    return respond.page(context, "access/users/delete", identity, form_error=error, **values)


def _get_user(context: Context, user_id: int) -> Row:
    with context.database.autocommit() as conn:
        return users.get(conn, user_id)


def _to_values(user: Row) -> dict[str, str]:
    values = {name: user[name] or "" for name in ("username", "email", "name")}
    return values | {"rootRole": user["role"]}


def _read_values(form: dict[str, str]) -> dict[str, str]:
    return {name: form.get(name, "").strip() for name in ("username", "email", "name", "rootRole")}


def _to_changes(values: dict[str, str]) -> dict[str, Any]:
    changes = {name: values[name] for name in ("username", "email", "name")}
    return changes | {"root_role": values["rootRole"]}
