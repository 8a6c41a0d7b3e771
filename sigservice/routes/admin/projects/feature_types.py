"""Admin API: the list of flag types."""

from bottle import HTTPResponse

from sigservice.context import Context
from sigservice.repository.projects import feature_types
from sigservice.services.identity import VIEW, Identity
from sigservice.web import respond
from sigservice.web.guards import AdminGuard
from sigservice.web.router import Router

router = Router(AdminGuard)


@router.get("/api/admin/feature-types", needs=VIEW)
def list_feature_types(context: Context, identity: Identity) -> HTTPResponse:
    with context.database.autocommit() as conn:
        rows = feature_types.list_all(conn)
    types = [
        {
            "id": row["id"],
            "name": row["name"],
            "description": row["description"],
            "lifetimeDays": row["lifetime_days"],
        }
        for row in rows
    ]
    return respond.json({"version": 1, "types": types})
