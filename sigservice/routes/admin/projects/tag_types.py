"""Tag types, JSON: list, create, update, delete."""

from __future__ import annotations

import msgspec
from bottle import HTTPResponse
from msgspec import UNSET, UnsetType

from sigservice.context import Context
from sigservice.repository.projects import tag_types as repository
from sigservice.services.identity import EDIT, VIEW, Identity
from sigservice.services.projects import tag_types
from sigservice.web import respond
from sigservice.web.guards import AdminGuard
from sigservice.web.router import Router

PATH = "/api/admin/tag-types"


class TagTypeBody(msgspec.Struct):
    name: str
    description: str | None = None
    icon: str | None = None
    color: str | None = None

    def fields(self) -> tag_types.Fields:
        return tag_types.fields(self.description, self.icon, self.color)


class UpdateBody(msgspec.Struct):
    """What is absent stays as it is."""

    description: str | UnsetType | None = UNSET
    icon: str | UnsetType | None = UNSET
    color: str | UnsetType | None = UNSET


router = Router(AdminGuard)


@router.get(PATH, needs=VIEW)
def list_all(context: Context, identity: Identity) -> HTTPResponse:
    with context.database.autocommit() as conn:
        rows = repository.list_all(conn)
    return respond.json({"version": 1, "tagTypes": rows})


@router.post(PATH, needs=EDIT, takes=TagTypeBody)
def create(context: Context, identity: Identity, body: TagTypeBody) -> HTTPResponse:
    with context.database.transaction() as conn:
        row = tag_types.create(conn, body.name, body.fields(), identity)
    return respond.json(row, 201, location=f"{context.prefix}{PATH}/{body.name}")


@router.post(f"{PATH}/validate", needs=VIEW, takes=TagTypeBody)
def validate(context: Context, identity: Identity, body: TagTypeBody) -> HTTPResponse:
    body.fields()
    with context.database.autocommit() as conn:
        tag_types.check_free(conn, body.name)
    return respond.json({"valid": True, "tagType": body})


@router.get(f"{PATH}/<name>", needs=VIEW)
def read(context: Context, identity: Identity, name: str) -> HTTPResponse:
    with context.database.autocommit() as conn:
        return respond.json(tag_types.get(conn, name))


@router.put(f"{PATH}/<name>", needs=EDIT, takes=UpdateBody)
def update(context: Context, identity: Identity, name: str, body: UpdateBody) -> HTTPResponse:
    with context.database.transaction() as conn:
        row = tag_types.update(
            conn,
            name,
            identity,
            description=body.description,
            icon=body.icon,
            color=body.color,
        )
    return respond.json(row)


@router.delete(f"{PATH}/<name>", needs=EDIT)
def delete(context: Context, identity: Identity, name: str) -> HTTPResponse:
    with context.database.transaction() as conn:
        tag_types.delete(conn, name, identity)
    return respond.empty()
