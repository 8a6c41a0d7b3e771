"""The user's own personal tokens, pages."""

from operator import itemgetter

from sigservice.repository.access import personal_tokens as personal_token_rows
from sigservice.routes.admin.access.current_user import PersonalTokenBody
from sigservice.routes.pages.access.account_fields import (
    PERSONAL_TOKEN_COLUMNS,
    PERSONAL_TOKEN_FIELDS,
    make_created_page,
    make_password_field,
)
from sigservice.services.access import personal_tokens
from sigservice.services.identity import VIEW, Identity
from sigservice.web import Connection, Context, Page, PageGuard, Router, ShownOnce
from sigservice.web.form_pages import Confirmation, ask_first, shows_errors_in
from sigservice.web.forms import NO_ENTRY, Entry, Form, fill, read, read_id
from sigservice.web.oidc_sign_in import is_fresh
from sigservice.web.own_tokens import create_own_token, make_confirmation_path, needs_password
from sigservice.web.tables import Cell, Column, make_table

PATH = "/profile/tokens"
NOTICES = {"token-deleted": "Token deleted."}
COLUMNS = (
    *PERSONAL_TOKEN_COLUMNS,
    Column("Delete", lambda _: Cell(template="access/personal_tokens/delete_cell.tpl")),
)

router = Router(PageGuard, notices=NOTICES)


@router.get(PATH, needs=VIEW)
def list_own_tokens(context: Context, identity: Identity, entry: Entry = NO_ENTRY) -> Page:
    with context.database.autocommit() as conn:
        tokens = personal_token_rows.list_of_users(conn, [identity.user_id])
    fields, confirmation_path = [*PERSONAL_TOKEN_FIELDS], ""
    if needs_password(context, identity):
        fields.append(
            make_password_field("password", "Your password", autocomplete="current-password")
        )
    elif context.provider and identity.session_hash and not is_fresh(context, identity):
        confirmation_path = make_confirmation_path(context, identity)
    return Page(
        "access/personal_tokens/list",
        title="Your API tokens",
        breadcrumbs=[("Your account", "/profile")],
        table=make_table("tokens", COLUMNS, tokens, None, itemgetter("description")),
        token_limit=personal_tokens.MAX_TOKENS,
        confirmation_path=confirmation_path,
        provider_name=context.provider.name if context.provider else "",
        fields=fill(fields, entry.form),
    )


@router.post(PATH, needs=VIEW)
@shows_errors_in(list_own_tokens)
def create_token(context: Context, identity: Identity, form: Form) -> ShownOnce:
    body = read(form, PersonalTokenBody)
    token, secret = create_own_token(
        context, identity, body.description, body.expiresAt, form.get("password", "")
    )
    return make_created_page(token, secret, PATH)


@router.post(f"{PATH}/delete", needs=VIEW)
def delete_token(conn: Connection, identity: Identity, form: Form) -> str:
    """`token` is an ID."""
    question = Confirmation(
        "Delete this token?", ["Its users lose access immediately."], "Delete token", PATH
    )
    ask_first(form, question)
    personal_tokens.delete(conn, identity.user_id, read_id(form.get("token", "")), identity)
    return f"{PATH}?done=token-deleted"
