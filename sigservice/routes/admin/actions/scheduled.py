"""The scheduled action sets of a project, JSON."""

from sigservice.services.actions import scheduled_sets
from sigservice.services.identity import VIEW, Identity
from sigservice.web import AdminGuard, Context, HTTPResponse, Router, respond

router = Router(AdminGuard)


@router.get("/api/admin/projects/<project>/scheduled", needs=VIEW)
def list_scheduled(context: Context, identity: Identity, project: str) -> HTTPResponse:
    with context.database.transaction() as conn:
        rows = scheduled_sets.list_of_project(conn, project)
    return respond.json({"scheduled": [scheduled_sets.to_json(row) for row in rows]})
