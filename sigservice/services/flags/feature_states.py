"""Whether a flag is on in an environment: reading it and writing it with its event."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sigservice.db.pool import Connection
from sigservice.db.statements import Row
from sigservice.errors import NotFoundError
from sigservice.repository.flags import feature_environments
from sigservice.services import revisions
from sigservice.services.flags import features
from sigservice.services.identity import Identity
from sigservice.services.system import events


@dataclass(frozen=True)
class FeatureEnvironment:
    """A flag in an environment."""

    project: str
    feature: str
    environment: str


def get_state(conn: Connection, target: FeatureEnvironment) -> Row:
    """{enabled, variants, default_strategy, is_active (has an active strategy), archived,
    generation}. Raises NotFoundError for a flag or environment that there is not, or that is not
    the project's."""
    state = feature_environments.find_state(conn, target.feature, target.environment)
    if state is None or state["project"] != target.project:
        features.get(conn, target.project, target.feature)
        raise NotFoundError(
            f"The project {target.project} has no environment {target.environment}."
        )
    return state | {"archived": state["archived_at"] is not None}


def set_enabled(conn: Connection, target: FeatureEnvironment, enabled: bool, by: Identity) -> bool:
    """Whether that changed anything; if not there is no event. Raises NotFoundError."""
    if get_state(conn, target)["enabled"] == enabled:
        return False
    write_enabled(conn, target.project, [target.feature], target.environment, enabled, by)
    return True


def write_enabled(
    conn: Connection,
    project: str,
    names: Sequence[str],
    environment: str,
    enabled: bool,
    by: Identity,
) -> None:
    """For flags of one project whose state is known to be the other one."""
    if not names:
        return
    feature_environments.set_states(
        conn, list(names), environment, enabled, topics=revisions.list_topics(environment)
    )
    items = [
        {
            "project": project,
            "environment": environment,
            "feature_name": name,
            "data": {"name": name},
        }
        for name in names
    ]
    type = f"feature-environment-{'enabled' if enabled else 'disabled'}"
    events.record_many(conn, type, by, items)
