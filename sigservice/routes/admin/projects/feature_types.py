"""Admin API: flag types and their lifetimes."""

import msgspec
from bottle import HTTPResponse

from sigservice.context import Context
from sigservice.repository.projects import feature_types as repository
from sigservice.services.identity import ADMIN, VIEW, Identity
from sigservice.services.projects import feature_types
from sigservice.web import respond
from sigservice.web.guards import AdminGuard
from sigservice.web.router import Router


class LifetimeBody(msgspec.Struct):
    """0 and null: flags of this type never become stale by age."""

    lifetimeDays: int | None


router = Router(AdminGuard)


@router.get("/api/admin/feature-types", needs=VIEW)
def list_feature_types(context: Context, identity: Identity) -> HTTPResponse:
    with context.database.autocommit() as conn:
        rows = repository.list_all(conn)
    types = [feature_types.to_json(row) for row in rows]
    return respond.json({"version": 1, "types": types})


@router.put("/api/admin/feature-types/<id>/lifetime", needs=ADMIN, takes=LifetimeBody)
def update_lifetime(
    context: Context, identity: Identity, id: str, body: LifetimeBody
) -> HTTPResponse:
    with context.database.transaction() as conn:
        row = feature_types.set_lifetime(conn, id, body.lifetimeDays, identity)
    return respond.json(feature_types.to_json(row))
