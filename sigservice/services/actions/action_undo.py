"""Undoing runs: what they changed goes back to what it was, unless somebody changed it since."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec

from sigservice.db.errors import DatabaseUnavailable
from sigservice.db.pool import Connection
from sigservice.db.statements import Row, savepoint
from sigservice.errors import AppError
from sigservice.services import revisions
from sigservice.services.actions.action_kinds.kind import Change, Outcome
from sigservice.services.actions.action_kinds.set_rollout import set_rollout
from sigservice.services.flags import feature_switches
from sigservice.services.flags.feature_states import FeatureEnvironment, get_state
from sigservice.services.flags.strategies import get as get_strategy
from sigservice.services.identity import Identity


def changes_of(run: Row) -> list[Change]:
    """What the run's actions changed, in their order."""
    actions = msgspec.json.decode(run["action_set"])["actions"]
    stored: list[dict[str, Any]] = [c for action in actions for c in action.get("changes", [])]
    return [msgspec.convert(change, Change) for change in stored]


def restore(conn: Connection, project: str, runs: list[Row], actor: Identity) -> Outcome:
    """Last change first; `runs` are newest first. What can't be put back stays as it is, and the
    details say so."""
    revisions.lock(conn)
    undone: list[Change] = []
    kept: list[str] = []
    seen: set[tuple[str, ...]] = set()
    for change in (change for run in runs for change in reversed(changes_of(run))):
        place = FeatureEnvironment(project, change.feature, change.environment)
        what = (change.what, change.feature, change.environment, change.strategy)
        try:
            is_as_left = _current(conn, place, change) == change.after
            if is_as_left:
                with savepoint(conn):
                    _put_back(conn, place, change, actor)
                undone.append(replace(change, before=change.after, after=change.before))
        except DatabaseUnavailable:
            raise
        except AppError as error:  # costs this change, not the others
            kept.append(f"{place.feature}: {error.message}")
        else:
            if not is_as_left and what not in seen:  # else a newer run has had its say
                kept.append(f"{place.feature} in {place.environment} was changed since.")
        seen.add(what)
    if not undone and not kept:
        return Outcome("There was nothing to restore.")
    text = f"Restored {len(undone)} of {len(undone) + len(kept)} changes."
    return Outcome(" ".join([text, *kept[:20]]), undone)


def _current(conn: Connection, place: FeatureEnvironment, change: Change) -> Any:
    if change.what == "state":
        return get_state(conn, place)["enabled"]
    return get_strategy(conn, place, change.strategy)["parameters"].get("rollout", "")


def _put_back(conn: Connection, place: FeatureEnvironment, change: Change, actor: Identity) -> None:
    if change.what == "state":
        feature_switches.switch(conn, place, bool(change.before), actor)
    else:
        set_rollout(conn, place, change.strategy, str(change.before), actor)
