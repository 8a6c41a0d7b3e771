"""Admin API: tag types."""

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

    def check_fields(self) -> tag_types.TagTypeFields:
        return tag_types.check_fields(self.description, self.icon, self.color)


class UpdateTagTypeBody(msgspec.Struct):
    """Absent members keep their values."""

    description: str | UnsetType | None = UNSET
    icon: str | UnsetType | None = UNSET
    color: str | UnsetType | None = UNSET


router = Router(AdminGuard)


@router.get(PATH, needs=VIEW)
def list_tag_types(context: Context, identity: Identity) -> HTTPResponse:
    with context.database.autocommit() as conn:
        rows = repository.list_all(conn)
    return respond.json({"version": 1, "tagTypes": rows})


@router.post(PATH, needs=EDIT, takes=TagTypeBody)
def create_tag_type(context: Context, identity: Identity, body: TagTypeBody) -> HTTPResponse:
    with context.database.transaction() as conn:
        row = tag_types.create(conn, body.name, body.check_fields(), identity)
    return respond.json(row, 201, location=f"{context.prefix}{PATH}/{body.name}")


@router.post(f"{PATH}/validate", needs=VIEW, takes=TagTypeBody)
def validate_tag_type(context: Context, identity: Identity, body: TagTypeBody) -> HTTPResponse:
    body.check_fields()
    with context.database.autocommit() as conn:
        tag_types.check_name_available(conn, body.name)
    return respond.json({"valid": True, "tagType": body})


@router.get(f"{PATH}/<name>", needs=VIEW)
def get_tag_type(context: Context, identity: Identity, name: str) -> HTTPResponse:
    with context.database.autocommit() as conn:
        return respond.json(tag_types.get(conn, name))


@router.put(f"{PATH}/<name>", needs=EDIT, takes=UpdateTagTypeBody)
def update_tag_type(
    context: Context, identity: Identity, name: str, body: UpdateTagTypeBody
) -> HTTPResponse:
    with context.database.transaction() as conn:
        row = tag_types.update(
            conn, name, identity, description=body.description, icon=body.icon, color=body.color
        )
    return respond.json(row)


@router.delete(f"{PATH}/<name>", needs=EDIT)
def delete_tag_type(context: Context, identity: Identity, name: str) -> HTTPResponse:
    with context.database.transaction() as conn:
        tag_types.delete(conn, name, identity)
    return respond.empty()
