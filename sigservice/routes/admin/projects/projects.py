"""Admin API: projects, their status and their settings."""

from typing import Any

import msgspec

from sigservice.db.pool import Connection
from sigservice.db.statements import Row
from sigservice.repository.projects import favorites
from sigservice.repository.projects import project_environments as project_environment_rows
from sigservice.repository.projects import projects as project_rows
from sigservice.services.identity import ADMIN, EDIT, VIEW, Identity
from sigservice.services.projects import project_environments, project_settings, projects
from sigservice.services.projects.project_settings import ProjectSettings
from sigservice.services.projects.projects import NewProject, ProjectChanges
from sigservice.web import AdminGuard, Context, Json, Router, respond

PATH = "/api/admin/projects"
STATISTICS = {
    "avgTimeToProdCurrentWindow": 0,
    "createdCurrentWindow": 0,
    "createdPastWindow": 0,
    "archivedCurrentWindow": 0,
    "archivedPastWindow": 0,
    "projectActivityCurrentWindow": 0,
    "projectActivityPastWindow": 0,
    "projectMembersAddedCurrentWindow": 0,
}


class ProjectIdBody(msgspec.Struct):
    id: str


router = Router(AdminGuard)


def _to_full_json(conn: Connection, row: Row, identity: Identity) -> dict[str, Any]:
    rows = project_environment_rows.list_by_project(conn, row["id"])
    environments = [project_environments.to_json(link) for link in rows]
    favorite_ids = favorites.list_projects(conn, identity.user_id)
    project = projects.to_json(row, is_favorite=row["id"] in favorite_ids)
    return {"version": 1, **project, **project_settings.to_json(row), "environments": environments}


@router.get(PATH, needs=VIEW)
def list_projects(conn: Connection, identity: Identity) -> Json:
    rows = project_rows.list_all(conn)
    favorite_ids = favorites.list_projects(conn, identity.user_id)
    items = [projects.to_json(row, is_favorite=row["id"] in favorite_ids) for row in rows]
    return {"version": 1, "projects": items}


@router.post(PATH, needs=ADMIN, takes=NewProject)
def create_project(conn: Connection, identity: Identity, body: NewProject) -> Json:
    row = projects.create(conn, body, identity)
    project_json = _to_full_json(conn, row, identity)
    return respond.Created(project_json, f"{PATH}/{row['id']}")


@router.post(f"{PATH}/validate", needs=VIEW, takes=ProjectIdBody, autocommit=True)
def validate_project_id(conn: Connection, identity: Identity, body: ProjectIdBody) -> None:
    projects.KIND.check_key_available(conn, body.id)


@router.get(f"{PATH}/<project>", needs=VIEW)
def get_project(conn: Connection, identity: Identity, project: str) -> Json:
    return _to_full_json(conn, projects.get(conn, project), identity)


@router.get(f"{PATH}/<project>/overview", needs=VIEW)
def get_project_overview(conn: Connection, identity: Identity, project: str) -> Json:
    row = projects.get(conn, project)
    project_json = _to_full_json(conn, row, identity)
    types = project_rows.count_feature_types(conn, project)
    overview = {
        "members": row["member_count"],
        "featureTypeCounts": types,
        "stats": STATISTICS,
        "featureLimit": None,
        "onboardingStatus": {"status": "onboarded"},
    }
    return project_json | overview


@router.put(f"{PATH}/<project>", needs=EDIT, takes=ProjectChanges)
def update_project(
    conn: Connection, identity: Identity, project: str, body: ProjectChanges
) -> Json:
    row = projects.update(conn, project, body, identity)
    return _to_full_json(conn, row, identity)


@router.delete(f"{PATH}/<project>", needs=ADMIN)
def delete_project(conn: Connection, identity: Identity, project: str) -> None:
    projects.delete(conn, project, identity)


@router.get("/api/admin/projects/<project>/status", needs=VIEW)
def get_project_status(context: Context, identity: Identity, project: str) -> Json:
    with context.database.transaction(bulkhead="search") as conn:
        return projects.build_status(conn, project)


@router.put("/api/admin/projects/<project>/settings", needs=EDIT, takes=ProjectSettings)
def update_project_settings(
    conn: Connection, identity: Identity, project: str, body: ProjectSettings
) -> None:
    project_settings.update(conn, project, body, identity)
