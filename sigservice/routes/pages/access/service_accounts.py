"""Service accounts, pages: create, edit, delete, and their tokens."""

from operator import itemgetter

from sigservice.repository.access import users as user_rows
from sigservice.repository.actions import action_sets
from sigservice.routes.admin.access.service_accounts import ServiceAccountBody, ServiceTokenBody
from sigservice.routes.pages.access.account_fields import (
    PERSONAL_TOKEN_COLUMNS,
    PERSONAL_TOKEN_FIELDS,
    make_created_page,
    make_role_field,
)
from sigservice.services.access import personal_tokens, service_accounts
from sigservice.services.identity import ADMIN, Identity
from sigservice.web import Connection, Context, Page, PageGuard, Router, ShownOnce
from sigservice.web.form_pages import Confirmation, confirms, make_form_page, shows_errors_in
from sigservice.web.forms import NO_ENTRY, Entry, Field, Form, fill, read, to_form
from sigservice.web.helpers import join_path
from sigservice.web.tables import make_table
from sigservice.wording import plural

PATH = "/admin/service-accounts"
BREADCRUMBS = [("Service accounts", "/admin/service-accounts")]
ONE = f"{PATH}/<account_id:id>"
NOTICES = {
    "created": "Service account created. Create a token for it.",
    "saved": "Service account saved.",
    "token-deleted": "Token deleted. It is no longer valid.",
}
FIELDS = [
    Field("username", "Username", hint="e.g. deploy-bot", is_required=True),
    Field("name", "Full name"),
]

router = Router(PageGuard, notices=NOTICES)


@router.get(f"{PATH}/new", needs=ADMIN)
@router.get(ONE, needs=ADMIN)
def show_service_account(
    conn: Connection, identity: Identity, account_id: int | None = None, entry: Entry = NO_ENTRY
) -> Page:
    """`entry` is this form, or the one of a new token."""
    account, tokens = None, []
    roles = user_rows.list_roles(conn)
    if account_id is not None:
        account = service_accounts.get(conn, account_id)
        tokens = service_accounts.list_tokens(conn, account_id)
    existing = to_form(account) | {"rootRole": account["role"] if account else "Viewer"}
    return make_form_page(
        fill([*FIELDS, make_role_field(roles)], existing | entry.form),
        title=f"Service account {account['username']}" if account else "New service account",
        heading=account["username"] if account else "New service account",
        breadcrumbs=BREADCRUMBS,
        button="Save" if account else "Create service account",
        rest="access/service_accounts/tokens.tpl" if account else "",
        path=f"{PATH}/{account_id}" if account else "",
        account=account,
        table=make_table(
            "account-tokens",
            PERSONAL_TOKEN_COLUMNS,
            tokens,
            lambda row: [("Delete token", f"{PATH}/{account_id}/tokens/{row['id']}/delete")],
            itemgetter("description"),
        ),
        token_limit=personal_tokens.MAX_TOKENS,
        token_fields=fill(PERSONAL_TOKEN_FIELDS, entry.form),
        deletion=("Delete service account", f"{PATH}/{account_id}/delete") if account else None,
    )


@router.post(f"{PATH}/new", needs=ADMIN)
@shows_errors_in(show_service_account)
def create_service_account(conn: Connection, identity: Identity, form: Form) -> str:
    changes = read(form, ServiceAccountBody).to_changes()
    account = service_accounts.create(conn, changes, identity)
    return f"{PATH}/{account['id']}?done=created"


@router.post(ONE, needs=ADMIN)
@shows_errors_in(show_service_account)
def save_service_account(conn: Connection, identity: Identity, account_id: int, form: Form) -> str:
    changes = read(form, ServiceAccountBody).to_changes()
    service_accounts.update(conn, account_id, changes, identity)
    return f"{PATH}/{account_id}?done=saved"


@confirms(router, f"{ONE}/delete", needs=ADMIN)
def delete_service_account(conn: Connection, identity: Identity, account_id: int) -> Confirmation:
    account = service_accounts.get(conn, account_id)
    tokens = plural(len(service_accounts.list_tokens(conn, account_id)), "token")
    sets = [
        (row["name"], join_path("/admin/projects", row["project"], "actions", row["id"]))
        for row in action_sets.list_all(conn)
        if row["actor_id"] == account_id
    ]
    body: list[str | list[tuple[str, str]]] = [
        f"Deletes the account and {tokens}. Applications using them lose access immediately. "
        "This can't be undone."
    ]
    if sets:
        body += ["Runs of these action sets fail until they have another account:", sets]
    return Confirmation(
        f"Delete service account {account['username']}?",
        body,
        "Delete service account",
        f"{PATH}/{account_id}",
        lambda: service_accounts.delete(conn, account_id, identity),
        "/admin/service-accounts?done=account-deleted",
        breadcrumbs=[*BREADCRUMBS, (account["username"], f"{PATH}/{account_id}")],
    )


@router.get(f"{ONE}/tokens", needs=ADMIN)
def redirect_from_tokens(context: Context, identity: Identity, account_id: int) -> str:
    return f"{PATH}/{account_id}#tokens"


@router.post(f"{ONE}/tokens", needs=ADMIN)
@shows_errors_in(show_service_account)
def create_service_account_token(
    context: Context, identity: Identity, account_id: int, form: Form
) -> ShownOnce:
    body, now = read(form, ServiceTokenBody), context.clock.now()
    fields = personal_tokens.check_fields(body.description, body.expiresAt, now=now)
    with context.database.transaction() as conn:
        token, secret = service_accounts.create_token(conn, account_id, fields, identity)
    return make_created_page(token, secret, f"{PATH}/{account_id}")


@confirms(router, f"{ONE}/tokens/<personal_token_id:id>/delete", needs=ADMIN)
def delete_service_account_token(
    conn: Connection, identity: Identity, account_id: int, personal_token_id: int
) -> Confirmation:
    account = service_accounts.get(conn, account_id)
    token = personal_tokens.get(conn, account_id, personal_token_id)
    return Confirmation(
        f"Delete token {token['description']} of {account['username']}?",
        [
            f"Applications using this token ({token['secret_prefix']}…) lose access immediately. "
            "This can't be undone."
        ],
        "Delete token",
        f"{PATH}/{account_id}",
        lambda: service_accounts.delete_token(conn, account_id, personal_token_id, identity),
        f"{PATH}/{account_id}?done=token-deleted",
        breadcrumbs=[*BREADCRUMBS, (account["username"], f"{PATH}/{account_id}")],
    )
