"""Flags of a project, JSON: list, create, show, update, clone, archive."""

import msgspec
from msgspec import UNSET, UnsetType

from sigservice.db import Connection, Row
from sigservice.errors import BadDataError, ForbiddenError
from sigservice.repository.flags.features import FeatureFilter
from sigservice.services import revisions
from sigservice.services.definitions import merge, read_row
from sigservice.services.flags import feature_tags, feature_view, features
from sigservice.services.flags.feature_tags import Tag
from sigservice.services.flags.features import Metadata, MetadataChanges
from sigservice.services.identity import EDIT, VIEW, Identity
from sigservice.web import AdminGuard, HTTPResponse, Json, Router, request, respond
from sigservice.web.body import read_query_pairs
from sigservice.web.json_patch import Patch, apply_patch

FEATURES = "/api/admin/projects/<project>/features"
FEATURE = f"{FEATURES}/<name>"
FIXED_MEMBERS = {  # and why the routes of metadata refuse another value
    "name": "A flag's name can't be changed. Clone the flag instead.",
    "project": "A flag's project can't be changed.",
    "archived": "DELETE archives a flag, POST /api/admin/archive/revive/{name} revives it.",
}


class NewFeature(msgspec.Struct, rename="camel"):
    name: str
    type: str = "release"
    description: str | None = None
    impression_data: bool = False
    permanent: bool | UnsetType = UNSET
    tags: list[Tag] | None = None


class FeatureBody(MetadataChanges):
    """`name`, `project` and `archived` must have the flag's values."""

    name: str | UnsetType = UNSET
    project: str | UnsetType = UNSET
    archived: bool | UnsetType = UNSET


class CloneBody(msgspec.Struct):
    name: str
    replaceGroupId: bool = True


class NameBody(msgspec.Struct):
    name: str
    projectId: str | None = None


router = Router(AdminGuard)


@router.get(FEATURES, needs=VIEW)
def list_features(conn: Connection, identity: Identity, project: str) -> Json:
    """Query: `namePrefix`, `tag` (type:value, repeatable). `{"version": 2, "features": [flag with
    environments and tags]}`."""
    pairs = read_query_pairs(request.environ)
    filter = FeatureFilter(
        projects=[project],
        prefix=dict(pairs).get("namePrefix") or None,
        tags=[text for name, text in pairs if name in ("tag", "tag[]")] or None,
    )
    flags, _ = feature_view.search(conn, filter, identity.user_id)
    return {"version": 2, "features": flags}


@router.post(FEATURES, needs=EDIT, takes=NewFeature)
def create_feature(conn: Connection, identity: Identity, project: str, body: NewFeature) -> Json:
    """Body: `{name, type?, description?, impressionData?, permanent?, tags?}`. 201 flag, disabled
    in every environment; `permanent` is true by default for the types `kill-switch` and
    `permission`."""
    row = features.create(conn, project, body.name, merge(Metadata(), body), identity)
    if body.tags:
        feature_tags.change(conn, [body.name], identity, add=body.tags)
    return respond.Created(features.to_json(row), _make_path(row))


@router.get(FEATURE, needs=VIEW)
def show_feature(conn: Connection, identity: Identity, project: str, name: str) -> Json:
    """Flag with environments, strategies, tags, `dependencies`, `children`; 404 if it is archived;
    states, strategies and tags of an archived flag can still be read."""
    features.get_active(conn, project, name)
    return feature_view.build_view(conn, project, name, identity.user_id)


@router.put(FEATURE, needs=EDIT, takes=FeatureBody)
def update_feature(
    conn: Connection, identity: Identity, project: str, name: str, body: FeatureBody
) -> Json:
    """Body: `{type?, description?, impressionData?, stale?, permanent?}`. Flag; one that becomes
    permanent is no longer stale; 400 for another `name`, `project` or `archived`."""
    revisions.lock(conn)  # nothing changes between the read and the write
    before = features.get(conn, project, name)
    return _update(conn, before, body, identity)


@router.patch(FEATURE, needs=EDIT, takes=Patch)
def patch_feature(
    conn: Connection, identity: Identity, project: str, name: str, body: Patch
) -> Json:
    """Body: JSON Patch (RFC 6902), at most 100 operations. Flag."""
    if any(step.path.startswith("/variants") for step in body):
        raise ForbiddenError("Variants belong to strategies. Change them there.")
    revisions.lock(conn)
    before = features.get(conn, project, name)
    new = apply_patch(body, features.to_json(before), FeatureBody)
    if new.description is UNSET:  # the patch removed it
        new.description = None
    return _update(conn, before, new, identity)


@router.delete(FEATURE, needs=EDIT)
def archive_feature(conn: Connection, identity: Identity, project: str, name: str) -> HTTPResponse:
    """202; 403 if it is the parent of other flags."""
    features.archive(conn, project, [name], identity)
    return respond.empty(202)


@router.post(f"{FEATURE}/clone", needs=EDIT, takes=CloneBody)
def clone_feature(
    conn: Connection, identity: Identity, project: str, name: str, body: CloneBody
) -> Json:
    """Body: `{name, replaceGroupId?}`. 201 flag with the same strategies, disabled in every
    environment."""
    row = features.clone(
        conn, project, name, body.name, replace_group_id=body.replaceGroupId, by=identity
    )
    return respond.Created(features.to_json(row), _make_path(row))


@router.post("/api/admin/features/validate", needs=EDIT, takes=NameBody)
def validate_feature_name(conn: Connection, identity: Identity, body: NameBody) -> None:
    """Body: `{name}`. 200, 400 or 409."""
    features.check_name(conn, body.name, body.projectId)
    features.check_name_available(conn, body.name)


def _update(conn: Connection, before: Row, body: FeatureBody, by: Identity) -> Json:
    """Raises BadDataError, also for a change of a member that other routes change."""
    current = features.to_json(before)
    for member, reason in FIXED_MEMBERS.items():
        if getattr(body, member) not in (UNSET, current[member]):
            raise BadDataError(reason, path=member)
    metadata = merge(read_row(Metadata, before), body)
    row = features.update(conn, before["project"], before["name"], metadata, by)
    return features.to_json(row)


def _make_path(row: Row) -> str:
    return f"/api/admin/projects/{row['project']}/features/{row['name']}"
