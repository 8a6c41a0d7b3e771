"""Admin API: settings of a project."""

from sigservice.db.pool import Connection
from sigservice.services.identity import EDIT, Identity
from sigservice.services.projects import project_settings
from sigservice.services.projects.project_settings import ProjectSettings
from sigservice.web import AdminGuard, Router

router = Router(AdminGuard)


@router.put("/api/admin/projects/<project>/settings", needs=EDIT, takes=ProjectSettings)
def update_project_settings(
    conn: Connection, identity: Identity, project: str, body: ProjectSettings
) -> None:
    project_settings.update(conn, project, body, identity)
