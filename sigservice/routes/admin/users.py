"""User administration and roles, JSON."""

from __future__ import annotations

from typing import Any

import msgspec
from bottle import Bottle, HTTPResponse, request
from msgspec import UNSET, UnsetType

from sigservice.context import Context
from sigservice.db.run import Row
from sigservice.repository import users as repository
from sigservice.services import passwords, reset_tokens, users
from sigservice.services.identity import ADMIN, VIEW, Identity
from sigservice.web import password_links, respond
from sigservice.web.area import new_area
from sigservice.web.body import read_query
from sigservice.web.doors import AdminDoor

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
        return users.profile(
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


def build(context: Context) -> Bottle:
    area = new_area(context, AdminDoor(context))

    @area.get(PATH, needs=ADMIN)
    def list_all(identity: Identity) -> HTTPResponse:
        with context.database.transaction() as conn:
            rows, roles = repository.list_all(conn), repository.list_roles(conn)
        return respond.json(
            {
                "users": [users.to_json(row) for row in rows],
                "rootRoles": [users.role_to_json(role) for role in roles],
            }
        )

    @area.post(PATH, needs=ADMIN, limit="create_user", takes=NewUserBody)
    def create(identity: Identity, body: NewUserBody) -> HTTPResponse:
        who, environ = body.profile(), request.environ
        if body.password:
            passwords.check(body.password, who.username, who.email)
        made = password_links.invite(
            context, environ, who, body.password or "", identity, by_mail=body.sendEmail
        )
        shown = users.to_json(made.user) | {
            "inviteLink": password_links.shown(context, environ, "welcome", made.secret),
            "emailSent": made.is_mailed,
        }
        return respond.json(shown, 201, location=f"{context.prefix}{PATH}/{made.user['id']}")

    @area.get(f"{PATH}/<id:id>", needs=ADMIN)
    def read(identity: Identity, id: int) -> HTTPResponse:
        with context.database.transaction() as conn:
            return respond.json(users.to_json(users.get(conn, id)))

    @area.put(f"{PATH}/<id:id>", needs=ADMIN, takes=UserBody)
    def update(identity: Identity, id: int, body: UserBody) -> HTTPResponse:
        with context.database.transaction() as conn:
            row = users.update(conn, id, body.given(), identity)
        return respond.json(users.to_json(row))

    @area.delete(f"{PATH}/<id:id>", needs=ADMIN)
    def delete(identity: Identity, id: int) -> HTTPResponse:
        with context.database.transaction() as conn:
            users.delete(conn, id, identity)
        return respond.empty()

    @area.post(f"{PATH}/<id:id>/change-password", needs=ADMIN, takes=PasswordBody)
    def change_password(identity: Identity, id: int, body: PasswordBody) -> HTTPResponse:
        with context.database.autocommit() as conn:
            user = users.get(conn, id)
        passwords.check(body.password, user["username"], user["email"])
        password_hash = context.passwords.hash(body.password)
        with context.database.transaction() as conn:
            users.set_password(conn, id, password_hash, identity)
        return respond.empty()

    @area.post(f"{PATH}/validate-password", needs=ADMIN, takes=PasswordBody)
    def validate_password(identity: Identity, body: PasswordBody) -> HTTPResponse:
        passwords.check(body.password)
        return respond.empty()

    @area.post(f"{PATH}/reset-password", needs=ADMIN, takes=ResetBody)
    def hand_out_link(identity: Identity, body: ResetBody) -> HTTPResponse:
        password_links.demand_passwords(context)
        with context.database.transaction() as conn:
            user = users.find(conn, body.id)
            secret = reset_tokens.hand_out(conn, user, identity, context.clock.now())
        link = password_links.shown(context, request.environ, "reset", secret)
        return respond.json({"resetPasswordUrl": link})

    @area.get(f"{PATH}/search", needs=ADMIN)
    def search(identity: Identity) -> HTTPResponse:
        text = read_query(request.environ).get("q", "").strip()
        rows: list[Row] = []
        if len(text) >= SHORTEST_SEARCH:
            with context.database.autocommit() as conn:
                rows = repository.search(conn, text, limit=MOST_FOUND)
        return respond.json([_in_short(row) for row in rows])

    @area.get(f"{PATH}/access", needs=ADMIN)
    def access(identity: Identity) -> HTTPResponse:
        with context.database.autocommit() as conn:
            rows = repository.list_all(conn)
        return respond.json({"groups": [], "users": [_in_short(row) for row in rows]})

    @area.get(f"{PATH}/admin-count", needs=ADMIN)
    def admin_count(identity: Identity) -> HTTPResponse:
        with context.database.autocommit() as conn:
            row = repository.count_admins(conn)
        return respond.json(
            {
                "password": row["password"],
                "noPassword": row["no_password"],
                "service": row["service"],
            }
        )

    @area.get("/api/admin/roles", needs=VIEW)
    def roles(identity: Identity) -> HTTPResponse:
        with context.database.autocommit() as conn:
            rows = repository.list_roles(conn)
        return respond.json({"version": 1, "roles": [users.role_to_json(row) for row in rows]})

    return area


def _in_short(row: Row) -> dict[str, Any]:
    full = users.to_json(row)
    names = ("id", "username", "email", "name", "imageUrl", "rootRole", "accountType")
    return {name: full[name] for name in names}
