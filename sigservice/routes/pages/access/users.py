"""Users, pages: list (with service accounts), create, edit, password and reset link, delete."""

from collections import Counter
from operator import itemgetter

from sigservice.db import Connection, Row
from sigservice.repository.access import identities, personal_tokens, service_accounts
from sigservice.repository.access import users as user_rows
from sigservice.repository.system import mails as mail_rows
from sigservice.routes.admin.access.users import NewUserBody, UserBody
from sigservice.routes.pages.access.account_fields import make_password_field, make_role_field
from sigservice.services import outbox
from sigservice.services.access import passwords, reset_tokens, users
from sigservice.services.identity import ADMIN, Identity
from sigservice.web import Context, Page, PageGuard, Router, ShownOnce, request, reset_links
from sigservice.web.form_pages import Confirmation, confirms, make_form_page, shows_errors_in
from sigservice.web.forms import NO_ENTRY, Entry, Field, Form, fill, read, to_form
from sigservice.web.password_attempts import require_passwords, set_password
from sigservice.web.tables import Cell, Column, make_list_page, make_table
from sigservice.wording import plural

PATH = "/admin/users"
ONE = f"{PATH}/<user_id:id>"
BREADCRUMBS = [("Users", PATH)]
NOTICES = {
    "created": "User created.",
    "saved": "User saved.",
    "password": "Password set. The user was signed out and the user's personal API tokens revoked.",
    "disconnected": "User disconnected.",
    "deleted": "User deleted.",
    "account-deleted": "Service account deleted.",
}
ACCOUNTS = "/admin/service-accounts"
USER_COLUMNS = (
    Column("Login", lambda row: Cell(row["username"] or row["email"], f"{PATH}/{row['id']}")),
    Column("Name", lambda row: Cell(row["name"] or "")),
    Column("Email", lambda row: Cell(row["email"] or "")),
    Column("Role", lambda row: Cell(badges=[row["role"]])),
    Column("Last sign-in", lambda row: Cell(at=row["seen_at"], missing="never")),
)
ACCOUNT_COLUMNS = (
    Column("Username", lambda row: Cell(row["username"], f"{ACCOUNTS}/{row['id']}")),
    Column("Name", lambda row: Cell(row["name"] or "")),
    Column("Role", lambda row: Cell(badges=[row["role"]])),
    Column("Tokens", lambda row: Cell(plural(row["tokens"], "token"))),
)

router = Router(PageGuard, notices=NOTICES)


@router.get(PATH, needs=ADMIN)
def list_users(context: Context, identity: Identity) -> Page:
    with context.database.transaction() as conn:
        rows = user_rows.list_all(conn)
        user_identities = identities.list_all(conn) if context.provider else []
    provider_identities = {
        row["user_id"]: row
        for row in user_identities
        if context.provider and context.provider.is_issuer(row["issuer"])
    }
    columns = [*USER_COLUMNS]
    if context.provider:
        columns.append(
            Column(
                f"With {context.provider.name}",
                lambda row: Cell(
                    badges=["connected"] if row["identity"] else [],
                    at=row["identity"] and row["identity"]["last_sign_in_at"],
                ),
            )
        )
    return make_list_page(
        [
            make_table(
                "users",
                columns,
                [row | {"identity": provider_identities.get(row["id"])} for row in rows],
                lambda row: [
                    ("Edit user", f"{PATH}/{row['id']}"),
                    ("Delete user", f"{PATH}/{row['id']}/delete"),
                ],
                lambda row: row["username"] or row["email"],
            ),
        ],
        title="Users",
        new=("New user", f"{PATH}/new"),
    )


@router.get(ACCOUNTS, needs=ADMIN)
def list_accounts(context: Context, identity: Identity) -> Page:
    with context.database.transaction() as conn:
        accounts = service_accounts.list_all(conn)
        tokens = personal_tokens.list_of_users(conn, [account["id"] for account in accounts])
    counts = Counter(token["user_id"] for token in tokens)
    table = make_table(
        "service-accounts",
        ACCOUNT_COLUMNS,
        [account | {"tokens": counts[account["id"]]} for account in accounts],
        lambda row: [
            ("Edit service account", f"{ACCOUNTS}/{row['id']}"),
            ("Delete service account", f"{ACCOUNTS}/{row['id']}/delete"),
        ],
        itemgetter("username"),
        empty="No service accounts yet. Create one for a script or a pipeline.",
    )
    hint = "Machine users for automation. They authenticate with tokens."
    new = ("New service account", f"{ACCOUNTS}/new")
    return make_list_page([table], title="Service accounts", hint=hint, new=new)


@router.get(f"{PATH}/new", needs=ADMIN)
def show_new_user(context: Context, identity: Identity, entry: Entry = NO_ENTRY) -> Page:
    scheme = context.authentication
    note = scheme.note
    with context.database.autocommit() as conn:
        fields = _make_fields(context, conn)
    if scheme.has_passwords:
        hint = f"Leave empty to get an invite link. {passwords.REQUIREMENTS}"
        attributes = {"autocomplete": "new-password"}
        fields.append(
            Field("password", "Password", type="password", hint=hint, attributes=attributes)
        )
        if context.mail_server is None:
            note = "Email isn't configured - share the link yourself."
        else:
            label = "Send a welcome email with a link"
            fields.append(Field("sendEmail", label, type="checkbox"))
    return make_form_page(
        fill(fields, entry.form or {"rootRole": "Viewer", "sendEmail": "on"}),
        title="New user",
        breadcrumbs=BREADCRUMBS,
        intro=note,
        button="Create user",
    )


