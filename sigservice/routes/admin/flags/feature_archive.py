"""Archived flags and bulk changes of flags, JSON."""

import msgspec

from sigservice.services.flags import feature_tags, features
from sigservice.services.flags.feature_tags import TagChanges
from sigservice.services.identity import EDIT, Identity
from sigservice.web import AdminGuard, Context, HTTPResponse, Router, respond

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
def revive_feature(context: Context, identity: Identity, name: str) -> HTTPResponse:
    with context.database.transaction() as conn:
        features.revive(conn, [name], identity)
    return respond.empty()


@router.delete("/api/admin/archive/<name>", needs=EDIT)
def delete_feature(context: Context, identity: Identity, name: str) -> HTTPResponse:
    with context.database.transaction() as conn:
        features.delete(conn, [name], identity)
    return respond.empty()


@router.post(f"{PROJECT}/archive", needs=EDIT, takes=FeaturesBody)
def archive_features(
    context: Context, identity: Identity, project: str, body: FeaturesBody
) -> HTTPResponse:
    with context.database.transaction() as conn:
        features.archive(conn, project, body.features, identity)
    return respond.empty(202)


@router.post(f"{PROJECT}/revive", needs=EDIT, takes=FeaturesBody)
def revive_features(
    context: Context, identity: Identity, project: str, body: FeaturesBody
) -> HTTPResponse:
    with context.database.transaction() as conn:
        features.get_all(conn, project, body.features)
        features.revive(conn, body.features, identity)
    return respond.empty()


@router.post(f"{PROJECT}/delete", needs=EDIT, takes=FeaturesBody)
def delete_features(
    context: Context, identity: Identity, project: str, body: FeaturesBody
) -> HTTPResponse:
    with context.database.transaction() as conn:
        features.get_all(conn, project, body.features)
        features.delete(conn, body.features, identity)
    return respond.empty()


@router.post(f"{PROJECT}/stale", needs=EDIT, takes=StaleBody)
def set_features_stale(
    context: Context, identity: Identity, project: str, body: StaleBody
) -> HTTPResponse:
    with context.database.transaction() as conn:
        features.set_stale(conn, project, body.features, body.stale, identity)
    return respond.empty(202)


@router.put(f"{PROJECT}/tags", needs=EDIT, takes=BulkTags)
def change_tags_of_features(
    context: Context, identity: Identity, project: str, body: BulkTags
) -> HTTPResponse:
    with context.database.transaction() as conn:
        features.get_all(conn, project, body.features)
        feature_tags.change(
            conn, body.features, identity, add=body.tags.addedTags, remove=body.tags.removedTags
        )
    return respond.empty()
