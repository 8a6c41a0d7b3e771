"""Admin API: tags."""

from urllib.parse import quote

import msgspec

from sigservice.db.pool import Connection
from sigservice.repository.projects import tags as tag_rows
from sigservice.services.identity import EDIT, VIEW, Identity
from sigservice.services.projects import tags
from sigservice.web import AdminGuard, Context, HTTPResponse, Json, Router, respond

PATH = "/api/admin/tags"


class TagBody(msgspec.Struct):
    type: str
    value: str


router = Router(AdminGuard)


def _render_list(context: Context, type: str | None) -> Json:
    with context.database.autocommit() as conn:
        return {"version": 1, "tags": tag_rows.list_all(conn, type)}


@router.get(PATH, needs=VIEW)
def list_tags(context: Context, identity: Identity) -> HTTPResponse:
    return _render_list(context, None)


@router.get(f"{PATH}/<type>", needs=VIEW)
def list_tags_of_type(context: Context, identity: Identity, type: str) -> HTTPResponse:
    return _render_list(context, type)


@router.post(PATH, needs=EDIT, takes=TagBody)
def create_tag(conn: Connection, identity: Identity, body: TagBody) -> Json:
    row = tags.create(conn, body.type, body.value, identity)
    return respond.Created(
        {"version": 1, "tag": row}, f"{PATH}/{row['type']}/{quote(row['value'], safe='')}"
    )


@router.get(f"{PATH}/<type>/<value:path>", needs=VIEW, autocommit=True)
def get_tag(conn: Connection, identity: Identity, type: str, value: str) -> Json:
    return {"version": 1, "tag": tags.get(conn, type, value)}


@router.delete(f"{PATH}/<type>/<value:path>", needs=EDIT)
def delete_tag(conn: Connection, identity: Identity, type: str, value: str) -> None:
    tags.delete(conn, type, value, identity)
