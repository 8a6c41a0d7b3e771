"""Reads and writes whether a flag is enabled in an environment, with its event."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sigservice.db import Connection, Row
from sigservice.errors import NotFoundError
from sigservice.repository.flags import feature_environments
from sigservice.services import revisions
from sigservice.services.flags import features
from sigservice.services.identity import Identity
from sigservice.services.system import events
from sigservice.services.system.events import Event


@dataclass(frozen=True)
class FeatureEnvironment:
    """A flag in an environment."""

    project: str
    feature: str
    environment: str

    @property
    def event_scope(self) -> dict[str, Any]:
        """The columns of events about it."""
        return {
            "project": self.project,
            "environment": self.environment,
            "feature_name": self.feature,
        }


class StateChange(NamedTuple):
    """A flag's change to the state `enabled`."""

    target: FeatureEnvironment
    enabled: bool
    by: Identity


def list_states(
    conn: Connection, targets: Sequence[FeatureEnvironment]
) -> dict[FeatureEnvironment, Row]:
    """{enabled, variants, default_strategy, is_active (has an active strategy), archived, began_at
    (created or revived), generation} of each target whose flag and environment are in the
    project."""
    rows = feature_environments.list_target_states(
        conn, list({(target.feature, target.environment) for target in targets})
    )
    states = {
        FeatureEnvironment(row["project"], row["feature"], row["environment"]): row
        | {"archived": row["archived_at"] is not None}
        for row in rows
    }
    return {target: states[target] for target in targets if target in states}


def get_state(conn: Connection, target: FeatureEnvironment) -> Row:
    """The state as `list_states` returns it. Raises NotFoundError for a flag or environment that
    isn't in the project."""
    state = list_states(conn, [target]).get(target)
    if state is None:
        features.get(conn, target.project, target.feature)
        raise NotFoundError(
            f"Environment {target.environment} not found in project {target.project}."
        )
    return state


def set_enabled(conn: Connection, target: FeatureEnvironment, enabled: bool, by: Identity) -> None:
    """Only a change has an event. Raises NotFoundError."""
    if get_state(conn, target)["enabled"] != enabled:
        write_changes(conn, [StateChange(target, enabled, by)])


def write_changes(conn: Connection, changes: Sequence[StateChange]) -> None:
    """Writes changes, each to the other state, in order, with one event for each. The last change
    of a flag decides its state."""
    if not changes:
        return
    states = {(c.target.feature, c.target.environment): c.enabled for c in changes}
    environments = {environment for _, environment in states}
    flags = {feature for feature, _ in states}
    bump = revisions.build_bump(*environments, flags=flags)
    feature_environments.set_states(conn, states, bump)
    events.record_all(conn, [_make_event(change) for change in changes])


def _make_event(change: StateChange) -> Event:
    target = change.target
    data = {"name": target.feature}
    type = f"feature-environment-{'enabled' if change.enabled else 'disabled'}"
    return Event(type, change.by, target.event_scope | {"data": data})
