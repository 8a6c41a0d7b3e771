"""User administration and roles, JSON."""

from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from sigservice.repository.access import users as user_rows
from sigservice.routes.admin.access.service_accounts import ServiceAccountBody
from sigservice.services.access import passwords, reset_tokens, users
from sigservice.services.identity import ADMIN, VIEW, Identity
from sigservice.web import (
    AdminGuard,
    Connection,
    Context,
    Json,
    Router,
    Row,
    read_query,
    request,
    reset_links,
    respond,
)
from sigservice.web.password_attempts import require_passwords, set_password

PATH = "/api/admin/user-admin"
MIN_SEARCH, MAX_RESULTS = 2, 100


class NewUserBody(msgspec.Struct):
    """`rootRole` is an ID or a name."""

    username: str | None = None
    email: str | None = None
    name: str | None = None
    rootRole: int | str = "Viewer"
    password: str | None = None
    sendEmail: bool = True

    def check_profile(self) -> users.Profile:
        return users.check_profile(
            username=self.username, email=self.email, name=self.name, root_role=self.rootRole
        )


class UserBody(ServiceAccountBody):
    """Absent fields don't change."""

    email: str | UnsetType | None = UNSET


class PasswordBody(msgspec.Struct):
    password: str


class ResetBody(msgspec.Struct):
    """`id` is an email address, a username or a user's ID."""

    id: str | int


router = Router(AdminGuard)


@router.get(PATH, needs=ADMIN)
def list_users(conn: Connection, identity: Identity) -> Json:
    """`{"users": [user], "rootRoles": [role]}`."""
    rows, roles = user_rows.list_all(conn), user_rows.list_roles(conn)
    return {
        "users": [users.to_json(row) for row in rows],
        "rootRoles": [users.role_to_json(role) for role in roles],
    }


@router.post(PATH, needs=ADMIN, limit="create_user", takes=NewUserBody)
def create_user(context: Context, identity: Identity, body: NewUserBody) -> Json:
    """Body: `{username?, email?, name?, password?, rootRole?, sendEmail?}`. 201 user with
    `inviteLink`, a link to set a password, only here, and `emailSent`: whether a welcome email with
    such a link was queued (not with `sendEmail` false, without a mail server or an email address).
    20 per minute."""
    profile, environ = body.check_profile(), request.environ
    user, secret, is_mailed = reset_links.invite_user(
        context, environ, profile, body.password or "", identity, by_mail=body.sendEmail
    )
    link = reset_links.make_link(context, environ, "welcome", secret)
    payload = users.to_json(user) | {"inviteLink": link, "emailSent": is_mailed}
    return respond.Created(payload, f"{PATH}/{user['id']}")


@router.get(f"{PATH}/<id:id>", needs=ADMIN)
def show_user(conn: Connection, identity: Identity, id: int) -> Json:
    """User."""
    return users.to_json(users.get(conn, id))


@router.put(f"{PATH}/<id:id>", needs=ADMIN, takes=UserBody)
def update_user(conn: Connection, identity: Identity, id: int, body: UserBody) -> Json:
    """Body: `{username?, email?, name?, rootRole?}`. User; 409 if no admin would be left."""
    return users.to_json(users.update(conn, id, body.to_changes(), identity))


@router.delete(f"{PATH}/<id:id>", needs=ADMIN)
def delete_user(conn: Connection, identity: Identity, id: int) -> None:
    """409 for the last admin."""
    users.delete(conn, id, identity)


@router.post(f"{PATH}/<id:id>/change-password", needs=ADMIN, takes=PasswordBody)
def change_user_password(context: Context, identity: Identity, id: int, body: PasswordBody) -> None:
    """Body: `{password}`. Ends the user's sessions and revokes the user's personal tokens."""
    set_password(context, id, body.password, identity)


@router.post(f"{PATH}/validate-password", needs=ADMIN, takes=PasswordBody)
def validate_password(context: Context, identity: Identity, body: PasswordBody) -> None:
    """Body: `{password}`. 200, or 400 with every failed requirement."""
    passwords.check(body.password)


@router.post(f"{PATH}/reset-password", needs=ADMIN, takes=ResetBody)
def create_reset_link(context: Context, identity: Identity, body: ResetBody) -> Json:
    """Body: `{id}`, an email, username or ID. `{resetPasswordUrl}`, a reset link that is valid for
    24 hours; earlier ones end."""
    require_passwords(context)
    with context.database.transaction() as conn:
        user = users.find(conn, body.id)
        require_passwords(context, user)
        secret = reset_tokens.create_link(conn, user, identity, context.clock.now())
    link = reset_links.make_link(context, request.environ, "reset", secret)
    return {"resetPasswordUrl": link}


@router.get(f"{PATH}/search", needs=ADMIN)
def search_users(context: Context, identity: Identity) -> Json:
    """Query: `q` of at least two characters. `[{id, username, email, name, imageUrl, rootRole,
    accountType}]`."""
    text = read_query(request.environ).get("q", "").strip()
    rows: list[Row] = []
    if len(text) >= MIN_SEARCH:
        with context.database.autocommit() as conn:
            rows = user_rows.search(conn, text, limit=MAX_RESULTS)
    return [_summarize(row) for row in rows]


@router.get(f"{PATH}/access", needs=ADMIN, autocommit=True)
def list_access(conn: Connection, identity: Identity) -> Json:
    """`{"groups": [], "users": [user]}`, users as in a search."""
    return {"groups": [], "users": [_summarize(row) for row in user_rows.list_all(conn)]}


@router.get(f"{PATH}/admin-count", needs=ADMIN, autocommit=True)
def count_admins(conn: Connection, identity: Identity) -> Json:
    """`{password, noPassword, service}`."""
    row = user_rows.count_admins(conn)
    return {
        "password": row["password"],
        "noPassword": row["no_password"],
        "service": row["service"],
    }


@router.get("/api/admin/roles", needs=VIEW, autocommit=True)
def list_roles(conn: Connection, identity: Identity) -> Json:
    """`{"version": 1, "roles": [{id, type, name, description}]}`."""
    rows = user_rows.list_roles(conn)
    return {"version": 1, "roles": [users.role_to_json(row) for row in rows]}


def _summarize(row: Row) -> dict[str, Any]:
    summary = {name: row[name] for name in ("id", "username", "email", "name")}
    return summary | {"imageUrl": "", "rootRole": row["role_id"], "accountType": "User"}
