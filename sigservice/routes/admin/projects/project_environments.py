"""Admin API: environments of a project and their default strategies."""

import msgspec

from sigservice.db.pool import Connection
from sigservice.services.flags.strategies import Strategy
from sigservice.services.identity import EDIT, Identity
from sigservice.services.projects import project_environments
from sigservice.web import AdminGuard, Context, Json, Router

PATH = "/api/admin/projects/<project>/environments"


class ProjectEnvironmentBody(msgspec.Struct):
    environment: str


router = Router(AdminGuard)


@router.post(PATH, needs=EDIT, takes=ProjectEnvironmentBody)
def add_environment_to_project(
    conn: Connection, identity: Identity, project: str, body: ProjectEnvironmentBody
) -> None:
    project_environments.link(conn, project, body.environment, identity)


@router.delete(f"{PATH}/<environment>", needs=EDIT)
def remove_environment_from_project(
    conn: Connection, identity: Identity, project: str, environment: str
) -> None:
    project_environments.unlink(conn, project, environment, identity)


@router.post(f"{PATH}/<environment>/default-strategy", needs=EDIT, takes=Strategy)
def set_default_strategy(
    context: Context, identity: Identity, project: str, environment: str, body: Strategy
) -> Json:
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
