"""Which project uses which environment, and what a flag gets there when it has no strategy."""

from __future__ import annotations

from typing import Any

import msgspec

from sigservice.db.pool import Connection
from sigservice.db.statements import Row
from sigservice.errors import BadDataError, ConflictError, NotFoundError
from sigservice.repository.projects import environments, project_environments
from sigservice.services import revisions
from sigservice.services.flags import strategies
from sigservice.services.flags.strategies import Strategy
from sigservice.services.identity import Identity
from sigservice.services.projects import projects
from sigservice.services.system import events


def link(conn: Connection, project: str, environment: str, by: Identity) -> None:
    """Raises NotFoundError (project), BadDataError (environment), ConflictError when linked."""
    revisions.lock(conn)
    projects.get(conn, project)
    if not environments.list_all(conn, environment):
        raise BadDataError(f"There is no environment {environment}.", path="environment")
    if not project_environments.link(conn, project, [environment]):
        raise ConflictError(f"The project {project} uses the environment {environment} already.")
    events.record(conn, "project-environment-added", by, project=project, environment=environment)
    revisions.bump(conn, environment)


def unlink(conn: Connection, project: str, environment: str, by: Identity) -> None:
    """The project's flags are off there; their strategies stay. Raises NotFoundError (project)."""
    revisions.lock(conn)
    projects.get(conn, project)
    if project_environments.unlink(conn, project, environment):
        events.record(
            conn, "project-environment-removed", by, project=project, environment=environment
        )
        revisions.bump(conn, environment)


def set_default_strategy(
    conn: Connection,
    project: str,
    environment: str,
    new: Strategy,
    by: Identity,
    *,
    max_segments: int,
) -> dict[str, Any]:
    """The strategy as it is stored; what it leaves open is filled in for each flag.

    Raises NotFoundError, BadDataError.
    """
    revisions.lock(conn)
    projects.get(conn, project)
    checked = strategies.validate(conn, new, "", project=project, max_segments=max_segments)
    strategy = checked | {
        "parameters": {
            name: checked["parameters"][name]
            for name in new.parameters
            if name in checked["parameters"]
        }
    }
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
    return strategy


def to_json(row: Row) -> dict[str, Any]:
    """A link as the project's overview has it."""
    strategy = row["default_strategy"]
    return {"environment": row["environment"]} | (
        {"defaultStrategy": msgspec.Raw(strategy.encode())} if strategy else {}
    )
