"""The environments of a project, with the default strategy of new flags in each."""

from typing import Any

import msgspec

from sigservice.db import Connection, Row
from sigservice.errors import BadDataError, ConflictError, NotFoundError
from sigservice.repository.projects import environments, project_environments
from sigservice.services import revisions
from sigservice.services.flags import strategies
from sigservice.services.flags.strategies import Strategy
from sigservice.services.identity import Identity
from sigservice.services.projects import projects
from sigservice.services.system import events


def link(conn: Connection, project: str, environment: str, by: Identity) -> None:
    """Raises NotFoundError (project), BadDataError (environment), ConflictError if it is linked."""
    revisions.lock(conn)
    projects.get(conn, project)
    if environments.find(conn, environment) is None:
        raise BadDataError(f"Environment {environment} not found.", path="environment")
    if not project_environments.link(conn, project, [environment]):
        raise ConflictError(f"The project {project} already uses the environment {environment}.")
    events.record(conn, "project-environment-added", by, project=project, environment=environment)
    revisions.bump(conn, environment, flags=None)


def unlink(conn: Connection, project: str, environment: str, by: Identity) -> None:
    """Disables the project's flags there and keeps their strategies. Raises NotFoundError
    (project)."""
    revisions.lock(conn)
    projects.get(conn, project)
    if row := project_environments.unlink(conn, project, environment):
        place: dict[str, Any] = {"project": project, "environment": environment}
        events.record(conn, "project-environment-removed", by, **place)
        reason = f"the project no longer uses {environment}"
        switched = [
            place | {"feature_name": name, "data": {"name": name, "reason": reason}}
            for name in row["flags"]
        ]
        events.record_many(conn, "feature-environment-disabled", by, switched)
        revisions.bump(conn, environment, flags=None)


def find_default_strategy(
    conn: Connection, project: str, environment: str
) -> dict[str, Any] | None:
    """None if the project has none there. Raises NotFoundError (project, environment)."""
    projects.get(conn, project)
    for row in project_environments.list_by_project(conn, project):
        if row["environment"] == environment:
            text = row["default_strategy"]
            return msgspec.json.decode(text) if text else None
    raise NotFoundError(f"The project {project} doesn't use the environment {environment}.")


def set_default_strategy(
    conn: Connection,
    project: str,
    environment: str,
    new: Strategy,
    by: Identity,
    *,
    max_segments: int,
) -> dict[str, Any]:
    """Returns the strategy as it is stored; missing parameters get their defaults for each flag.

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
    before = find_default_strategy(conn, project, environment)
    text = msgspec.json.encode(strategy).decode()
    project_environments.update_default_strategy(conn, project, environment, text)
    events.record(
        conn,
        "default-strategy-updated",
        by,
        data=strategy,
        pre_data=before,
        project=project,
        environment=environment,
    )
    return strategy


def to_json(row: Row) -> dict[str, Any]:
    """An environment in the overview of the project."""
    strategy = row["default_strategy"]
    return {"environment": row["environment"]} | (
        {"defaultStrategy": msgspec.Raw(strategy.encode())} if strategy else {}
    )
