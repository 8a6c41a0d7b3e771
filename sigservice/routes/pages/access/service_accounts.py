"""Service accounts, pages: new, edit, delete, and their tokens (a secret is seen once)."""

from __future__ import annotations

from typing import Any

from bottle import HTTPResponse, request

from sigservice.context import Context
from sigservice.errors import AppError
from sigservice.repository.access import users as users_repository
from sigservice.services.access import personal_tokens, service_accounts
from sigservice.services.identity import ADMIN, Identity
from sigservice.web import respond
from sigservice.web.body import read_query
from sigservice.web.guards import PageGuard
from sigservice.web.router import Router

PATH = "/admin/service-accounts"
ONE = f"{PATH}/<account_id:id>"
NOTICES = {
    "created": "The service account was created. Give it a token.",
    "saved": "The service account was saved.",
    "token-deleted": "The token was deleted; it is refused from now on.",
}


router = Router(PageGuard)


def form_page(
    context: Context,
    identity: Identity,
    account_id: int | None,
    typed: dict[str, str] | None = None,
    **more: Any,
) -> HTTPResponse:
    """`typed` is what was submitted, if that was wrong."""
    with context.database.transaction() as conn:
        roles = users_repository.list_roles(conn)
        account = None if account_id is None else service_accounts.get(conn, account_id)
        tokens = [] if account_id is None else service_accounts.list_tokens(conn, account_id)
    values = {"username": "", "name": "", "rootRole": "Viewer"}
    if account:
        values = {
            "username": account["username"],
            "name": account["name"] or "",
            "rootRole": account["role"],
        }
    title = f"Service account {account['username']}" if account else "New service account"
    return respond.page(
        context,
        "access/service_accounts/form",
        identity,
        account=account,
        tokens=tokens,
        token_limit=personal_tokens.MAX_TOKENS,
        roles=roles,
        values={"description": "", "expiresAt": ""} | values | (typed or {}),
        **({"title": title} | more),
    )


@router.get(f"{PATH}/new", needs=ADMIN)
def new(context: Context, identity: Identity) -> HTTPResponse:
    return form_page(context, identity, None)


@router.post(f"{PATH}/new", needs=ADMIN)
def create(context: Context, identity: Identity, form: dict[str, str]) -> HTTPResponse:
    typed = _typed(form, "username", "name", "rootRole")
    try:
        with context.database.transaction() as conn:
            account = service_accounts.create(conn, _given(typed), identity)
    except AppError as error:
        return form_page(context, identity, None, typed, **_told(error, "New service account"))
    return respond.redirect(context, f"{PATH}/{account['id']}?done=created")


@router.get(ONE, needs=ADMIN)
def edit(context: Context, identity: Identity, account_id: int) -> HTTPResponse:
    done = read_query(request.environ).get("done", "")
    return form_page(context, identity, account_id, notice=NOTICES.get(done, ""))


@router.post(ONE, needs=ADMIN)
def save(
    context: Context, identity: Identity, account_id: int, form: dict[str, str]
) -> HTTPResponse:
    typed = _typed(form, "username", "name", "rootRole")
    try:
        with context.database.transaction() as conn:
            service_accounts.update(conn, account_id, _given(typed), identity)
    except AppError as error:
        return form_page(context, identity, account_id, typed, **_told(error, "Service account"))
    return respond.redirect(context, f"{PATH}/{account_id}?done=saved")


@router.get(f"{ONE}/delete", needs=ADMIN)
def confirm_delete(context: Context, identity: Identity, account_id: int) -> HTTPResponse:
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
def delete(
    context: Context, identity: Identity, account_id: int, form: dict[str, str]
) -> HTTPResponse:
    with context.database.transaction() as conn:
        service_accounts.delete(conn, account_id, identity)
    return respond.redirect(context, "/admin/users?done=account-deleted")


# The answer of the POST is a page: whoever loads its address again is led to the form.
@router.get(f"{ONE}/tokens", needs=ADMIN)
def again(context: Context, identity: Identity, account_id: int) -> HTTPResponse:
    return respond.redirect(context, f"{PATH}/{account_id}#tokens")


@router.post(f"{ONE}/tokens", needs=ADMIN)
def create_token(
    context: Context, identity: Identity, account_id: int, form: dict[str, str]
) -> HTTPResponse:
    typed = _typed(form, "description", "expiresAt")
    try:
        fields = personal_tokens.check_fields(
            typed["description"], typed["expiresAt"], now=context.clock.now()
        )
        with context.database.transaction() as conn:
            token, secret = service_accounts.create_token(conn, account_id, fields, identity)
    except AppError as error:
        return form_page(context, identity, account_id, typed, **_told(error, "New token"))
    return respond.page(
        context,
        "access/personal_tokens/created",
        identity,
        title="Token created",
        token=token,
        secret=secret,
        back=f"{PATH}/{account_id}",
    )


@router.get(f"{ONE}/tokens/<personal_token_id:id>/delete", needs=ADMIN)
def confirm_delete_token(
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
def delete_token(
    context: Context,
    identity: Identity,
    account_id: int,
    personal_token_id: int,
    form: dict[str, str],
) -> HTTPResponse:
    with context.database.transaction() as conn:
        service_accounts.delete_token(conn, account_id, personal_token_id, identity)
    return respond.redirect(context, f"{PATH}/{account_id}?done=token-deleted")


def _typed(form: dict[str, str], *names: str) -> dict[str, str]:
    return {name: form.get(name, "").strip() for name in names}


def _given(typed: dict[str, str]) -> dict[str, Any]:
    return {"username": typed["username"], "name": typed["name"], "root_role": typed["rootRole"]}


def _told(error: AppError, what: str) -> dict[str, Any]:
    """What a form with a problem needs; raises what no form can help."""
    if error.status not in (400, 409):
        raise error
    return {"status": error.status, "problems": error.details, "title": f"Problem: {what}"}
