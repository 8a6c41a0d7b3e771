"""Admin API: tags."""

from urllib.parse import quote

import msgspec

from sigservice.repository.projects import tags as tag_rows
from sigservice.services.identity import EDIT, VIEW, Identity
from sigservice.services.projects import tags
from sigservice.web import AdminGuard, Connection, Json, Router, respond

PATH = "/api/admin/tags"


class TagBody(msgspec.Struct):
    type: str
    value: str


router = Router(AdminGuard)


@router.get(PATH, needs=VIEW, autocommit=True)
@router.get(f"{PATH}/<type>", needs=VIEW, autocommit=True)
def list_tags(conn: Connection, identity: Identity, type: str | None = None) -> Json:
    """`{"version": 1, "tags": [{type, value, color}]}`, all or those of a type."""
    return {"version": 1, "tags": tag_rows.list_all(conn, type)}


@router.post(PATH, needs=EDIT, takes=TagBody)
def create_tag(conn: Connection, identity: Identity, body: TagBody) -> Json:
    """Body: `{type, value}`. 201 `{"version": 1, "tag"}`; 409 if it exists."""
    row = tags.create(conn, body.type, body.value, identity)
    return respond.Created(
        {"version": 1, "tag": row}, f"{PATH}/{row['type']}/{quote(row['value'], safe='')}"
    )


@router.get(f"{PATH}/<type>/<value:path>", needs=VIEW, autocommit=True)
def get_tag(conn: Connection, identity: Identity, type: str, value: str) -> Json:
    """`{"version": 1, "tag"}`."""
    return {"version": 1, "tag": tags.get(conn, type, value)}


@router.delete(f"{PATH}/<type>/<value:path>", needs=EDIT)
def delete_tag(conn: Connection, identity: Identity, type: str, value: str) -> None:
    """Removes it from flags too."""
    tags.delete(conn, type, value, identity)
