"""Tags, JSON: list, create, read, delete."""

from __future__ import annotations

from urllib.parse import quote

import msgspec
from bottle import Bottle, HTTPResponse

from sigservice.context import Context
from sigservice.repository import tags as repository
from sigservice.services import tags
from sigservice.services.identity import EDIT, VIEW, Identity
from sigservice.web import respond
from sigservice.web.area import new_area
from sigservice.web.doors import AdminDoor

PATH = "/api/admin/tags"


class TagBody(msgspec.Struct):
    type: str
    value: str


def build(context: Context) -> Bottle:
    area = new_area(context, AdminDoor(context))

    def listed(type: str | None) -> HTTPResponse:
        with context.database.autocommit() as conn:
            return respond.json({"version": 1, "tags": repository.list_all(conn, type)})

    @area.get(PATH, needs=VIEW)
    def list_all(identity: Identity) -> HTTPResponse:
        return listed(None)

    @area.get(f"{PATH}/<type>", needs=VIEW)
    def list_of_type(identity: Identity, type: str) -> HTTPResponse:
        return listed(type)

    @area.post(PATH, needs=EDIT, takes=TagBody)
    def create(identity: Identity, body: TagBody) -> HTTPResponse:
        with context.database.transaction() as conn:
            row = tags.create(conn, body.type, body.value, identity)
        location = f"{context.prefix}{PATH}/{row['type']}/{quote(row['value'], safe='')}"
        return respond.json({"version": 1, "tag": row}, 201, location=location)

    @area.get(f"{PATH}/<type>/<value:path>", needs=VIEW)
    def read(identity: Identity, type: str, value: str) -> HTTPResponse:
        with context.database.autocommit() as conn:
            row = tags.get(conn, type, value)
        return respond.json({"version": 1, "tag": row})

    @area.delete(f"{PATH}/<type>/<value:path>", needs=EDIT)
    def delete(identity: Identity, type: str, value: str) -> HTTPResponse:
        with context.database.transaction() as conn:
            tags.delete(conn, type, value, identity)
        return respond.empty()

    return area
