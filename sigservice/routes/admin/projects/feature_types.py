"""Admin API: flag types and their lifetimes."""

from sigservice.db.pool import Connection
from sigservice.repository.projects import feature_types as feature_type_rows
from sigservice.services.identity import ADMIN, VIEW, Identity
from sigservice.services.projects import feature_types
from sigservice.services.projects.feature_types import Lifetime
from sigservice.web import AdminGuard, Json, Router

router = Router(AdminGuard)


@router.get("/api/admin/feature-types", needs=VIEW, autocommit=True)
def list_feature_types(conn: Connection, identity: Identity) -> Json:
    rows = feature_type_rows.list_all(conn)
    types = [feature_types.to_json(row) for row in rows]
    return {"version": 1, "types": types}


@router.put("/api/admin/feature-types/<id>/lifetime", needs=ADMIN, takes=Lifetime)
def update_lifetime(conn: Connection, identity: Identity, id: str, body: Lifetime) -> Json:
    return feature_types.to_json(feature_types.update(conn, id, body, identity))
