"""Admin API: settings of a project."""

from sigservice.services.identity import EDIT, Identity
from sigservice.services.projects import project_settings
from sigservice.services.projects.project_settings import ProjectSettings
from sigservice.web import AdminGuard, Context, HTTPResponse, Router, respond

router = Router(AdminGuard)


@router.put("/api/admin/projects/<project>/settings", needs=EDIT, takes=ProjectSettings)
def update_project_settings(
    context: Context, identity: Identity, project: str, body: ProjectSettings
) -> HTTPResponse:
    with context.database.transaction() as conn:
        project_settings.update(conn, project, body, identity)
    return respond.empty()