@router.post(f"{PATH}/new", needs=ADMIN)
@shows_errors_in(show_new_user)
def create_user(context: Context, identity: Identity, form: Form) -> ShownOnce | str:
    body, password = read(form, NewUserBody), form.get("password", "")
    user, secret, is_mailed = reset_links.invite_user(
        context, request.environ, body.check_profile(), password, identity, by_mail=body.sendEmail
    )
    if password or not secret:
        return f"{PATH}?done=created"
    mail_state = f"An email with its own link is on its way to {user['email']}."
    if not is_mailed:
        mail_state = "No email was sent - share the link yourself."
    return _make_link_page(context, user, "welcome", secret, mail_state)


@router.post(f"{ONE}/link", needs=ADMIN)
def create_reset_link(context: Context, identity: Identity, user_id: int, form: Form) -> ShownOnce:
    with context.database.transaction() as conn:
        user = users.get(conn, user_id)
        require_passwords(context, user)
        secret = reset_tokens.create_link(conn, user, identity, context.clock.now())
    return _make_link_page(context, user, "reset", secret)


@router.get(ONE, needs=ADMIN)
def show_user(context: Context, identity: Identity, user_id: int, entry: Entry = NO_ENTRY) -> Page:
    """`entry` is this form, or the one that sets a password."""
    with context.database.transaction() as conn:
        user = users.get(conn, user_id)
        fields = _make_fields(context, conn)
        mail = mail_rows.find_last(conn, user_id)
        user_identities = identities.list_of_user(conn, user_id) if context.provider else []
    login = user["username"] or user["email"]
    return make_form_page(
        fill(fields, to_form(user) | {"rootRole": user["role"]} | entry.form),
        title=f"User {login}",
        heading=login,
        breadcrumbs=BREADCRUMBS,
        intro=context.authentication.note,
        button="Save",
        rest="access/users/sign_in.tpl",
        path=f"{PATH}/{user_id}",
        user=user,
        has_password_form=context.authentication.may_use_password(user),
        identities=user_identities,
        new_password=make_password_field("password", "New password", passwords.REQUIREMENTS),
        mail=mail,
        mail_state=_describe_mail(mail) if mail else "",
        deletion=("Delete user", f"{PATH}/{user_id}/delete"),
    )


@router.post(ONE, needs=ADMIN)
@shows_errors_in(show_user)
def save_user(conn: Connection, identity: Identity, user_id: int, form: Form) -> str:
    users.update(conn, user_id, read(form, UserBody).to_changes(), identity)
    return f"{PATH}/{user_id}?done=saved"


# The answers to these forms may be pages; reloading their URLs shows the user again.
@router.get(f"{ONE}/link", needs=ADMIN)
@router.get(f"{ONE}/password", needs=ADMIN)
def redirect_to_user(context: Context, identity: Identity, user_id: int) -> str:
    return f"{PATH}/{user_id}"


@router.post(f"{ONE}/password", needs=ADMIN)
@shows_errors_in(show_user)
def change_password(context: Context, identity: Identity, user_id: int, form: Form) -> str:
    set_password(context, user_id, form.get("password", ""), identity)
    return f"{PATH}/{user_id}?done=password"


@confirms(router, f"{ONE}/delete", needs=ADMIN)
def delete_user(conn: Connection, identity: Identity, user_id: int) -> Confirmation:
    user = users.get(conn, user_id)
    return Confirmation(
        f"Delete user {user['username'] or user['email']}?",
        [
            "The user is signed out and the user's personal tokens stop working immediately. "
            "Events are kept. This can't be undone."
        ],
        "Delete user",
        PATH,
        lambda: users.delete(conn, user_id, identity),
        f"{PATH}?done=deleted",
        breadcrumbs=BREADCRUMBS,
    )


def _make_fields(context: Context, conn: Connection) -> list[Field]:
    hint = "Username or email is required"
    has_passwords = context.authentication.has_passwords
    hint += "; either can be used to sign in." if has_passwords else "."
    return [
        Field("username", "Username", hint=hint),
        Field("email", "Email"),
        Field("name", "Full name"),
        make_role_field(user_rows.list_roles(conn)),
    ]


def _describe_mail(mail: Row) -> str:
    error = f" ({mail['last_error']})" if mail["last_error"] else ""
    return f"{mail['kind']}, {outbox.describe_state(mail)}{error}"


def _make_link_page(
    context: Context, user: Row, kind: str, secret: str, mail_state: str = ""
) -> ShownOnce:
    name = "Invite link" if kind == "welcome" else "Reset link"
    page = Page(
        "access/users/link",
        title=f"{name} for {user['username'] or user['email']}",
        mail_state=mail_state,
        link=Field("link", "Link", reset_links.make_link(context, request.environ, kind, secret)),
    )
    return ShownOnce(page, PATH)
