"""Service accounts and their tokens, JSON. Only the answer to a creation contains the secret."""

from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from sigservice.repository.access import personal_tokens as personal_token_rows
from sigservice.repository.access import service_accounts as service_account_rows
from sigservice.services.access import personal_tokens, service_accounts
from sigservice.services.identity import ADMIN, Identity
from sigservice.web import AdminGuard, Connection, Context, HTTPResponse, Json, Router, respond

PATH = "/api/admin/service-account"


class ServiceAccountBody(msgspec.Struct, rename="camel"):
    """Absent fields don't change; the role of a new account is Viewer by default."""

    username: str | UnsetType | None = UNSET
    name: str | UnsetType | None = UNSET
    root_role: int | str | UnsetType = UNSET

    def to_changes(self) -> dict[str, Any]:
        fields = msgspec.structs.asdict(self)
        return {name: value for name, value in fields.items() if value is not UNSET}


class ServiceTokenBody(msgspec.Struct):
    description: str
    expiresAt: str


router = Router(AdminGuard)


@router.get(PATH, needs=ADMIN)
def list_service_accounts(conn: Connection, identity: Identity) -> Json:
    """`{"serviceAccounts": [account]}`."""
    rows = service_account_rows.list_all(conn)
    tokens = personal_token_rows.list_of_users(conn, [row["id"] for row in rows])
    accounts = [
        service_accounts.to_json(row, [t for t in tokens if t["user_id"] == row["id"]])
        for row in rows
    ]
    return {"serviceAccounts": accounts}


@router.post(PATH, needs=ADMIN, takes=ServiceAccountBody)
def create_service_account(
    conn: Connection, identity: Identity, body: ServiceAccountBody
) -> HTTPResponse:
    """Body: `{username, name?, rootRole?}`. 201 account."""
    row = service_accounts.create(conn, body.to_changes(), identity)
    return respond.json(service_accounts.to_json(row), 201)


@router.put(f"{PATH}/<id:id>", needs=ADMIN, takes=ServiceAccountBody)
def update_service_account(
    conn: Connection, identity: Identity, id: int, body: ServiceAccountBody
) -> Json:
    """Body: `{username?, name?, rootRole?}`. Account."""
    row = service_accounts.update(conn, id, body.to_changes(), identity)
    tokens = personal_token_rows.list_of_users(conn, [id])
    return service_accounts.to_json(row, tokens)


@router.delete(f"{PATH}/<id:id>", needs=ADMIN)
def delete_service_account(conn: Connection, identity: Identity, id: int) -> None:
    """Deletes its tokens too."""
    service_accounts.delete(conn, id, identity)


@router.get(f"{PATH}/<id:id>/token", needs=ADMIN)
def list_service_account_tokens(conn: Connection, identity: Identity, id: int) -> Json:
    """`{"pats": [token]}`."""
    rows = service_accounts.list_tokens(conn, id)
    return {"pats": [personal_tokens.to_json(row) for row in rows]}


@router.post(f"{PATH}/<id:id>/token", needs=ADMIN, takes=ServiceTokenBody)
def create_service_account_token(
    context: Context, identity: Identity, id: int, body: ServiceTokenBody
) -> HTTPResponse:
    """Body: `{description, expiresAt}`. 201 token with `secret`, only here."""
    fields = personal_tokens.check_fields(body.description, body.expiresAt, now=context.clock.now())
    with context.database.transaction() as conn:
        row, secret = service_accounts.create_token(conn, id, fields, identity)
    return respond.json(personal_tokens.to_json(row) | {"secret": secret}, 201)


@router.delete(f"{PATH}/<id:id>/token/<token_id:id>", needs=ADMIN)
def delete_service_account_token(
    conn: Connection, identity: Identity, id: int, token_id: int
) -> None:
    """Its next request is rejected."""
    service_accounts.delete_token(conn, id, token_id, identity)
