"""Switching flags on and off: the one target for people, tools and actions."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from sigservice.db.pool import Connection
from sigservice.db.statements import Row
from sigservice.errors import BadDataError, NotFoundError
from sigservice.repository.flags import feature_environments, feature_strategies
from sigservice.services import revisions
from sigservice.services.flags import features, strategies
from sigservice.services.flags.feature_states import FeatureEnvironment, get_state, write_enabled
from sigservice.services.flags.strategies import Strategy
from sigservice.services.identity import Identity
from sigservice.services.system import events


def switch(
    conn: Connection,
    target: FeatureEnvironment,
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
    state = _switchable(conn, target)
    if state["enabled"] == enabled:  # without the lock, which most who repeat themselves need not
        return False
    if revisions.lock(conn) != state["generation"]:
        state = _switchable(conn, target)
        if state["enabled"] == enabled:
            return False
    if enabled and not state["is_active"]:
        _make_active(conn, target, [target.feature], by, activate_disabled)
    write_enabled(conn, target.project, [target.feature], target.environment, enabled, by)
    return True


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
        inactive = [name for name in changed if not states[name]["active_strategies"]]
        if inactive:
            where = FeatureEnvironment(project, inactive[0], environment)
            _make_active(conn, where, inactive, by, activate_disabled)
    write_enabled(conn, project, changed, environment, enabled, by)


def _switchable(conn: Connection, target: FeatureEnvironment) -> Row:
    state = get_state(conn, target)
    if state["archived"]:
        raise BadDataError(f"{target.feature} is archived; revive it first.")
    return state


def _make_active(
    conn: Connection,
    target: FeatureEnvironment,
    names: Sequence[str],
    by: Identity,
    activate_disabled: bool,
) -> None:
    """`target` is one of `names`; all are flags of its project, in its environment."""
    rows: dict[str, list[Row]] = {name: [] for name in names}
    for row in feature_strategies.list_by_features(conn, list(names), target.environment):
        rows[row["feature"]].append(row)
    inactive = {
        name: found for name, found in rows.items() if all(row["disabled"] for row in found)
    }
    if activate_disabled:
        _enable_strategies(conn, target, [row for found in inactive.values() for row in found], by)
        inactive = {name: [] for name, found in inactive.items() if not found}
    if inactive:
        new, default = Strategy("flexibleRollout"), get_state(conn, target)["default_strategy"]
        if default:
            new = msgspec.json.decode(default, type=Strategy)
        most = len(new.segments)
        strategies.add_to_all(
            conn, target.project, target.environment, inactive, new, by, most_segments=most
        )


def _enable_strategies(
    conn: Connection, target: FeatureEnvironment, rows: Sequence[Row], by: Identity
) -> None:
    feature_strategies.enable_all(conn, [row["id"] for row in rows])
    recorded = []
    for row in rows:
        before = strategies.to_json(row)
        recorded.append(
            {
                "project": target.project,
                "environment": target.environment,
                "feature_name": row["feature"],
                "data": before | {"disabled": False},
                "pre_data": before,
            }
        )
    events.record_many(conn, "feature-strategy-update", by, recorded)
