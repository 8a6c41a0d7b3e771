"""Segments, JSON: list, create, show, replace, delete, and the strategies that use them."""

import msgspec

from sigservice.errors import BadDataError, require_found
from sigservice.repository.flags import feature_strategies
from sigservice.repository.flags import segments as segment_rows
from sigservice.services import revisions
from sigservice.services.flags import segments, strategies
from sigservice.services.flags.feature_states import FeatureEnvironment
from sigservice.services.flags.segments import Segment
from sigservice.services.flags.strategies import Strategy
from sigservice.services.identity import EDIT, VIEW, Identity
from sigservice.web import AdminGuard, Connection, Context, HTTPResponse, Json, Router, Row, respond

SEGMENTS = "/api/admin/segments"
BODY_LIMIT = 5_000_000  # a thousand values of 100 characters, and more if the option allows


class SegmentNameBody(msgspec.Struct):
    name: str


class StrategySegments(msgspec.Struct):
    projectId: str
    strategyId: str
    environmentId: str
    segmentIds: list[int]


router = Router(AdminGuard)


@router.get(SEGMENTS, needs=VIEW)
def list_segments(conn: Connection, identity: Identity) -> Json:
    """`{"segments": [segment with usedInFeatures, usedInProjects]}`."""
    rows = segment_rows.list_all(conn)
    items = [
        segments.to_json(row)
        | {"usedInFeatures": row["used_in_features"], "usedInProjects": row["used_in_projects"]}
        for row in rows
    ]
    return {"segments": items}


@router.post(SEGMENTS, needs=EDIT, takes=Segment, body_limit=BODY_LIMIT)
def create_segment(context: Context, identity: Identity, body: Segment) -> Json:
    """Body: `{name, constraints, description?, project?}`. 201 segment."""
    with context.database.transaction() as conn:
        limit = context.config["segmentValuesLimit"]
        row = segments.create(conn, body, identity, max_values=limit)
    return respond.Created(segments.to_json(row), f"{SEGMENTS}/{row['id']}")


@router.post(f"{SEGMENTS}/validate", needs=EDIT, takes=SegmentNameBody)
def validate_segment_name(
    conn: Connection, identity: Identity, body: SegmentNameBody
) -> HTTPResponse:
    """Body: `{name}`. 204 or 409."""
    segments.check_name_available(conn, body.name)
    return respond.empty(204)


@router.get(f"{SEGMENTS}/strategies/<strategy_id>", needs=VIEW)
def list_segments_of_strategy(conn: Connection, identity: Identity, strategy_id: str) -> Json:
    """`{"segments": […]}` of a strategy."""
    strategy = _find_strategy(conn, strategy_id)
    rows = segment_rows.list_by_id(conn, strategy["segments"])
    return {"segments": [segments.to_json(row) for row in rows]}


@router.post(f"{SEGMENTS}/strategies", needs=EDIT, takes=StrategySegments)
def set_segments_of_strategy(
    context: Context, identity: Identity, body: StrategySegments
) -> HTTPResponse:
    """Body: `{projectId, strategyId, environmentId, segmentIds}`. 201."""
    with context.database.transaction() as conn:
        revisions.lock(conn)  # nothing changes between the read and the write
        row = _find_strategy(conn, body.strategyId)
        target = FeatureEnvironment(body.projectId, row["feature"], body.environmentId)
        new = strategies.get(conn, target, row["id"]) | {"segments": body.segmentIds}
        strategy, limit = msgspec.convert(new, Strategy), context.config["strategySegmentsLimit"]
        strategies.replace(conn, target, row["id"], strategy, identity, max_segments=limit)
    return respond.json(body, 201)


@router.get(f"{SEGMENTS}/<id>", needs=VIEW)
def show_segment(conn: Connection, identity: Identity, id: str) -> Json:
    """Segment."""
    return segments.to_json(segments.get(conn, _parse_id(id)))


@router.put(f"{SEGMENTS}/<id>", needs=EDIT, takes=Segment, body_limit=BODY_LIMIT)
def replace_segment(context: Context, identity: Identity, id: str, body: Segment) -> HTTPResponse:
    """Body: as create. 204."""
    with context.database.transaction() as conn:
        limit = context.config["segmentValuesLimit"]
        segments.update(conn, _parse_id(id), body, identity, max_values=limit)
    return respond.empty(204)


@router.delete(f"{SEGMENTS}/<id>", needs=EDIT)
def delete_segment(conn: Connection, identity: Identity, id: str) -> HTTPResponse:
    """204; 409 lists the strategies that use it, also as the default of a project."""
    segments.delete(conn, _parse_id(id), identity)
    return respond.empty(204)


@router.get(f"{SEGMENTS}/<id>/strategies", needs=VIEW)
def list_strategies_of_segment(conn: Connection, identity: Identity, id: str) -> Json:
    """`{"strategies": […]}` that use it."""
    rows = segment_rows.list_strategies(conn, segments.get(conn, _parse_id(id))["id"])
    items = [
        {
            "id": row["id"],
            "featureName": row["feature"],
            "projectId": row["project"],
            "environment": row["environment"],
            "strategyName": row["name"],
        }
        for row in rows
    ]
    return {"strategies": items}


def _parse_id(text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise BadDataError("The ID of a segment must be a whole number.", path="id")
    return int(text[:18])


def _find_strategy(conn: Connection, id: str) -> Row:
    return require_found(feature_strategies.find(conn, id), "Strategy not found.")
