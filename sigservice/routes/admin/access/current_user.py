"""The current user, JSON: account, permissions, profile and password."""

from typing import Any

import msgspec

from sigservice.errors import BadDataError
from sigservice.repository.access import users as user_rows
from sigservice.services.access import users
from sigservice.services.identity import ADMIN_TOKEN_ID, UNKNOWN_ID, VIEW, Identity
from sigservice.web import AdminGuard, Context, Json, Router
from sigservice.web.password_attempts import can_change_password, change_own_password

PATH = "/api/admin/user"


class OwnPasswordBody(msgspec.Struct):
    password: str
    confirmPassword: str
    oldPassword: str
    revokeTokens: bool = False


router = Router(AdminGuard)


def _find_details(context: Context, identity: Identity) -> dict[str, Any]:
    """The stored user; admin tokens and a service without authentication have none."""
    if identity.user_id in (ADMIN_TOKEN_ID, UNKNOWN_ID):
        return {"rootRole": users.ADMIN_ROLE, "isAPI": True}
    with context.database.autocommit() as conn:
        row = user_rows.find(conn, identity.user_id)
    return users.to_json(row) if row else {}


@router.get(PATH, needs=VIEW, while_default_password=True)
def show_current_user(context: Context, identity: Identity) -> Json:
    account = {
        "id": identity.user_id,
        "username": identity.username,
        "email": identity.email,
        "name": identity.name,
    }
    return {
        "user": account | _find_details(context, identity),
        "permissions": [{"permission": name} for name in sorted(identity.permissions)],
        "feedback": [],
        "splash": {},
        "csrfToken": identity.csrf or None,
    }


@router.get(f"{PATH}/profile", needs=VIEW)
def show_profile(context: Context, identity: Identity) -> Json:
    with context.database.autocommit() as conn:
        roles = user_rows.list_roles(conn)
    role = identity.role or "Admin"
    return {
        "rootRole": next(users.role_to_json(r) for r in roles if r["name"] == role),
        "projects": [],
        "groups": [],
        "features": [],
        "subscriptions": [],
        "canChangePassword": can_change_password(context, identity),
    }


@router.post(
    f"{PATH}/change-password",
    needs=VIEW,
    while_default_password=True,
    takes=OwnPasswordBody,
)
def change_current_password(context: Context, identity: Identity, body: OwnPasswordBody) -> None:
    if body.password != body.confirmPassword:
        raise BadDataError("The new passwords must match.")
    change_own_password(
        context, identity, body.oldPassword, body.password, revoke_tokens=body.revokeTokens
    )
