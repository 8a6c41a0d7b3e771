"""The user's own personal tokens, JSON. Only the answer to a creation contains the secret."""

import msgspec
from bottle import HTTPResponse

from sigservice.context import Context
from sigservice.errors import BadDataError, ForbiddenError
from sigservice.repository.access import personal_tokens as repository
from sigservice.services.access import personal_tokens
from sigservice.services.identity import VIEW, Identity
from sigservice.web import respond
from sigservice.web.guards import AdminGuard
from sigservice.web.password_attempts import verify_own_password
from sigservice.web.router import Router

PATH = "/api/admin/user/tokens"


class PersonalTokenBody(msgspec.Struct):
    """`password` is required if users sign in by password."""

    description: str
    expiresAt: str
    password: str = ""


router = Router(AdminGuard)


@router.get(PATH, needs=VIEW)
def list_personal_tokens(context: Context, identity: Identity) -> HTTPResponse:
    with context.database.autocommit() as conn:
        rows = repository.list_of_users(conn, [identity.user_id])
    return respond.json({"pats": [personal_tokens.to_json(row) for row in rows]})


# Keeps a stolen token or session from creating a token that outlives it.
@router.post(PATH, needs=VIEW, takes=PersonalTokenBody)
def create_personal_token(
    context: Context, identity: Identity, body: PersonalTokenBody
) -> HTTPResponse:
    if not identity.session_hash:
        raise ForbiddenError("Sign in to create personal tokens.")
    fields = personal_tokens.check_fields(
        body.description,
        body.expiresAt,
        now=context.clock.now(),
        max_days=context.config["authentication"]["personalTokenMaxLifetimeDays"],
    )
    verified_hash = None
    if context.authentication.type.has_passwords:
        if not body.password:
            raise BadDataError("Enter your password.", path="password")
        verified_hash = verify_own_password(context, identity, body.password)
    with context.database.transaction() as conn:
        row, secret = personal_tokens.create(
            conn,
            identity.user_id,
            fields,
            identity,
            authentication_scope=context.authentication.token_scope,
            verified_hash=verified_hash,
        )
    return respond.json(personal_tokens.to_json(row) | {"secret": secret}, 201)


@router.delete(f"{PATH}/<id:id>", needs=VIEW)
def delete_personal_token(context: Context, identity: Identity, id: int) -> HTTPResponse:
    with context.database.transaction() as conn:
        personal_tokens.delete(conn, identity.user_id, id, identity)
    return respond.empty()
