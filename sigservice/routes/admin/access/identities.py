"""Identities of users at the OpenID provider, JSON."""

from typing import Any

import msgspec

from sigservice.config.oidc import is_enabled
from sigservice.repository.access import identities
from sigservice.services.access import users as user_service
from sigservice.services.access.oidc import users
from sigservice.services.identity import ADMIN, VIEW, Identity
from sigservice.web import AdminGuard, Connection, Context, Json, Router, oidc_sign_in

OF_USER = "/api/admin/user-admin/<id:id>/identities"
OWN = "/api/admin/user/identities"


class DisconnectBody(msgspec.Struct):
    """`password` is optional after a fresh sign-in with the provider."""

    password: str = ""


router = Router(AdminGuard, is_enabled=is_enabled)


@router.get(OF_USER, needs=ADMIN)
def list_identities(conn: Connection, identity: Identity, id: int) -> Json:
    """With single sign-on: `{identities: [{id, issuer, subject, createdAt, lastSignInAt}]}`."""
    user_service.get(conn, id)
    return _to_json(identities.list_of_user(conn, id))


@router.delete(f"{OF_USER}/<identity_id:id>", needs=ADMIN)
def delete_identity(conn: Connection, identity: Identity, id: int, identity_id: int) -> None:
    """Disconnects the user; the sessions of the identity end."""
    users.unlink(conn, id, identity_id, identity, how="admin")


@router.get(OWN, needs=VIEW, autocommit=True)
def list_own_identities(conn: Connection, identity: Identity) -> Json:
    """With single sign-on: `{identities: [identity]}` of the current user."""
    return _to_json(identities.list_of_user(conn, identity.user_id))


@router.delete(OWN, needs=VIEW, takes=DisconnectBody, optional_body=True)
@router.delete(f"{OWN}/<identity_id:id>", needs=VIEW, takes=DisconnectBody, optional_body=True)
def delete_own_identity(
    context: Context, identity: Identity, body: DisconnectBody, identity_id: int | None = None
) -> None:
    """Body: `{password}`, unless the provider opened the session within ten minutes. Disconnects
    the current user from the provider, or deletes one identity. Needs a session; 401
    `PasswordMismatch`; 409 if it is the only way to sign in."""
    oidc_sign_in.unlink_own(context, identity, identity_id, body.password)


def _to_json(rows: list[dict[str, Any]]) -> Json:
    return {"identities": [users.to_json(row) for row in rows]}
