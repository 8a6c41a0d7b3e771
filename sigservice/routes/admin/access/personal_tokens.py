"""The user's own personal tokens, JSON. Only the answer to a creation contains the secret."""

import msgspec

from sigservice.db.pool import Connection
from sigservice.repository.access import personal_tokens as personal_token_rows
from sigservice.services.access import personal_tokens
from sigservice.services.identity import VIEW, Identity
from sigservice.web import AdminGuard, Context, HTTPResponse, Json, Router, respond
from sigservice.web.own_tokens import create_own_token

PATH = "/api/admin/user/tokens"


class PersonalTokenBody(msgspec.Struct):
    """`password` is required of users who sign in by password."""

    description: str
    expiresAt: str
    password: str = ""


router = Router(AdminGuard)


@router.get(PATH, needs=VIEW, autocommit=True)
def list_personal_tokens(conn: Connection, identity: Identity) -> Json:
    rows = personal_token_rows.list_of_users(conn, [identity.user_id])
    return {"pats": [personal_tokens.to_json(row) for row in rows]}


@router.post(PATH, needs=VIEW, takes=PersonalTokenBody)
def create_personal_token(
    context: Context, identity: Identity, body: PersonalTokenBody
) -> HTTPResponse:
    row, secret = create_own_token(
        context, identity, body.description, body.expiresAt, body.password
    )
    return respond.json(personal_tokens.to_json(row) | {"secret": secret}, 201)


@router.delete(f"{PATH}/<id:id>", needs=VIEW)
def delete_personal_token(conn: Connection, identity: Identity, id: int) -> None:
    personal_tokens.delete(conn, identity.user_id, id, identity)
