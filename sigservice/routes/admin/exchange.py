"""Flags of one environment in the exchange format, JSON: export, validate, import."""

from __future__ import annotations

from typing import Any

import msgspec
from bottle import Bottle, HTTPResponse

from sigservice.context import Context
from sigservice.errors import BadDataError
from sigservice.services import exchange, exchange_import
from sigservice.services.identity import EDIT, VIEW, Identity
from sigservice.services.inventory_import import Limits
from sigservice.web import respond
from sigservice.web.area import new_area
from sigservice.web.doors import AdminDoor

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


def build(context: Context) -> Bottle:
    area = new_area(context, AdminDoor(context))
    limits = Limits(context.config["segmentValuesLimit"], context.config["strategySegmentsLimit"])

    @area.post(f"{BATCH}/export", needs=VIEW, takes=ExportBody, body_limit=BODY_LIMIT)
    def export(identity: Identity, body: ExportBody) -> HTTPResponse:
        if body.features is None and body.project is None and body.tag is None:
            raise BadDataError("Say which flags: features, project or tag.", path="features")
        scope: dict[str, Any] = {"features": body.features}
        if body.features is None:
            scope = {"project": body.project} if body.project is not None else {"tag": body.tag}
        with context.database.transaction(bulkhead="search", snapshot=True) as conn:
            document = exchange.export(conn, body.environment, **scope)
        if not body.downloadFile:
            return respond.json(document)
        day = context.clock.now().date().isoformat()
        name = f'attachment; filename="flags-{day}.json"'
        return respond.json(document, content_disposition=name)

    @area.post(f"{BATCH}/validate", needs=EDIT, takes=ImportBody, body_limit=BODY_LIMIT)
    def validate(identity: Identity, body: ImportBody) -> HTTPResponse:
        document = exchange_import.parse(body.data)
        with context.database.transaction() as conn:
            found = exchange_import.validate(conn, body.project, body.environment, document, limits)
        return respond.json(found)

    @area.post(f"{BATCH}/import", needs=EDIT, takes=ImportBody, body_limit=BODY_LIMIT)
    def take(identity: Identity, body: ImportBody) -> HTTPResponse:
        document = exchange_import.parse(body.data)
        with context.database.transaction() as conn:
            exchange_import.take(conn, body.project, body.environment, document, identity, limits)
        return respond.empty()

    return area
