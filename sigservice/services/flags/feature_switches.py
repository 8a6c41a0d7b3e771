"""Enables and disables flags, for pages, the API and actions alike."""

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
    """Returns whether the state changed.

    Enabling a flag without an active strategy adds the project's default strategy (100% of users)
    or, with `activate_disabled`, enables its disabled strategies. Raises NotFoundError,
    BadDataError for an archived flag, ExceedsLimitError for too many strategies.
    """
    state = _get_state_for_switch(conn, target)
    if state["enabled"] == enabled:  # a repeated request needs no lock
        return False
    if revisions.lock(conn) != state["generation"]:
        state = _get_state_for_switch(conn, target)
        if state["enabled"] == enabled:
            return False
    if enabled and not state["is_active"]:
        _add_or_enable_strategies(conn, target, [target.feature], by, activate_disabled)
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
    """Switches several flags of a project, or none of them when it raises; see `switch`."""
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
        raise NotFoundError(f"Environment {environment} not found in project {project}.")
    changed = [name for name, state in states.items() if state["enabled"] != enabled]
    if enabled:
        inactive = [name for name in changed if not states[name]["active_strategies"]]
        if inactive:
            target = FeatureEnvironment(project, inactive[0], environment)
            _add_or_enable_strategies(conn, target, inactive, by, activate_disabled)
    write_enabled(conn, project, changed, environment, enabled, by)


def _get_state_for_switch(conn: Connection, target: FeatureEnvironment) -> Row:
    state = get_state(conn, target)
    if state["archived"]:
        raise BadDataError(f"{target.feature} is archived. Revive it first.")
    return state


def _add_or_enable_strategies(
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
    inactive = {name: own for name, own in rows.items() if all(row["disabled"] for row in own)}
    if activate_disabled:
        _enable_strategies(conn, target, [row for own in inactive.values() for row in own], by)
        inactive = {name: [] for name, own in inactive.items() if not own}
    if inactive:
        new, default = Strategy("flexibleRollout"), get_state(conn, target)["default_strategy"]
        if default:
            new = msgspec.json.decode(default, type=Strategy)
        scope, count = (target.project, target.environment), len(new.segments)
        strategies.add_to_all(conn, *scope, inactive, new, by, max_segments=count)


def _enable_strategies(
    conn: Connection, target: FeatureEnvironment, rows: Sequence[Row], by: Identity
) -> None:
    feature_strategies.enable_all(conn, [row["id"] for row in rows])
    items = []
    for row in rows:
        before = strategies.to_json(row)
        items.append(
            {
                "project": target.project,
                "environment": target.environment,
                "feature_name": row["feature"],
                "data": before | {"disabled": False},
                "pre_data": before,
            }
        )
    events.record_many(conn, "feature-strategy-update", by, items)
