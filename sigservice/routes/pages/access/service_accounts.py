"""Service accounts, pages: create, edit, delete, and their tokens."""

from typing import Any

from bottle import HTTPResponse

from sigservice.context import Context
from sigservice.errors import AppError
from sigservice.repository.access import users as users_repository
from sigservice.routes.pages.access.account_fields import (
    make_personal_token_fields,
    make_role_field,
)
from sigservice.services.access import personal_tokens, service_accounts
from sigservice.services.identity import ADMIN, Identity
from sigservice.web import respond
from sigservice.web.forms import Field
from sigservice.web.guards import PageGuard
from sigservice.web.router import Router

PATH = "/admin/service-accounts"
ONE = f"{PATH}/<account_id:id>"
NOTICES = {
    "created": "Service account created. Create a token for it.",
    "saved": "Service account saved.",
    "token-deleted": "Token deleted. It is no longer valid.",
}


router = Router(PageGuard)


@router.get(f"{PATH}/new", needs=ADMIN)
def show_new_service_account(context: Context, identity: Identity) -> HTTPResponse:
    return _render_form(context, identity, None)


@router.post(f"{PATH}/new", needs=ADMIN)
def create_service_account(
    context: Context, identity: Identity, form: dict[str, str]
) -> HTTPResponse:
    values = _read_values(form, "username", "name", "rootRole")
    try:
        with context.database.transaction() as conn:
            account = service_accounts.create(conn, _to_changes(values), identity)
    except AppError as error:
        return _render_rejected(context, identity, None, values, error)
    return respond.redirect(context, f"{PATH}/{account['id']}?done=created")


@router.get(ONE, needs=ADMIN)
def show_service_account(context: Context, identity: Identity, account_id: int) -> HTTPResponse:
    return _render_form(context, identity, account_id, notice=respond.find_notice(NOTICES))


@router.post(ONE, needs=ADMIN)
def save_service_account(
    context: Context, identity: Identity, account_id: int, form: dict[str, str]
) -> HTTPResponse:
    values = _read_values(form, "username", "name", "rootRole")
    try:
        with context.database.transaction() as conn:
            service_accounts.update(conn, account_id, _to_changes(values), identity)
    except AppError as error:
        return _render_rejected(context, identity, account_id, values, error)
    return respond.redirect(context, f"{PATH}/{account_id}?done=saved")


@router.get(f"{ONE}/delete", needs=ADMIN)
def confirm_delete_service_account(
    context: Context, identity: Identity, account_id: int
) -> HTTPResponse:
    with context.database.transaction() as conn:
        account = service_accounts.get(conn, account_id)
        tokens = service_accounts.list_tokens(conn, account_id)
    return respond.page(
        context,
        "access/service_accounts/delete",
        identity,
        account=account,
        tokens=tokens,
        title=f"Delete service account {account['username']}?",
    )


@router.post(f"{ONE}/delete", needs=ADMIN)
def delete_service_account(
    context: Context, identity: Identity, account_id: int, form: dict[str, str]
) -> HTTPResponse:
    with context.database.transaction() as conn:
        service_accounts.delete(conn, account_id, identity)
    return respond.redirect(context, "/admin/users?done=account-deleted")


# The answer to the POST is a page; reloading its URL shows the account again.
@router.get(f"{ONE}/tokens", needs=ADMIN)
def redirect_from_tokens(context: Context, identity: Identity, account_id: int) -> HTTPResponse:
    return respond.redirect(context, f"{PATH}/{account_id}#tokens")


@router.post(f"{ONE}/tokens", needs=ADMIN)
def create_service_account_token(
    context: Context, identity: Identity, account_id: int, form: dict[str, str]
) -> HTTPResponse:
    values = _read_values(form, "description", "expiresAt")
    now = context.clock.now()
    try:
        fields = personal_tokens.check_fields(values["description"], values["expiresAt"], now=now)
        with context.database.transaction() as conn:
            token, secret = service_accounts.create_token(conn, account_id, fields, identity)
    except AppError as error:
        return _render_rejected(context, identity, account_id, values, error)
    return respond.page(
        context,
        "access/personal_tokens/created",
        identity,
        title="Token created",
        token=token,
        secret=Field("secret", "Token", secret),
        back=f"{PATH}/{account_id}",
    )


@router.get(f"{ONE}/tokens/<personal_token_id:id>/delete", needs=ADMIN)
def confirm_delete_service_account_token(
    context: Context, identity: Identity, account_id: int, personal_token_id: int
) -> HTTPResponse:
    with context.database.transaction() as conn:
        account = service_accounts.get(conn, account_id)
        token = personal_tokens.get(conn, account_id, personal_token_id)
    return respond.page(
        context,
        "access/personal_tokens/delete",
        identity,
        token=token,
        back=f"{PATH}/{account_id}",
        title=f"Delete token {token['description']} of {account['username']}?",
    )


@router.post(f"{ONE}/tokens/<personal_token_id:id>/delete", needs=ADMIN)
def delete_service_account_token(
    context: Context,
    identity: Identity,
    account_id: int,
    personal_token_id: int,
    form: dict[str, str],
) -> HTTPResponse:
    with context.database.transaction() as conn:
        service_accounts.delete_token(conn, account_id, personal_token_id, identity)
    return respond.redirect(context, f"{PATH}/{account_id}?done=token-deleted")


def _render_form(
    context: Context,
    identity: Identity,
    account_id: int | None,
    values: dict[str, str] | None = None,
    **more: Any,
) -> HTTPResponse:
    """`values` are the submitted ones if they were invalid."""
    stored_values = {"username": "", "name": "", "rootRole": "Viewer"}
    account, tokens = None, []
    with context.database.transaction() as conn:
        roles = users_repository.list_roles(conn)
        if account_id is not None:
            account = service_accounts.get(conn, account_id)
            tokens = service_accounts.list_tokens(conn, account_id)
            name = account["name"] or ""
            stored_values = {"username": account["username"], "name": name}
            stored_values["rootRole"] = account["role"]
    values = {"description": "", "expiresAt": ""} | stored_values | (values or {})
    name_hint = "e.g. deploy-bot"
    fields = [
        Field("username", "Username", values["username"], hint=name_hint, is_required=True),
        Field("name", "Full name", values["name"]),
        make_role_field(roles, values["rootRole"]),
    ]
    title = f"Service account {account['username']}" if account else "New service account"
    return respond.page(
        context,
        "access/service_accounts/form",
        identity,
        account=account,
        tokens=tokens,
        tokens_path=f"{PATH}/{account_id}/tokens",
        token_limit=personal_tokens.MAX_TOKENS,
        fields=fields,
        token_fields=make_personal_token_fields(values["description"], values["expiresAt"]),
        title=title,
        **more,
    )


def _render_rejected(
    context: Context,
    identity: Identity,
    account_id: int | None,
    values: dict[str, str],
    error: AppError,
) -> HTTPResponse:
    """The form with its problems; raises an `error` that the user can't correct in the form."""
    if error.status not in (400, 409):
        raise error
    return _render_form(context, identity, account_id, values, form_error=error)


def _read_values(form: dict[str, str], *names: str) -> dict[str, str]:
    return {name: form.get(name, "").strip() for name in names}


def _to_changes(values: dict[str, str]) -> dict[str, Any]:
    return {"username": values["username"], "name": values["name"], "root_role": values["rootRole"]}
