"""Users, JSON: administration, and the user who asks."""

from __future__ import annotations

import msgspec
from bottle import Bottle, HTTPResponse, request

from sigservice.context import Context
from sigservice.errors import BadDataError
from sigservice.repository import users as repository
from sigservice.services import passwords, users
from sigservice.services.identity import ADMIN, VIEW, Identity
from sigservice.web import respond
from sigservice.web.area import new_area
from sigservice.web.body import read_struct
from sigservice.web.doors import AdminDoor

PATH = "/api/admin/user-admin"


class UserBody(msgspec.Struct):
    """Create and replace; `rootRole` is an id or a name, `password` counts on creation only."""

    username: str | None = None
    email: str | None = None
    name: str | None = None
    rootRole: int | str = "Viewer"
    password: str | None = None

    def profile(self) -> users.Profile:
        return users.profile(
            username=self.username, email=self.email, name=self.name, root_role=self.rootRole
        )


class PasswordBody(msgspec.Struct):
    password: str


class OwnPasswordBody(msgspec.Struct):
    password: str
    confirmPassword: str
    oldPassword: str


def build(context: Context) -> Bottle:
    area = new_area(context, AdminDoor(context))

    @area.get(PATH, needs=ADMIN)
    def list_all(identity: Identity) -> HTTPResponse:
        with context.database.transaction() as conn:
            rows, roles = repository.list_all(conn), repository.list_roles(conn)
        return respond.json({"users": [users.to_json(row) for row in rows], "rootRoles": roles})

    @area.post(PATH, needs=ADMIN, limit="create_user")
    def create(identity: Identity) -> HTTPResponse:
        body = read_struct(request.environ, UserBody)
        who = body.profile()
        if body.password:
            passwords.check(body.password)
        password_hash = context.passwords.hash(body.password) if body.password else None
        with context.database.transaction() as conn:
            row = users.create(conn, who, password_hash, identity)
        shown = users.to_json(row) | {"emailSent": False}
        return respond.json(shown, 201, location=str(row["id"]))

    @area.get(f"{PATH}/<id:id>", needs=ADMIN)
    def read(identity: Identity, id: int) -> HTTPResponse:
        with context.database.transaction() as conn:
            return respond.json(users.to_json(users.get(conn, id)))

    @area.put(f"{PATH}/<id:id>", needs=ADMIN)
    def replace(identity: Identity, id: int) -> HTTPResponse:
        body = read_struct(request.environ, UserBody)
        with context.database.transaction() as conn:
            row = users.update(conn, id, body.profile(), identity)
        return respond.json(users.to_json(row))

    @area.delete(f"{PATH}/<id:id>", needs=ADMIN)
    def delete(identity: Identity, id: int) -> HTTPResponse:
        with context.database.transaction() as conn:
            users.delete(conn, id, identity)
        return respond.empty()

    @area.post(f"{PATH}/<id:id>/change-password", needs=ADMIN)
    def change_password(identity: Identity, id: int) -> HTTPResponse:
        password = read_struct(request.environ, PasswordBody).password
        passwords.check(password)
        password_hash = context.passwords.hash(password)
        with context.database.transaction() as conn:
            users.set_password(conn, id, password_hash, identity)
        return respond.empty()

    @area.post(f"{PATH}/validate-password", needs=ADMIN)
    def validate_password(identity: Identity) -> HTTPResponse:
        passwords.check(read_struct(request.environ, PasswordBody).password)
        return respond.empty()

    @area.get("/api/admin/user", needs=VIEW, while_built_in_password=True)
    def current_user(identity: Identity) -> HTTPResponse:
        return respond.json(
            {
                "user": {
                    "id": identity.user_id,
                    "username": identity.username,
                    "email": identity.email,
                    "name": identity.name,
                    "isAPI": not identity.session_hash,
                },
                "permissions": [{"permission": name} for name in sorted(identity.permissions)],
                "csrfToken": identity.csrf or None,
            }
        )

    @area.post("/api/admin/user/change-password", needs=VIEW, while_built_in_password=True)
    def change_own_password(identity: Identity) -> HTTPResponse:
        body = read_struct(request.environ, OwnPasswordBody)
        if body.password != body.confirmPassword:
            raise BadDataError("The two new passwords differ.")
        users.change_own_password(
            context.database, context.passwords, identity, body.oldPassword, body.password
        )
        return respond.empty()

    return area
