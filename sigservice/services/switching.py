"""Switching flags on and off: the one place for people, tools and actions."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from sigservice.db.pool import Connection
from sigservice.errors import BadDataError, NotFoundError
from sigservice.repository import feature_environments, feature_strategies
from sigservice.services import events, features, revisions, strategies
from sigservice.services.feature_states import Place, get_state, set_enabled, write_enabled
from sigservice.services.identity import Identity
from sigservice.services.strategies import Strategy


def switch(
    conn: Connection,
    place: Place,
    enabled: bool,
    by: Identity,
    *,
    activate_disabled: bool = False,
) -> bool:
    """Whether the state changed.

    A flag that goes on without an active strategy gets the project's default one (a rollout to
    everybody), or its disabled ones back with `activate_disabled`. Raises NotFoundError,
    BadDataError for an archived flag, ExceedsLimitError when there is no room for a strategy.
    """
    revisions.lock(conn)
    state = get_state(conn, place)
    if state["archived"]:
        raise BadDataError(f"{place.feature} is archived; revive it first.")
    if enabled and not state["enabled"]:
        _make_active(conn, place, state["default_strategy"], by, activate_disabled)
    return set_enabled(conn, place, enabled, by)


def switch_all(
    conn: Connection,
    project: str,
    environment: str,
    names: Sequence[str],
    enabled: bool,
    by: Identity,
    *,
    activate_disabled: bool = False,
) -> None:
    """Switches several flags of a project. Raises as `switch` does, and then nothing changes."""
    revisions.lock(conn)
    rows = features.get_all(conn, project, names)
    archived = [row["name"] for row in rows if row["archived_at"]]
    if archived:
        raise BadDataError(f"{', '.join(archived[:10])} must be revived first.")
    states = {
        state["feature"]: state
        for state in feature_environments.list_states(conn, [row["name"] for row in rows])
        if state["environment"] == environment
    }
    if rows and not states:
        raise NotFoundError(f"The project {project} has no environment {environment}.")
    changed = [name for name, state in states.items() if state["enabled"] != enabled]
    if enabled:
        for name in changed:
            if not states[name]["active_strategies"]:
                place = Place(project, name, environment)
                default = get_state(conn, place)["default_strategy"]
                _make_active(conn, place, default, by, activate_disabled)
    write_enabled(conn, project, changed, environment, enabled, by)


def _make_active(
    conn: Connection, place: Place, default: str | None, by: Identity, activate_disabled: bool
) -> None:
    rows = feature_strategies.list_of_features(conn, [place.feature], place.environment)
    if any(not row["disabled"] for row in rows):
        return
    if rows and activate_disabled:
        feature_strategies.enable_all(conn, place.feature, place.environment)
        for row in rows:
            before = strategies.to_json(row)
            events.record(
                conn,
                "feature-strategy-update",
                by,
                data=before | {"disabled": False},
                pre_data=before,
                project=place.project,
                environment=place.environment,
                feature_name=place.feature,
            )
        return
    new = Strategy("flexibleRollout")
    if default:
        new = msgspec.json.decode(default, type=Strategy)
    strategies.add(conn, place, new, by, most_segments=len(new.segments))
