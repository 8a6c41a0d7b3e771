"""Admin API: projects with their status, settings and environments, and the caller's favorites.
Admin tokens share theirs."""

from typing import Any

import msgspec

from sigservice.repository.projects import favorites as favorite_rows
from sigservice.repository.projects import project_environments as project_environment_rows
from sigservice.repository.projects import projects as project_rows
from sigservice.services.flags.strategies import Strategy
from sigservice.services.identity import ADMIN, EDIT, VIEW, Identity
from sigservice.services.projects import favorites, project_environments, project_settings, projects
from sigservice.services.projects.project_settings import ProjectSettings
from sigservice.services.projects.projects import NewProject, ProjectChanges
from sigservice.web import AdminGuard, Connection, Context, Json, Router, Row, respond

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
ENVIRONMENTS = f"{PATH}/<project>/environments"
PROJECT_FAVORITES = f"{PATH}/<project>/favorites"
FLAG_FAVORITES = f"{PATH}/<project>/features/<name>/favorites"


class ProjectIdBody(msgspec.Struct):
    id: str


class ProjectEnvironmentBody(msgspec.Struct):
    environment: str


router = Router(AdminGuard)


def _to_full_json(conn: Connection, row: Row, identity: Identity) -> dict[str, Any]:
    rows = project_environment_rows.list_by_project(conn, row["id"])
    environments = [project_environments.to_json(link) for link in rows]
    favorite_ids = favorite_rows.list_projects(conn, identity.user_id)
    project = projects.to_json(row, is_favorite=row["id"] in favorite_ids)
    return {"version": 1, **project, **project_settings.to_json(row), "environments": environments}


@router.get(PATH, needs=VIEW)
def list_projects(conn: Connection, identity: Identity) -> Json:
    """`{"version": 1, "projects": [project]}` by name."""
    rows = project_rows.list_all(conn)
    favorite_ids = favorite_rows.list_projects(conn, identity.user_id)
    items = [projects.to_json(row, is_favorite=row["id"] in favorite_ids) for row in rows]
    return {"version": 1, "projects": items}


@router.post(PATH, needs=ADMIN, takes=NewProject)
def create_project(conn: Connection, identity: Identity, body: NewProject) -> Json:
    """Body: `{name, id?, description?, mode?, defaultStickiness?, environments?}`. 201 project with
    its environments; 500 at most."""
    row = projects.create(conn, body, identity)
    project_json = _to_full_json(conn, row, identity)
    return respond.Created(project_json, f"{PATH}/{row['id']}")


@router.post(f"{PATH}/validate", needs=VIEW, takes=ProjectIdBody, autocommit=True)
def validate_project_id(conn: Connection, identity: Identity, body: ProjectIdBody) -> None:
    """Body: `{id}`. 200; 400 for an invalid ID, 409 if it exists."""
    projects.KIND.check_key_available(conn, body.id)


@router.get(f"{PATH}/<project>", needs=VIEW)
def get_project(conn: Connection, identity: Identity, project: str) -> Json:
    """Project with its environments."""
    return _to_full_json(conn, projects.get(conn, project), identity)


@router.get(f"{PATH}/<project>/overview", needs=VIEW)
def get_project_overview(conn: Connection, identity: Identity, project: str) -> Json:
    """Project with `members`, `featureTypeCounts` and `stats` (zeros so far)."""
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
    """Body: `{name, description?, mode?, defaultStickiness?}`. Absent fields stay unchanged."""
    row = projects.update(conn, project, body, identity)
    return _to_full_json(conn, row, identity)


@router.delete(f"{PATH}/<project>", needs=ADMIN)
def delete_project(conn: Connection, identity: Identity, project: str) -> None:
    """Deletes its archived flags and its action sets too; 403 for `default`; 409 if it has other
    flags or segments."""
    projects.delete(conn, project, identity)


@router.get("/api/admin/projects/<project>/status", needs=VIEW)
def get_project_status(context: Context, identity: Identity, project: str) -> Json:
    """`{resources: {members, apiTokens, segments}, activityCountByDate: [{date, count}], health,
    technicalDebt, staleFlags, lifecycleSummary}`; events by day for a year."""
    with context.database.transaction(is_slow=True) as conn:
        return projects.build_status(conn, project)


@router.put("/api/admin/projects/<project>/settings", needs=EDIT, takes=ProjectSettings)
def update_project_settings(
    conn: Connection, identity: Identity, project: str, body: ProjectSettings
) -> None:
    """Body: `{mode?, featureNaming?: {pattern, example?, description?}, linkTemplates?:
    [{urlTemplate, title?}]}`. Absent `linkTemplates` become `[]`, other absent fields stay
    unchanged."""
    project_settings.update(conn, project, body, identity)


@router.post(ENVIRONMENTS, needs=EDIT, takes=ProjectEnvironmentBody)
def add_environment_to_project(
    conn: Connection, identity: Identity, project: str, body: ProjectEnvironmentBody
) -> None:
    """Body: `{environment}`. 409 if the project has it."""
    project_environments.link(conn, project, body.environment, identity)


@router.delete(f"{ENVIRONMENTS}/<environment>", needs=EDIT)
def remove_environment_from_project(
    conn: Connection, identity: Identity, project: str, environment: str
) -> None:
    """Disables the project's flags there, keeps their strategies."""
    project_environments.unlink(conn, project, environment, identity)


@router.post(f"{ENVIRONMENTS}/<environment>/default-strategy", needs=EDIT, takes=Strategy)
def set_default_strategy(
    context: Context, identity: Identity, project: str, environment: str, body: Strategy
) -> Json:
    """Body: `{name, title?, disabled?, constraints?, parameters?, variants?, segments?}`. The
    strategy."""
    with context.database.transaction() as conn:
        strategy = project_environments.set_default_strategy(
            conn,
            project,
            environment,
            body,
            identity,
            max_segments=context.config["strategySegmentsLimit"],
        )
    return strategy


@router.post(FLAG_FAVORITES, needs=VIEW)
def add_favorite_feature(conn: Connection, identity: Identity, project: str, name: str) -> None:
    """`favorite` of the flag is true for this user."""
    favorites.add_feature(conn, project, name, identity)


@router.delete(FLAG_FAVORITES, needs=VIEW)
def remove_favorite_feature(conn: Connection, identity: Identity, project: str, name: str) -> None:
    """`favorite` of the flag is false again."""
    favorites.remove_feature(conn, project, name, identity)


@router.post(PROJECT_FAVORITES, needs=VIEW)
def add_favorite_project(conn: Connection, identity: Identity, project: str) -> None:
    """`favorite` of the project is true for this user."""
    favorites.add_project(conn, project, identity)


@router.delete(PROJECT_FAVORITES, needs=VIEW)
def remove_favorite_project(conn: Connection, identity: Identity, project: str) -> None:
    """`favorite` of the project is false again."""
    favorites.remove_project(conn, project, identity)
