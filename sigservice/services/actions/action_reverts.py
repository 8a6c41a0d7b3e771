"""Reverts the changes of runs, except flags that were changed again since.

A person undoes a run; the service reverts it after a time or when the alert is resolved.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec

from sigservice.db.errors import DatabaseUnavailable
from sigservice.db.pool import Connection
from sigservice.db.statements import Row, savepoint
from sigservice.errors import AppError
from sigservice.services import revisions
from sigservice.services.actions.action_kinds.kind import ActionResult, FlagChange
from sigservice.services.actions.action_kinds.set_rollout import set_rollout
from sigservice.services.flags import feature_switches
from sigservice.services.flags.feature_states import FeatureEnvironment, get_state
from sigservice.services.flags.strategies import get as get_strategy
from sigservice.services.identity import Identity


def list_changes(run: Row) -> list[FlagChange]:
    """The changes of the run's actions, in order."""
    actions = msgspec.json.decode(run["action_set"])["actions"]
    items: list[dict[str, Any]] = [c for action in actions for c in action.get("changes", [])]
    return [msgspec.convert(change, FlagChange) for change in items]


def revert_runs(conn: Connection, project: str, runs: list[Row], actor: Identity) -> ActionResult:
    """Reverts the last change first; `runs` are newest first. The details name the changes that
    can't be reverted."""
    revisions.lock(conn)
    reverted: list[FlagChange] = []
    failures: list[str] = []
    visited: set[tuple[str, ...]] = set()
    for change in (change for run in runs for change in reversed(list_changes(run))):
        place = FeatureEnvironment(project, change.feature, change.environment)
        key = (change.what, change.feature, change.environment, change.strategy)
        try:
            is_unchanged = _find_current(conn, place, change) == change.after
            if is_unchanged:
                with savepoint(conn):
                    _revert(conn, place, change, actor)
                reverted.append(replace(change, before=change.after, after=change.before))
        except DatabaseUnavailable:
            raise
        except AppError as error:  # fails this change, not the others
            failures.append(f"{place.feature}: {error.message}")
        else:
            if not is_unchanged and key not in visited:  # else a newer run has changed it
                failures.append(f"{place.feature} in {place.environment} was changed since.")
        visited.add(key)
    if not reverted and not failures:
        return ActionResult("There was nothing to revert.")
    text = f"Reverted {len(reverted)} of {len(reverted) + len(failures)} changes."
    return ActionResult(" ".join([text, *failures[:20]]), reverted)


def _find_current(conn: Connection, place: FeatureEnvironment, change: FlagChange) -> Any:
    if change.what == "state":
        return get_state(conn, place)["enabled"]
    return get_strategy(conn, place, change.strategy)["parameters"].get("rollout", "")


def _revert(
    conn: Connection, place: FeatureEnvironment, change: FlagChange, actor: Identity
) -> None:
    if change.what == "state":
        feature_switches.switch(conn, place, bool(change.before), actor)
    else:
        set_rollout(conn, place, change.strategy, str(change.before), actor)
