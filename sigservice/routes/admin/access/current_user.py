"""The current user, JSON: account, permissions, profile, password, personal tokens and sessions.
Only the answer to a creation contains the secret of a token."""

from typing import Any

import msgspec

from sigservice.db import Connection
from sigservice.errors import BadDataError, ForbiddenError
from sigservice.repository.access import personal_tokens as personal_token_rows
from sigservice.repository.access import users as user_rows
from sigservice.services.access import personal_tokens, sessions, users
from sigservice.services.identity import ADMIN_TOKEN_ID, UNKNOWN_ID, VIEW, Identity
from sigservice.web import AdminGuard, Context, HTTPResponse, Json, Router, respond, session
from sigservice.web.own_tokens import create_own_token
from sigservice.web.password_attempts import can_change_password, change_own_password

PATH = "/api/admin/user"
TOKENS = f"{PATH}/tokens"
SESSIONS = f"{PATH}/sessions"


class OwnPasswordBody(msgspec.Struct):
    password: str
    confirmPassword: str
    oldPassword: str
    revokeTokens: bool = False


class PersonalTokenBody(msgspec.Struct):
    """`password` is required of users who sign in by password."""

    description: str
    expiresAt: str
    password: str = ""


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
    """`{user, permissions, feedback, splash, csrfToken}` of the current user."""
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
    """`{rootRole, projects, groups, features, subscriptions, canChangePassword}`."""
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
    """Body: `{oldPassword, password, confirmPassword, revokeTokens?}`. Ends other sessions;
    `revokeTokens` true revokes the user's personal tokens; 401 `PasswordMismatch`; 422
    `DisabledError` if passwords are off; 429 after too many wrong passwords; 503 with
    `Retry-After`."""
    if body.password != body.confirmPassword:
        raise BadDataError("The new passwords must match.")
    change_own_password(
        context, identity, body.oldPassword, body.password, revoke_tokens=body.revokeTokens
    )


@router.get(TOKENS, needs=VIEW, autocommit=True)
def list_personal_tokens(conn: Connection, identity: Identity) -> Json:
    """`{"pats": [token]}` of the current user."""
    rows = personal_token_rows.list_of_users(conn, [identity.user_id])
    return {"pats": [personal_tokens.to_json(row) for row in rows]}


@router.post(TOKENS, needs=VIEW, takes=PersonalTokenBody)
def create_personal_token(
    context: Context, identity: Identity, body: PersonalTokenBody
) -> HTTPResponse:
    """Body: `{description, expiresAt, password?}`. 201 token with `secret`, only here. Needs a
    session, otherwise 403. Users who sign in by password send their own in `password` (absent: 400;
    wrong: 401, and 429 after too many); others need a sign-in with the provider within ten minutes
    (403 `ConfirmationRequired` with `path`)."""
    row, secret = create_own_token(
        context, identity, body.description, body.expiresAt, body.password
    )
    return respond.json(personal_tokens.to_json(row) | {"secret": secret}, 201)


@router.delete(f"{TOKENS}/<id:id>", needs=VIEW)
def delete_personal_token(conn: Connection, identity: Identity, id: int) -> None:
    """404 if it belongs to another user."""
    personal_tokens.delete(conn, identity.user_id, id, identity)


@router.get(SESSIONS, needs=VIEW)
def list_sessions(context: Context, identity: Identity) -> Json:
    """`{"sessions": [{id, createdAt, lastUsedAt, expiresAt, ip, userAgent, isCurrent}]}` of the
    current user, at most 100. Needs a session, otherwise 403."""
    _require_session(identity)
    rows = session.list_own_sessions(context, identity)
    return {"sessions": [sessions.to_json(row) for row in rows]}


@router.delete(SESSIONS, needs=VIEW)
def end_other_sessions(conn: Connection, identity: Identity) -> None:
    """Ends all other sessions of the current user. Needs a session."""
    _require_session(identity)
    sessions.end_other_sessions(conn, identity)


@router.delete(f"{SESSIONS}/<id:id>", needs=VIEW)
def end_session(context: Context, identity: Identity, id: int) -> HTTPResponse:
    """Ends a session of the current user; 404 if it belongs to another user. Needs a session."""
    _require_session(identity)
    with context.database.transaction() as conn:
        is_current = sessions.end_session(conn, identity, id)
    answer = respond.empty()
    if is_current:
        session.clear_cookie(context, answer)
    return answer


def _require_session(identity: Identity) -> None:
    """Keeps a stolen token from listing and ending its owner's sessions."""
    if not identity.session_hash:
        raise ForbiddenError("Only signed-in users have sessions.")
