"""Tokens of a signal endpoint, JSON. Only the response to create contains the secret."""

import msgspec
from bottle import HTTPResponse

from sigservice.context import Context
from sigservice.services.identity import ADMIN, Identity
from sigservice.services.signals import signal_endpoints
from sigservice.web import respond
from sigservice.web.guards import AdminGuard
from sigservice.web.router import Router

PATH = "/api/admin/signal-endpoints/<id:id>/tokens"


class TokenBody(msgspec.Struct):
    name: str


router = Router(AdminGuard)


@router.get(PATH, needs=ADMIN)
def list_tokens(context: Context, identity: Identity, id: int) -> HTTPResponse:
    with context.database.transaction() as conn:
        rows = signal_endpoints.list_tokens(conn, id)
    return respond.json(
        {"signalEndpointTokens": [signal_endpoints.token_to_json(row) for row in rows]}
    )


@router.post(PATH, needs=ADMIN, takes=TokenBody)
def create_token(context: Context, identity: Identity, id: int, body: TokenBody) -> HTTPResponse:
    with context.database.transaction() as conn:
        row, secret = signal_endpoints.create_token(
            conn, id, body.name, identity, limit=context.config["signals"]["tokensPerEndpointLimit"]
        )
    location = f"{context.prefix}/api/admin/signal-endpoints/{id}/tokens/{row['id']}"
    return respond.json(
        signal_endpoints.token_to_json(row) | {"token": secret}, 201, location=location
    )


@router.get(f"{PATH}/<token_id:id>", needs=ADMIN)
def get_token(context: Context, identity: Identity, id: int, token_id: int) -> HTTPResponse:
    with context.database.transaction() as conn:
        row = signal_endpoints.get_token(conn, id, token_id)
    return respond.json(signal_endpoints.token_to_json(row))


@router.put(f"{PATH}/<token_id:id>", needs=ADMIN, takes=TokenBody)
def rename_token(
    context: Context, identity: Identity, id: int, token_id: int, body: TokenBody
) -> HTTPResponse:
    with context.database.transaction() as conn:
        row = signal_endpoints.rename_token(conn, id, token_id, body.name, identity)
    return respond.json(signal_endpoints.token_to_json(row))


@router.delete(f"{PATH}/<token_id:id>", needs=ADMIN)
def delete_token(context: Context, identity: Identity, id: int, token_id: int) -> HTTPResponse:
    with context.database.transaction() as conn:
        signal_endpoints.delete_token(conn, id, token_id, identity)
    return respond.empty()
