"""Enables and disables flags, for pages, the API and actions alike."""

from collections.abc import Sequence
from typing import Any

import msgspec

from sigservice.db import Connection, Row
from sigservice.errors import BadDataError, ConflictError, NotFoundError
from sigservice.repository.flags import feature_strategies
from sigservice.services import revisions
from sigservice.services.flags import features, strategies
from sigservice.services.flags.feature_states import (
    FeatureEnvironment,
    StateChange,
    get_state,
    list_states,
    write_changes,
)
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
    """`SwitchBatch.switch` for one flag."""
    batch = SwitchBatch(conn, activate_disabled=activate_disabled)
    is_changed = batch.switch(target, enabled, by)
    batch.write()
    return is_changed


def switch_all(
    conn: Connection,
    project: str,
    environment: str,
    names: Sequence[str],
    enabled: bool,
    by: Identity,
) -> None:
    """`SwitchBatch.switch_all` for one request."""
    batch = SwitchBatch(conn)
    batch.switch_all(project, environment, names, enabled, by)
    batch.write()


class SwitchBatch:
    """Switches flags in memory, in order, and writes the changes together.

    The transaction must call `write` before other code reads or changes the states of flags, and
    then continue with a new batch. Enabling a flag without an active strategy adds the project's
    default strategy (100% of users) or, with `activate_disabled`, enables its disabled strategies.
    With `needs_strategy` it raises ConflictError instead. `added` are the added strategies by flag.
    """

    def __init__(
        self,
        conn: Connection,
        targets: Sequence[FeatureEnvironment] = (),
        *,
        activate_disabled: bool = False,
        needs_strategy: bool = False,
    ) -> None:
        """Reads the states of `targets` in one statement; the others are read when needed."""
        self.conn = conn
        self._activate_disabled = activate_disabled
        self._needs_strategy = needs_strategy
        self._states = list_states(conn, targets) if targets else {}
        self.added: dict[FeatureEnvironment, dict[str, Any]] = {}
        self._changes: list[StateChange] = []
        self._is_locked = False

    def switch(self, target: FeatureEnvironment, enabled: bool, by: Identity) -> bool:
        """Returns whether the state changed. Raises NotFoundError, BadDataError for an archived
        flag, ExceedsLimitError for too many strategies."""
        if self._get_state(target)["enabled"] == enabled:  # a repeated request needs no lock
            return False
        if not self._is_locked:
            self.lock()
            if self._get_state(target)["enabled"] == enabled:
                return False
        self._change([target], enabled, by)
        return True

    def switch_all(
        self, project: str, environment: str, names: Sequence[str], enabled: bool, by: Identity
    ) -> set[str]:
        """Switches several flags of a project, or none of them if it raises what `switch` raises.
        Returns the names of the flags whose state changed."""
        self.lock()
        targets = [FeatureEnvironment(project, name, environment) for name in sorted(set(names))]
        self.read(targets)
        missing = [target for target in targets if target not in self._states]
        if missing:
            features.get_all(self.conn, project, [target.feature for target in missing])
            raise NotFoundError(f"Environment {environment} not found in project {project}.")
        archived = [target.feature for target in targets if self._states[target]["archived"]]
        if archived:
            raise BadDataError(f"{', '.join(archived[:10])} must be revived first.")
        changed = [target for target in targets if self._states[target]["enabled"] != enabled]
        if changed:
            self._change(changed, enabled, by)
        return {target.feature for target in changed}

    def find_state(self, target: FeatureEnvironment) -> Row | None:
        """The state of a target that was read."""
        return self._states.get(target)

    def lock(self) -> None:
        """Takes the lock of changes, once, and rereads the states that changed before."""
        if self._is_locked:
            return
        generation = revisions.lock(self.conn)
        stale = [key for key, state in self._states.items() if state["generation"] != generation]
        for target in stale:
            del self._states[target]
        self.read(stale)
        self._is_locked = True

    def write(self) -> None:
        """Writes the changes and their events."""
        changes, self._changes = self._changes, []
        write_changes(self.conn, changes)

    def _get_state(self, target: FeatureEnvironment) -> Row:
        if target not in self._states:
            self._states[target] = get_state(self.conn, target)
        state = self._states[target]
        if state["archived"]:
            raise BadDataError(f"{target.feature} is archived. Revive it first.")
        return state

    def read(self, targets: Sequence[FeatureEnvironment]) -> None:
        unread = [target for target in targets if target not in self._states]
        if unread:
            self._states |= list_states(self.conn, unread)

    def _change(self, targets: Sequence[FeatureEnvironment], enabled: bool, by: Identity) -> None:
        """Changes flags of one project and environment that are in the other state."""
        inactive = [target for target in targets if not self._states[target]["is_active"]]
        if enabled and inactive:
            if self._needs_strategy:
                raise ConflictError("It no longer has an active strategy.")
            self.write()
            names = [target.feature for target in inactive]
            added = _add_or_enable_strategies(
                self.conn, inactive[0], names, by, self._activate_disabled
            )
            for target in inactive:
                self.added.pop(target, None)
                if target.feature in added:
                    self.added[target] = added[target.feature]
                del self._states[target]
            self.read(inactive)
        for target in targets:
            self._states[target]["enabled"] = enabled
            self._changes.append(StateChange(target, enabled, by))


def _add_or_enable_strategies(
    conn: Connection,
    target: FeatureEnvironment,
    names: Sequence[str],
    by: Identity,
    activate_disabled: bool,
) -> dict[str, dict[str, Any]]:
    """`target` is one of `names`; all are flags of its project, in its environment. Returns the
    strategies that it added, by flag."""
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
            new.disabled = None  # a flag with disabled strategies only is enabled for everyone
        scope, count = (target.project, target.environment), len(new.segments)
        bodies = strategies.add_to_all(conn, *scope, inactive, new, by, max_segments=count)
        return dict(zip(inactive, bodies, strict=True))
    return {}


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
