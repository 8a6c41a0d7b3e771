"""POST /edge/validate: a relay asks which of its clients' tokens are good."""

from __future__ import annotations

from typing import Annotated

import msgspec
from bottle import Bottle, HTTPResponse, request

from sigservice import secrets
from sigservice.context import Context
from sigservice.services import edge
from sigservice.web import respond
from sigservice.web.area import new_area
from sigservice.web.client_ip import client_ip, limit_key
from sigservice.web.doors import OpenDoor, check_failed_auth, count_failed_auth


class TokensBody(msgspec.Struct):
    tokens: Annotated[list[str], msgspec.Meta(max_length=100)]


def build(context: Context) -> Bottle:
    area = new_area(context, OpenDoor())

    # A wrong token counts as refused credentials: this answers whether a guess was right.
    @area.post("/edge/validate", takes=TokensBody, limit="edge_validate")
    def validate(body: TokensBody) -> HTTPResponse:
        address = limit_key(client_ip(request.environ, context.trusted))
        tokens = {secrets.sha256(token): token for token in body.tokens}
        if any(key not in context.known_senders for key in tokens):
            check_failed_auth(context, address)
        with context.database.autocommit() as conn:
            valid = edge.valid_tokens(conn, tokens)
        for key in tokens:
            if key in valid:
                context.known_senders.add(key)
            else:
                count_failed_auth(context, address)
        return respond.json({"tokens": list(valid.values())})

    return area
