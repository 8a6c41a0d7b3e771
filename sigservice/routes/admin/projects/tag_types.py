"""Admin API: tag types."""

from sigservice.db.pool import Connection
from sigservice.repository.projects import tag_types as tag_type_rows
from sigservice.services.identity import EDIT, VIEW, Identity
from sigservice.services.projects import tag_types
from sigservice.services.projects.tag_types import TagType, TagTypeChanges
from sigservice.web import AdminGuard, Json, Router, respond

PATH = "/api/admin/tag-types"


router = Router(AdminGuard)


@router.get(PATH, needs=VIEW, autocommit=True)
def list_tag_types(conn: Connection, identity: Identity) -> Json:
    return {"version": 1, "tagTypes": tag_type_rows.list_all(conn)}


@router.post(PATH, needs=EDIT, takes=TagType)
def create_tag_type(conn: Connection, identity: Identity, body: TagType) -> Json:
    row = tag_types.create(conn, body, identity)
    return respond.Created(row, f"{PATH}/{body.name}")


@router.post(f"{PATH}/validate", needs=VIEW, takes=TagType, autocommit=True)
def validate_tag_type(conn: Connection, identity: Identity, body: TagType) -> Json:
    tag_types.KIND.check_new(conn, body)
    return {"valid": True, "tagType": body}


@router.get(f"{PATH}/<name>", needs=VIEW, autocommit=True)
def get_tag_type(conn: Connection, identity: Identity, name: str) -> Json:
    return tag_types.get(conn, name)


@router.put(f"{PATH}/<name>", needs=EDIT, takes=TagTypeChanges)
def update_tag_type(conn: Connection, identity: Identity, name: str, body: TagTypeChanges) -> Json:
    return tag_types.update(conn, name, body, identity)


@router.delete(f"{PATH}/<name>", needs=EDIT)
def delete_tag_type(conn: Connection, identity: Identity, name: str) -> None:
    tag_types.delete(conn, name, identity)
