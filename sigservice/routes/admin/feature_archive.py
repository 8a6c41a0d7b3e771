"""The archive and changes of many flags at once, JSON."""

from __future__ import annotations

import msgspec
from bottle import Bottle, HTTPResponse

from sigservice.context import Context
from sigservice.services import feature_tags, features
from sigservice.services.feature_tags import TagChanges
from sigservice.services.identity import EDIT, Identity
from sigservice.web import respond
from sigservice.web.area import new_area
from sigservice.web.doors import AdminDoor

PROJECT = "/api/admin/projects/<project>"


class FeaturesBody(msgspec.Struct):
    features: list[str]


class StaleBody(msgspec.Struct):
    features: list[str]
    stale: bool


class BulkTags(msgspec.Struct):
    features: list[str]
    tags: TagChanges


def build(context: Context) -> Bottle:
    area = new_area(context, AdminDoor(context))

    @area.post("/api/admin/archive/revive/<name>", needs=EDIT)
    def revive(identity: Identity, name: str) -> HTTPResponse:
        with context.database.transaction() as conn:
            features.revive(conn, [name], identity)
        return respond.empty()

    @area.delete("/api/admin/archive/<name>", needs=EDIT)
    def delete(identity: Identity, name: str) -> HTTPResponse:
        with context.database.transaction() as conn:
            features.delete(conn, [name], identity)
        return respond.empty()

    @area.post(f"{PROJECT}/archive", needs=EDIT, takes=FeaturesBody)
    def archive_many(identity: Identity, project: str, body: FeaturesBody) -> HTTPResponse:
        with context.database.transaction() as conn:
            features.archive(conn, project, body.features, identity)
        return respond.empty(202)

    @area.post(f"{PROJECT}/revive", needs=EDIT, takes=FeaturesBody)
    def revive_many(identity: Identity, project: str, body: FeaturesBody) -> HTTPResponse:
        with context.database.transaction() as conn:
            features.get_all(conn, project, body.features)
            features.revive(conn, body.features, identity)
        return respond.empty()

    @area.post(f"{PROJECT}/delete", needs=EDIT, takes=FeaturesBody)
    def delete_many(identity: Identity, project: str, body: FeaturesBody) -> HTTPResponse:
        with context.database.transaction() as conn:
            features.get_all(conn, project, body.features)
            features.delete(conn, body.features, identity)
        return respond.empty()

    @area.post(f"{PROJECT}/stale", needs=EDIT, takes=StaleBody)
    def set_stale(identity: Identity, project: str, body: StaleBody) -> HTTPResponse:
        with context.database.transaction() as conn:
            features.set_stale(conn, project, body.features, body.stale, identity)
        return respond.empty(202)

    @area.put(f"{PROJECT}/tags", needs=EDIT, takes=BulkTags)
    def change_tags(identity: Identity, project: str, body: BulkTags) -> HTTPResponse:
        with context.database.transaction() as conn:
            features.get_all(conn, project, body.features)
            feature_tags.change(
                conn,
                body.features,
                identity,
                add=body.tags.addedTags,
                remove=body.tags.removedTags,
            )
        return respond.empty()

    return area
