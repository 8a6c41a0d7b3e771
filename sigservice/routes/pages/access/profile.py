"""The current user: account, password and sessions."""

from operator import itemgetter

from sigservice.errors import BadDataError, ForbiddenError
from sigservice.routes.pages.access.account_fields import (
    make_new_password_fields,
    make_password_field,
)
from sigservice.services.access import sessions
from sigservice.services.identity import VIEW, Identity
from sigservice.web import (
    Context,
    HTTPResponse,
    Page,
    PageGuard,
    Router,
    oidc_sign_in,
    respond,
    session,
)
from sigservice.web.form_pages import shows_errors_in
from sigservice.web.forms import NO_ENTRY, Entry, Field, Form, fill, read_id
from sigservice.web.password_attempts import can_change_password, change_own_password
from sigservice.web.tables import Cell, Column, make_table

NOTICES = {
    "sessions": "Session signed out.",
    "connected": "Your account is connected.",
    "disconnected": "Your account is disconnected.",
    "password": "Password changed. Your other sessions were signed out.",
    "password-and-tokens": "Password changed. Your other sessions were signed out and your personal"
    " API tokens revoked.",
}
FIELDS = [
    make_password_field("oldPassword", "Current password", autocomplete="current-password"),
    *make_new_password_fields(),
    Field("revoke_tokens", "Also revoke my personal API tokens", type="checkbox"),
]
SESSION_COLUMNS = (
    Column(
        "Client",
        lambda row: Cell(row["device"], badges=["This session"] if row["is_current"] else []),
    ),
    Column("IP address", lambda row: Cell(row["ip"] or "unknown")),
    Column("Signed in", lambda row: Cell(at=row["created_at"])),
    Column("Last used", lambda row: Cell(at=row["last_used_at"])),
    Column("Sign out", lambda _: Cell(template="access/profile/session_cell.tpl")),
)

router = Router(PageGuard, notices=NOTICES)


@router.get("/profile", needs=VIEW, while_default_password=True)
def show_profile(context: Context, identity: Identity, entry: Entry = NO_ENTRY) -> Page:
    if identity.has_default_password:
        return Page(
            "access/profile/set_password", title="Set a new password", fields=fill(FIELDS[:-1], {})
        )
    own_sessions = []
    if identity.session_hash:
        own_sessions = session.list_own_sessions(context, identity)
    connection = oidc_sign_in.find_connection(context, identity)
    columns = [*SESSION_COLUMNS]
    if connection:
        name = connection.name
        columns.insert(
            1,
            Column("Signed in with", lambda row: Cell(name if row["identity_id"] else "password")),
        )
    return Page(
        "access/profile/show",
        title="Your account",
        sessions=make_table(
            "own-sessions",
            columns,
            [row | {"device": row["user_agent"] or "Unknown client"} for row in own_sessions],
            None,
            itemgetter("device"),
        ),
        connection=connection,
        fields=fill(FIELDS, entry.form) if can_change_password(context, identity) else [],
        note=context.authentication.note,
    )


@router.get("/profile/password", needs=VIEW, while_default_password=True)
@router.get("/profile/sessions", needs=VIEW)
def redirect_to_profile(context: Context, identity: Identity) -> str:
    return "/profile"


@router.post("/profile/password", needs=VIEW, while_default_password=True)
@shows_errors_in(show_profile)
def change_password(context: Context, identity: Identity, form: Form) -> str:
    old, new = form.get("oldPassword", ""), form.get("password", "")
    revoke_tokens = "revoke_tokens" in form
    if new != form.get("confirm", ""):
        raise BadDataError("The new passwords must match.", path="confirm")
    change_own_password(context, identity, old, new, revoke_tokens=revoke_tokens)
    if identity.has_default_password:
        return "/?done=password"
    done = "password-and-tokens" if revoke_tokens else "password"
    return f"/profile?done={done}"


@router.post("/profile/sessions", needs=VIEW)
def end_sessions(context: Context, identity: Identity, form: Form) -> HTTPResponse:
    """`session` is an ID, or `others`."""
    if not identity.session_hash:
        raise ForbiddenError("Only signed-in users have sessions.")
    value, is_current = form.get("session", ""), False
    with context.database.transaction() as conn:
        if value == "others":
            sessions.end_other_sessions(conn, identity)
        else:
            is_current = sessions.end_session(conn, identity, read_id(value))
    if not is_current:
        return "/profile?done=sessions"
    answer = respond.redirect(context, "/sign-in?done=signed-out")
    session.clear_cookie(context, answer)
    return answer
