"""POST /edge/validate: a relay asks which of its clients' tokens are good."""

from __future__ import annotations

from typing import Annotated

import msgspec
from bottle import Bottle, HTTPResponse

from sigservice.context import Context
from sigservice.services import edge
from sigservice.web import respond
from sigservice.web.area import new_area
from sigservice.web.doors import OpenDoor


class TokensBody(msgspec.Struct):
    tokens: Annotated[list[str], msgspec.Meta(max_length=100)]


def build(context: Context) -> Bottle:
    area = new_area(context, OpenDoor())

    @area.post("/edge/validate", takes=TokensBody, limit="edge_validate")
    def validate(body: TokensBody) -> HTTPResponse:
        with context.database.autocommit() as conn:
            return respond.json({"tokens": edge.valid_tokens(conn, body.tokens)})

    return area
