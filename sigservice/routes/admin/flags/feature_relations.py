"""Tags and dependencies of flags, JSON."""

import msgspec

from sigservice.db.pool import Connection
from sigservice.errors import NotFoundError
from sigservice.repository.flags import feature_tags as feature_tag_rows
from sigservice.repository.flags import features
from sigservice.services.flags import dependencies, feature_tags
from sigservice.services.flags.feature_tags import Tag, TagChanges
from sigservice.services.identity import EDIT, VIEW, Identity
from sigservice.web import AdminGuard, Context, HTTPResponse, Router, respond

TAGS = "/api/admin/features/<name>/tags"
FEATURE = "/api/admin/projects/<project>/features/<name>"


class ParentBody(msgspec.Struct):
    feature: str
    enabled: bool = True
    variants: list[str] = []


router = Router(AdminGuard)


@router.get(TAGS, needs=VIEW)
def list_tags(context: Context, identity: Identity, name: str) -> HTTPResponse:
    with context.database.transaction() as conn:
        if features.find(conn, name) is None:
            raise NotFoundError(f"Flag {name} not found.")
        return _tags_to_json(conn, name)


@router.post(TAGS, needs=EDIT, takes=Tag)
def add_tag(context: Context, identity: Identity, name: str, body: Tag) -> HTTPResponse:
    with context.database.transaction() as conn:
        feature_tags.change(conn, [name], identity, add=[body])
    return respond.json(body, 201)


@router.put(TAGS, needs=EDIT, takes=TagChanges)
def change_tags(context: Context, identity: Identity, name: str, body: TagChanges) -> HTTPResponse:
    with context.database.transaction() as conn:
        feature_tags.change(conn, [name], identity, add=body.addedTags, remove=body.removedTags)
        return _tags_to_json(conn, name)


@router.delete(f"{TAGS}/<type>/<value:path>", needs=EDIT)
def remove_tag(
    context: Context, identity: Identity, name: str, type: str, value: str
) -> HTTPResponse:
    with context.database.transaction() as conn:
        feature_tags.change(conn, [name], identity, remove=[Tag(type, value)])
    return respond.empty()


@router.post(f"{FEATURE}/dependencies", needs=EDIT, takes=ParentBody)
def set_parent(
    context: Context, identity: Identity, project: str, name: str, body: ParentBody
) -> HTTPResponse:
    with context.database.transaction() as conn:
        dependencies.set_parent(
            conn,
            project,
            name,
            body.feature,
            identity,
            enabled=body.enabled,
            variants=body.variants,
        )
    return respond.json(body)


@router.delete(f"{FEATURE}/dependencies", needs=EDIT)
def remove_parents(context: Context, identity: Identity, project: str, name: str) -> HTTPResponse:
    with context.database.transaction() as conn:
        dependencies.remove_parent(conn, project, name, identity)
    return respond.empty()


@router.delete(f"{FEATURE}/dependencies/<parent>", needs=EDIT)
def remove_parent(
    context: Context, identity: Identity, project: str, name: str, parent: str
) -> HTTPResponse:
    with context.database.transaction() as conn:
        dependencies.remove_parent(conn, project, name, identity, parent)
    return respond.empty()


@router.get(f"{FEATURE}/parents", needs=VIEW)
def list_possible_parents(
    context: Context, identity: Identity, project: str, name: str
) -> HTTPResponse:
    with context.database.transaction() as conn:
        return respond.json(dependencies.list_possible_parents(conn, project, name))


def _tags_to_json(conn: Connection, name: str) -> HTTPResponse:
    rows = feature_tag_rows.list_by_features(conn, [name])
    tags = [{"type": row["type"], "value": row["value"]} for row in rows]
    return respond.json({"version": 1, "tags": tags})
