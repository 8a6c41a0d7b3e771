"""Which project uses which environment, and what a flag gets there when it has no strategy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from sigservice.db.pool import Connection
from sigservice.db.run import Row
from sigservice.errors import ConflictError, NotFoundError
from sigservice.repository import environments, project_environments, strategy_types
from sigservice.services import checks, events, projects, revisions
from sigservice.services.identity import Identity


def link(conn: Connection, project: str, environment: str, by: Identity) -> None:
    """Raises NotFoundError (project), BadDataError (environment), ConflictError when linked."""
    revisions.lock(conn)
    projects.get(conn, project)
    if not environments.list_all(conn, environment):
        checks.refuse(checks.problem("environment", f"There is no environment {environment}."))
    if not project_environments.link(conn, project, [environment]):
        raise ConflictError(f"The project {project} uses the environment {environment} already.")
    events.record(conn, "project-environment-added", by, project=project, environment=environment)
    revisions.touch(conn, environment)


def unlink(conn: Connection, project: str, environment: str, by: Identity) -> None:
    """The project's flags are off there; their strategies stay. Raises NotFoundError (project)."""
    revisions.lock(conn)
    projects.get(conn, project)
    if project_environments.unlink(conn, project, environment):
        events.record(
            conn, "project-environment-removed", by, project=project, environment=environment
        )
        revisions.touch(conn, environment)


def set_default_strategy(
    conn: Connection, project: str, environment: str, strategy: Mapping[str, Any], by: Identity
) -> None:
    """Raises NotFoundError, BadDataError."""
    revisions.lock(conn)
    projects.get(conn, project)
    if not strategy_types.list_all(conn, strategy["name"]):
        checks.refuse(checks.problem("name", f"There is no strategy {strategy['name']}."))
    before = {
        row["environment"]: row["default_strategy"]
        for row in project_environments.list_of_project(conn, project)
    }
    if environment not in before:
        raise NotFoundError(f"The project {project} does not use the environment {environment}.")
    text = msgspec.json.encode(strategy).decode()
    project_environments.update_default_strategy(conn, project, environment, text)
    old = before[environment]
    events.record(
        conn,
        "default-strategy-updated",
        by,
        data=strategy,
        pre_data=msgspec.json.decode(old) if old else None,
        project=project,
        environment=environment,
    )


def to_json(row: Row) -> dict[str, Any]:
    """A link as the project's overview has it."""
    strategy = row["default_strategy"]
    return {"environment": row["environment"]} | (
        {"defaultStrategy": msgspec.Raw(strategy.encode())} if strategy else {}
    )
