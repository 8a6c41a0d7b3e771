"""Admin API: settings of a project."""

from bottle import HTTPResponse

from sigservice.context import Context
from sigservice.services.identity import EDIT, Identity
from sigservice.services.projects import project_settings
from sigservice.services.projects.project_settings import ProjectSettings
from sigservice.web import respond
from sigservice.web.guards import AdminGuard
from sigservice.web.router import Router

router = Router(AdminGuard)


@router.put("/api/admin/projects/<project>/settings", needs=EDIT, takes=ProjectSettings)
def update_project_settings(
    context: Context, identity: Identity, project: str, body: ProjectSettings
) -> HTTPResponse:
    with context.database.transaction() as conn:
        project_settings.update(conn, project, body, identity)
    return respond.empty()
