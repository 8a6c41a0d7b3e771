"""The scheduled action sets of a project, JSON."""

from sigservice.db.pool import Connection
from sigservice.services.actions import scheduled_sets
from sigservice.services.identity import VIEW, Identity
from sigservice.web import AdminGuard, Json, Router

router = Router(AdminGuard)


@router.get("/api/admin/projects/<project>/scheduled", needs=VIEW)
def list_scheduled(conn: Connection, identity: Identity, project: str) -> Json:
    rows = scheduled_sets.list_of_project(conn, project)
    return {"scheduled": [scheduled_sets.to_json(row) for row in rows]}
