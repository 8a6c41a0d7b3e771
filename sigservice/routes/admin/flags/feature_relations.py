"""Tags and dependencies of flags, JSON."""

import msgspec

from sigservice.errors import NotFoundError
from sigservice.repository.flags import feature_tags as feature_tag_rows
from sigservice.repository.flags import features
from sigservice.services.flags import dependencies, feature_tags
from sigservice.services.flags.feature_tags import Tag, TagChanges
from sigservice.services.identity import EDIT, VIEW, Identity
from sigservice.web import AdminGuard, Connection, HTTPResponse, Json, Router, respond

TAGS = "/api/admin/features/<name>/tags"
FEATURE = "/api/admin/projects/<project>/features/<name>"


class ParentBody(msgspec.Struct):
    feature: str
    enabled: bool = True
    variants: list[str] = []


router = Router(AdminGuard)


@router.get(TAGS, needs=VIEW)
def list_tags(conn: Connection, identity: Identity, name: str) -> Json:
    """`{"version": 1, "tags": [{type, value}]}`."""
    if features.find(conn, name) is None:
        raise NotFoundError(f"Flag {name} not found.")
    return _tags_to_json(conn, name)


@router.post(TAGS, needs=EDIT, takes=Tag)
def add_tag(conn: Connection, identity: Identity, name: str, body: Tag) -> HTTPResponse:
    """Body: `{type, value}`. 201, also if the flag has the tag; creates a new tag."""
    feature_tags.change(conn, [name], identity, add=[body])
    return respond.json(body, 201)


@router.put(TAGS, needs=EDIT, takes=TagChanges)
def change_tags(conn: Connection, identity: Identity, name: str, body: TagChanges) -> Json:
    """Body: `{addedTags, removedTags}`. The tags."""
    feature_tags.change(conn, [name], identity, add=body.addedTags, remove=body.removedTags)
    return _tags_to_json(conn, name)


@router.delete(f"{TAGS}/<type>/<value:path>", needs=EDIT)
def remove_tag(conn: Connection, identity: Identity, name: str, type: str, value: str) -> None:
    """Removes a tag from the flag."""
    feature_tags.change(conn, [name], identity, remove=[Tag(type, value)])


@router.post(f"{FEATURE}/dependencies", needs=EDIT, takes=ParentBody)
def set_parent(
    conn: Connection, identity: Identity, project: str, name: str, body: ParentBody
) -> Json:
    """Body: `{feature, enabled?, variants?}`. Replaces the parent; 403 if the parent is the flag
    itself, a child, archived or unknown, or if the flag is archived."""
    dependencies.set_parent(
        conn,
        project,
        name,
        body.feature,
        identity,
        enabled=body.enabled,
        variants=body.variants,
    )
    return body


@router.delete(f"{FEATURE}/dependencies", needs=EDIT)
def remove_parents(conn: Connection, identity: Identity, project: str, name: str) -> None:
    """Removes all parents."""
    dependencies.remove_parent(conn, project, name, identity)


@router.delete(f"{FEATURE}/dependencies/<parent>", needs=EDIT)
def remove_parent(
    conn: Connection, identity: Identity, project: str, name: str, parent: str
) -> None:
    """Removes one parent."""
    dependencies.remove_parent(conn, project, name, identity, parent)


@router.get(f"{FEATURE}/parents", needs=VIEW)
def list_possible_parents(conn: Connection, identity: Identity, project: str, name: str) -> Json:
    """`[name]` of possible parents."""
    return dependencies.list_possible_parents(conn, project, name)


def _tags_to_json(conn: Connection, name: str) -> Json:
    rows = feature_tag_rows.list_by_features(conn, [name])
    tags = [{"type": row["type"], "value": row["value"]} for row in rows]
    return {"version": 1, "tags": tags}
