"""The user's own personal tokens, pages."""

from bottle import HTTPResponse

from sigservice.context import Context
from sigservice.errors import AppError
from sigservice.repository.access import personal_tokens as repository
from sigservice.routes.pages.access.account_fields import (
    make_password_field,
    make_personal_token_fields,
)
from sigservice.services.access import personal_tokens
from sigservice.services.identity import VIEW, Identity
from sigservice.web import respond
from sigservice.web.forms import Field, read_id
from sigservice.web.guards import PageGuard
from sigservice.web.own_tokens import create_own_token
from sigservice.web.router import Router

PATH = "/profile/tokens"
NOTICES = {"token-deleted": "Token deleted."}
BREADCRUMBS = [("Your account", "/profile")]

router = Router(PageGuard)


@router.get(PATH, needs=VIEW)
def list_own_tokens(context: Context, identity: Identity) -> HTTPResponse:
    return _render_list(context, identity, "", "", notice=respond.find_notice(NOTICES))


@router.post(PATH, needs=VIEW)
def create_token(context: Context, identity: Identity, form: dict[str, str]) -> HTTPResponse:
    description, expires_at = form.get("description", ""), form.get("expiresAt", "").strip()
    try:
        token, secret = create_own_token(
            context, identity, description, expires_at, form.get("password", "")
        )
    except AppError as error:
        if error.status not in (400, 401, 409):
            raise
        return _render_list(context, identity, description, expires_at, error)
    return respond.page(
        context,
        "access/personal_tokens/created",
        identity,
        title="Token created",
        token=token,
        secret=Field("secret", "Token", secret),
        back=PATH,
    )


@router.post(f"{PATH}/delete", needs=VIEW)
def delete_token(context: Context, identity: Identity, form: dict[str, str]) -> HTTPResponse:
    """`token` is an ID."""
    with context.database.transaction() as conn:
        personal_tokens.delete(conn, identity.user_id, read_id(form.get("token", "")), identity)
    return respond.redirect(context, f"{PATH}?done=token-deleted")


def _render_list(
    context: Context,
    identity: Identity,
    description: str,
    expires_at: str,
    error: AppError | None = None,
    notice: str = "",
) -> HTTPResponse:
    with context.database.autocommit() as conn:
        tokens = repository.list_of_users(conn, [identity.user_id])
    fields = make_personal_token_fields(description, expires_at)
    if context.authentication.type.has_passwords:
        fields.append(
            make_password_field("password", "Your password", autocomplete="current-password")
        )
    return respond.page(
        context,
        "access/personal_tokens/list",
        identity,
        title="Your API tokens",
        breadcrumbs=BREADCRUMBS,
        tokens=tokens,
        token_limit=personal_tokens.MAX_TOKENS,
        fields=fields,
        notice=notice,
        form_error=error,
    )
