"""Admin API: the status of a project."""

from sigservice.services.identity import VIEW, Identity
from sigservice.services.projects import project_status
from sigservice.web import AdminGuard, Context, HTTPResponse, Router, respond

router = Router(AdminGuard)


@router.get("/api/admin/projects/<project>/status", needs=VIEW)
def get_project_status(context: Context, identity: Identity, project: str) -> HTTPResponse:
    with context.database.transaction(bulkhead="search") as conn:
        return respond.json(project_status.build_status(conn, project))
