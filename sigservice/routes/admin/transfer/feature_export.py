"""Flags of one environment in the exchange format, JSON: export, validate, import."""

from __future__ import annotations

from typing import Any

import msgspec
from bottle import HTTPResponse

from sigservice.context import Context
from sigservice.errors import BadDataError
from sigservice.services.identity import EDIT, VIEW, Identity
from sigservice.services.transfer import feature_export, feature_import
from sigservice.services.transfer.snapshot_import import Limits
from sigservice.web import respond
from sigservice.web.guards import AdminGuard
from sigservice.web.router import Router

BATCH = "/api/admin/features-batch"
BODY_LIMIT = 5 * 1024 * 1024


class ExportBody(msgspec.Struct):
    """Of `features`, `project` and `tag` (type:value) the first that is given counts."""

    environment: str
    features: list[str] | None = None
    project: str | None = None
    tag: str | None = None
    downloadFile: bool = False


class ImportBody(msgspec.Struct):
    """`data` is what export gave, here or elsewhere."""

    project: str
    environment: str
    data: dict[str, Any]


router = Router(AdminGuard)


@router.post(f"{BATCH}/export", needs=VIEW, takes=ExportBody, body_limit=BODY_LIMIT)
def export(context: Context, identity: Identity, body: ExportBody) -> HTTPResponse:
    if body.features is None and body.project is None and body.tag is None:
        raise BadDataError("Say which flags: features, project or tag.", path="features")
    scope: dict[str, Any] = {"features": body.features}
    if body.features is None:
        scope = {"project": body.project} if body.project is not None else {"tag": body.tag}
    with context.database.transaction(bulkhead="search", snapshot=True) as conn:
        document = feature_export.export(conn, body.environment, **scope)
    if not body.downloadFile:
        return respond.json(document)
    day = context.clock.now().date().isoformat()
    name = f'attachment; filename="flags-{day}.json"'
    return respond.json(document, content_disposition=name)


@router.post(f"{BATCH}/validate", needs=EDIT, takes=ImportBody, body_limit=BODY_LIMIT)
def validate(context: Context, identity: Identity, body: ImportBody) -> HTTPResponse:
    document = feature_import.parse(body.data)
    with context.database.transaction() as conn:
        found = feature_import.validate(
            conn,
            body.project,
            body.environment,
            document,
            Limits(context.config["segmentValuesLimit"], context.config["strategySegmentsLimit"]),
        )
    return respond.json(found)


@router.post(f"{BATCH}/import", needs=EDIT, takes=ImportBody, body_limit=BODY_LIMIT)
def take(context: Context, identity: Identity, body: ImportBody) -> HTTPResponse:
    document = feature_import.parse(body.data)
    with context.database.transaction() as conn:
        feature_import.take(
            conn,
            body.project,
            body.environment,
            document,
            identity,
            Limits(context.config["segmentValuesLimit"], context.config["strategySegmentsLimit"]),
        )
    return respond.empty()
