"""Admin API: the status of a project."""

from sigservice.services.identity import VIEW, Identity
from sigservice.services.projects import project_status
from sigservice.web import AdminGuard, Context, Json, Router

router = Router(AdminGuard)


@router.get("/api/admin/projects/<project>/status", needs=VIEW)
def get_project_status(context: Context, identity: Identity, project: str) -> Json:
    with context.database.transaction(bulkhead="search") as conn:
        return project_status.build_status(conn, project)
