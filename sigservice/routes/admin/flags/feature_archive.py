"""Archived flags and bulk changes of flags, JSON."""

import msgspec

from sigservice.services.flags import feature_tags, features
from sigservice.services.flags.feature_tags import TagChanges
from sigservice.services.identity import EDIT, Identity
from sigservice.web import AdminGuard, Connection, HTTPResponse, Router, respond

PROJECT = "/api/admin/projects/<project>"


class FeaturesBody(msgspec.Struct):
    features: list[str]


class StaleBody(msgspec.Struct):
    features: list[str]
    stale: bool


class BulkTags(msgspec.Struct):
    features: list[str]
    tags: TagChanges


router = Router(AdminGuard)


@router.post("/api/admin/archive/revive/<name>", needs=EDIT)
def revive_feature(conn: Connection, identity: Identity, name: str) -> None:
    """Revives the flag, disabled in every environment."""
    features.revive(conn, [name], identity)


@router.delete("/api/admin/archive/<name>", needs=EDIT)
def delete_feature(conn: Connection, identity: Identity, name: str) -> None:
    """Deletes the flag permanently; 400 if it is not archived."""
    features.delete(conn, [name], identity)


@router.post(f"{PROJECT}/archive", needs=EDIT, takes=FeaturesBody)
def archive_features(
    conn: Connection, identity: Identity, project: str, body: FeaturesBody
) -> HTTPResponse:
    """Body: `{features: [name]}`. 202."""
    features.archive(conn, project, body.features, identity)
    return respond.empty(202)


@router.post(f"{PROJECT}/revive", needs=EDIT, takes=FeaturesBody)
def revive_features(conn: Connection, identity: Identity, project: str, body: FeaturesBody) -> None:
    """Body: `{features: [name]}`. Disabled in every environment."""
    features.get_all(conn, project, body.features)
    features.revive(conn, body.features, identity)


@router.post(f"{PROJECT}/delete", needs=EDIT, takes=FeaturesBody)
def delete_features(conn: Connection, identity: Identity, project: str, body: FeaturesBody) -> None:
    """Body: `{features: [name]}`. Permanently."""
    features.get_all(conn, project, body.features)
    features.delete(conn, body.features, identity)


@router.post(f"{PROJECT}/stale", needs=EDIT, takes=StaleBody)
def set_features_stale(
    conn: Connection, identity: Identity, project: str, body: StaleBody
) -> HTTPResponse:
    """Body: `{features: [name], stale}`. 202."""
    features.set_stale(conn, project, body.features, body.stale, identity)
    return respond.empty(202)


@router.put(f"{PROJECT}/tags", needs=EDIT, takes=BulkTags)
def change_tags_of_features(
    conn: Connection, identity: Identity, project: str, body: BulkTags
) -> None:
    """Body: `{features: [name], tags: {addedTags, removedTags}}`."""
    features.get_all(conn, project, body.features)
    feature_tags.change(
        conn, body.features, identity, add=body.tags.addedTags, remove=body.tags.removedTags
    )
