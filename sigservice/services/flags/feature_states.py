"""Reads and writes whether a flag is enabled in an environment, with its event."""

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
    generation}. Raises NotFoundError for a flag or environment that isn't in the project."""
    state = feature_environments.find_state(conn, target.feature, target.environment)
    if state is None or state["project"] != target.project:
        features.get(conn, target.project, target.feature)
        raise NotFoundError(
            f"Environment {target.environment} not found in project {target.project}."
        )
    return state | {"archived": state["archived_at"] is not None}


def set_enabled(conn: Connection, target: FeatureEnvironment, enabled: bool, by: Identity) -> bool:
    """Returns whether the state changed; only a change has an event. Raises NotFoundError."""
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
    """Changes flags of one project that are known to be in the other state."""
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
