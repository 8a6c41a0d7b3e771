"""Segments, JSON: list, create, read, replace, delete, and who uses them."""

from __future__ import annotations

from typing import Any

import msgspec
from bottle import HTTPResponse

from sigservice.context import Context
from sigservice.db.statements import Row
from sigservice.errors import BadDataError, NotFoundError
from sigservice.repository.flags import feature_strategies
from sigservice.repository.flags import segments as repository
from sigservice.services import revisions
from sigservice.services.flags import segments, strategies
from sigservice.services.flags.constraints import Constraint
from sigservice.services.flags.feature_states import FeatureEnvironment
from sigservice.services.flags.segments import SegmentFields
from sigservice.services.flags.strategies import Strategy
from sigservice.services.identity import EDIT, VIEW, Identity
from sigservice.web import respond
from sigservice.web.guards import AdminGuard
from sigservice.web.router import Router

SEGMENTS = "/api/admin/segments"
BODY_LIMIT = 5_000_000  # a thousand values of a hundred characters, and what the option allows


class SegmentBody(msgspec.Struct):
    name: str
    constraints: list[Constraint]
    description: str | None = None
    project: str | None = None

    def fields(self) -> SegmentFields:
        return SegmentFields(self.name, self.description, self.project, self.constraints)


class NameBody(msgspec.Struct):
    name: str


class StrategySegments(msgspec.Struct):
    projectId: str
    strategyId: str
    environmentId: str
    segmentIds: list[int]


router = Router(AdminGuard)


@router.get(SEGMENTS, needs=VIEW)
def list_all(context: Context, identity: Identity) -> HTTPResponse:
    with context.database.transaction() as conn:
        rows = repository.list_all(conn)
    return respond.json({"segments": [_with_use(row) for row in rows]})


@router.post(SEGMENTS, needs=EDIT, takes=SegmentBody, body_limit=BODY_LIMIT)
def create(context: Context, identity: Identity, body: SegmentBody) -> HTTPResponse:
    with context.database.transaction() as conn:
        row = segments.create(
            conn, body.fields(), identity, max_values=context.config["segmentValuesLimit"]
        )
    location = f"{context.prefix}{SEGMENTS}/{row['id']}"
    return respond.json(segments.to_json(row), 201, location=location)


@router.post(f"{SEGMENTS}/validate", needs=EDIT, takes=NameBody)
def validate(context: Context, identity: Identity, body: NameBody) -> HTTPResponse:
    with context.database.transaction() as conn:
        segments.check_name_available(conn, body.name)
    return respond.empty(204)


@router.get(f"{SEGMENTS}/strategies/<strategy_id>", needs=VIEW)
def of_strategy(context: Context, identity: Identity, strategy_id: str) -> HTTPResponse:
    with context.database.transaction() as conn:
        strategy = _strategy(feature_strategies.find(conn, strategy_id))
        rows = repository.list_by_id(conn, strategy["segments"])
    return respond.json({"segments": [segments.to_json(row) for row in rows]})


@router.post(f"{SEGMENTS}/strategies", needs=EDIT, takes=StrategySegments)
def assign(context: Context, identity: Identity, body: StrategySegments) -> HTTPResponse:
    with context.database.transaction() as conn:
        revisions.lock(conn)  # what is read here stays until it is written
        row = _strategy(feature_strategies.find(conn, body.strategyId))
        target = FeatureEnvironment(body.projectId, row["feature"], body.environmentId)
        changed = strategies.get(conn, target, row["id"]) | {"segments": body.segmentIds}
        strategies.replace(
            conn,
            target,
            row["id"],
            msgspec.convert(changed, Strategy),
            identity,
            max_segments=context.config["strategySegmentsLimit"],
        )
    return respond.json(body, 201)


@router.get(f"{SEGMENTS}/<id>", needs=VIEW)
def read(context: Context, identity: Identity, id: str) -> HTTPResponse:
    with context.database.transaction() as conn:
        return respond.json(segments.to_json(segments.get(conn, _id(id))))


@router.put(f"{SEGMENTS}/<id>", needs=EDIT, takes=SegmentBody, body_limit=BODY_LIMIT)
def replace(context: Context, identity: Identity, id: str, body: SegmentBody) -> HTTPResponse:
    with context.database.transaction() as conn:
        segments.update(
            conn, _id(id), body.fields(), identity, max_values=context.config["segmentValuesLimit"]
        )
    return respond.empty(204)


@router.delete(f"{SEGMENTS}/<id>", needs=EDIT)
def delete(context: Context, identity: Identity, id: str) -> HTTPResponse:
    with context.database.transaction() as conn:
        segments.delete(conn, _id(id), identity)
    return respond.empty(204)


@router.get(f"{SEGMENTS}/<id>/strategies", needs=VIEW)
def list_users(context: Context, identity: Identity, id: str) -> HTTPResponse:
    with context.database.transaction() as conn:
        users = repository.list_users(conn, segments.get(conn, _id(id))["id"])
    shown = [
        {
            "id": row["id"],
            "featureName": row["feature"],
            "projectId": row["project"],
            "environment": row["environment"],
            "strategyName": row["name"],
        }
        for row in users
    ]
    return respond.json({"strategies": shown})


def _id(text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise BadDataError("A segment's id is a whole number.", path="id")
    return int(text[:18])


def _strategy(row: Row | None) -> Row:
    if row is None:
        raise NotFoundError("There is no such strategy.")
    return row


def _with_use(row: Row) -> dict[str, Any]:
    return segments.to_json(row) | {
        "usedInFeatures": row["used_in_features"],
        "usedInProjects": row["used_in_projects"],
    }
