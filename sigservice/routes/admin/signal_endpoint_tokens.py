"""Tokens of a signal endpoint, JSON. The secret is seen once, in the answer to create."""

from __future__ import annotations

import msgspec
from bottle import Bottle, HTTPResponse

from sigservice.context import Context
from sigservice.services import signal_endpoints
from sigservice.services.identity import ADMIN, Identity
from sigservice.web import respond
from sigservice.web.area import new_area
from sigservice.web.doors import AdminDoor

PATH = "/api/admin/signal-endpoints/<id:id>/tokens"


class TokenBody(msgspec.Struct):
    name: str


def build(context: Context) -> Bottle:
    area = new_area(context, AdminDoor(context))
    limit = context.config["signals"]["tokensPerEndpointLimit"]
    to_json = signal_endpoints.token_to_json

    @area.get(PATH, needs=ADMIN)
    def list_all(identity: Identity, id: int) -> HTTPResponse:
        with context.database.transaction() as conn:
            rows = signal_endpoints.list_tokens(conn, id)
        return respond.json({"signalEndpointTokens": [to_json(row) for row in rows]})

    @area.post(PATH, needs=ADMIN, takes=TokenBody)
    def create(identity: Identity, id: int, body: TokenBody) -> HTTPResponse:
        with context.database.transaction() as conn:
            row, secret = signal_endpoints.create_token(conn, id, body.name, identity, limit=limit)
        location = f"{context.prefix}/api/admin/signal-endpoints/{id}/tokens/{row['id']}"
        return respond.json(to_json(row) | {"token": secret}, 201, location=location)

    @area.get(f"{PATH}/<token_id:id>", needs=ADMIN)
    def read(identity: Identity, id: int, token_id: int) -> HTTPResponse:
        with context.database.transaction() as conn:
            row = signal_endpoints.get_token(conn, id, token_id)
        return respond.json(to_json(row))

    @area.put(f"{PATH}/<token_id:id>", needs=ADMIN, takes=TokenBody)
    def rename(identity: Identity, id: int, token_id: int, body: TokenBody) -> HTTPResponse:
        with context.database.transaction() as conn:
            row = signal_endpoints.rename_token(conn, id, token_id, body.name, identity)
        return respond.json(to_json(row))

    @area.delete(f"{PATH}/<token_id:id>", needs=ADMIN)
    def delete(identity: Identity, id: int, token_id: int) -> HTTPResponse:
        with context.database.transaction() as conn:
            signal_endpoints.delete_token(conn, id, token_id, identity)
        return respond.empty()

    return area
