"""User administration and roles, JSON."""

from __future__ import annotations

from typing import Any

import msgspec
from bottle import HTTPResponse, request
from msgspec import UNSET, UnsetType

from sigservice.context import Context
from sigservice.db.statements import Row
from sigservice.repository.access import users as repository
from sigservice.services.access import passwords, reset_tokens, users
from sigservice.services.identity import ADMIN, VIEW, Identity
from sigservice.web import reset_links, respond
from sigservice.web.body import read_query
from sigservice.web.guards import AdminGuard
from sigservice.web.router import Router

PATH = "/api/admin/user-admin"
SHORTEST_SEARCH, MOST_FOUND = 2, 100


class NewUserBody(msgspec.Struct):
    """`rootRole` is an id or a name."""

    username: str | None = None
    email: str | None = None
    name: str | None = None
    rootRole: int | str = "Viewer"
    password: str | None = None
    sendEmail: bool = True

    def profile(self) -> users.Profile:
        return users.check_profile(
            username=self.username, email=self.email, name=self.name, root_role=self.rootRole
        )


class UserBody(msgspec.Struct):
    """What is absent stays as it is."""

    username: str | UnsetType | None = UNSET
    email: str | UnsetType | None = UNSET
    name: str | UnsetType | None = UNSET
    rootRole: int | str | UnsetType = UNSET

    def given(self) -> dict[str, Any]:
        fields = {
            "username": self.username,
            "email": self.email,
            "name": self.name,
            "root_role": self.rootRole,
        }
        return {name: value for name, value in fields.items() if value is not UNSET}


class PasswordBody(msgspec.Struct):
    password: str


class ResetBody(msgspec.Struct):
    """An e-mail address, a user name or a user's id."""

    id: str | int


router = Router(AdminGuard)


@router.get(PATH, needs=ADMIN)
def list_all(context: Context, identity: Identity) -> HTTPResponse:
    with context.database.transaction() as conn:
        rows, roles = repository.list_all(conn), repository.list_roles(conn)
    return respond.json(
        {
            "users": [users.to_json(row) for row in rows],
            "rootRoles": [users.role_to_json(role) for role in roles],
        }
    )


@router.post(PATH, needs=ADMIN, limit="create_user", takes=NewUserBody)
def create(context: Context, identity: Identity, body: NewUserBody) -> HTTPResponse:
    who, environ = body.profile(), request.environ
    if body.password:
        passwords.check(body.password, who.username, who.email)
    made = reset_links.invite_user(
        context, environ, who, body.password or "", identity, by_mail=body.sendEmail
    )
    shown = users.to_json(made.user) | {
        "inviteLink": reset_links.make_link(context, environ, "welcome", made.secret),
        "emailSent": made.is_mailed,
    }
    return respond.json(shown, 201, location=f"{context.prefix}{PATH}/{made.user['id']}")


@router.get(f"{PATH}/<id:id>", needs=ADMIN)
def read(context: Context, identity: Identity, id: int) -> HTTPResponse:
    with context.database.transaction() as conn:
        return respond.json(users.to_json(users.get(conn, id)))


@router.put(f"{PATH}/<id:id>", needs=ADMIN, takes=UserBody)
def update(context: Context, identity: Identity, id: int, body: UserBody) -> HTTPResponse:
    with context.database.transaction() as conn:
        row = users.update(conn, id, body.given(), identity)
    return respond.json(users.to_json(row))


@router.delete(f"{PATH}/<id:id>", needs=ADMIN)
def delete(context: Context, identity: Identity, id: int) -> HTTPResponse:
    with context.database.transaction() as conn:
        users.delete(conn, id, identity)
    return respond.empty()


@router.post(f"{PATH}/<id:id>/change-password", needs=ADMIN, takes=PasswordBody)
def change_password(
    context: Context, identity: Identity, id: int, body: PasswordBody
) -> HTTPResponse:
    with context.database.autocommit() as conn:
        user = users.get(conn, id)
    passwords.check(body.password, user["username"], user["email"])
    password_hash = context.passwords.hash(body.password)
    with context.database.transaction() as conn:
        users.set_password(conn, id, password_hash, identity)
    return respond.empty()


@router.post(f"{PATH}/validate-password", needs=ADMIN, takes=PasswordBody)
def validate_password(context: Context, identity: Identity, body: PasswordBody) -> HTTPResponse:
    passwords.check(body.password)
    return respond.empty()


@router.post(f"{PATH}/reset-password", needs=ADMIN, takes=ResetBody)
def hand_out_link(context: Context, identity: Identity, body: ResetBody) -> HTTPResponse:
    reset_links.require_passwords(context)
    with context.database.transaction() as conn:
        user = users.find(conn, body.id)
        secret = reset_tokens.create_link(conn, user, identity, context.clock.now())
    link = reset_links.make_link(context, request.environ, "reset", secret)
    return respond.json({"resetPasswordUrl": link})


@router.get(f"{PATH}/search", needs=ADMIN)
def search(context: Context, identity: Identity) -> HTTPResponse:
    text = read_query(request.environ).get("q", "").strip()
    rows: list[Row] = []
    if len(text) >= SHORTEST_SEARCH:
        with context.database.autocommit() as conn:
            rows = repository.search(conn, text, limit=MOST_FOUND)
    return respond.json([_in_short(row) for row in rows])


@router.get(f"{PATH}/access", needs=ADMIN)
def access(context: Context, identity: Identity) -> HTTPResponse:
    with context.database.autocommit() as conn:
        rows = repository.list_all(conn)
    return respond.json({"groups": [], "users": [_in_short(row) for row in rows]})


@router.get(f"{PATH}/admin-count", needs=ADMIN)
def admin_count(context: Context, identity: Identity) -> HTTPResponse:
    with context.database.autocommit() as conn:
        row = repository.count_admins(conn)
    return respond.json(
        {
            "password": row["password"],
            "noPassword": row["no_password"],
            "service": row["service"],
        }
    )


@router.get("/api/admin/roles", needs=VIEW)
def roles(context: Context, identity: Identity) -> HTTPResponse:
    with context.database.autocommit() as conn:
        rows = repository.list_roles(conn)
    return respond.json({"version": 1, "roles": [users.role_to_json(row) for row in rows]})


def _in_short(row: Row) -> dict[str, Any]:
    full = users.to_json(row)
    names = ("id", "username", "email", "name", "imageUrl", "rootRole", "accountType")
    return {name: full[name] for name in names}
