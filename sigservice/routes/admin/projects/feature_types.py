"""Admin API: flag types and their lifetimes."""

from sigservice.repository.projects import feature_types as feature_type_rows
from sigservice.services.identity import ADMIN, VIEW, Identity
from sigservice.services.projects import feature_types
from sigservice.services.projects.feature_types import Lifetime
from sigservice.web import AdminGuard, Context, HTTPResponse, Router, respond

router = Router(AdminGuard)


@router.get("/api/admin/feature-types", needs=VIEW)
def list_feature_types(context: Context, identity: Identity) -> HTTPResponse:
    with context.database.autocommit() as conn:
        rows = feature_type_rows.list_all(conn)
    types = [feature_types.to_json(row) for row in rows]
    return respond.json({"version": 1, "types": types})


@router.put("/api/admin/feature-types/<id>/lifetime", needs=ADMIN, takes=Lifetime)
def update_lifetime(context: Context, identity: Identity, id: str, body: Lifetime) -> HTTPResponse:
    with context.database.transaction() as conn:
        row = feature_types.update(conn, id, body, identity)
    return respond.json(feature_types.to_json(row))
