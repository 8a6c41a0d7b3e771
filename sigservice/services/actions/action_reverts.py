"""Reverts the changes of runs, except flags that were changed again since.

A person undoes a run; the service reverts it after a time or when the alert is resolved.
"""

from datetime import datetime
from typing import Any

import msgspec

from sigservice.db import Connection, Row, savepoint
from sigservice.db.errors import DatabaseUnavailable
from sigservice.errors import AppError, ConflictError, NotFoundError
from sigservice.repository.actions import action_runs, alerts
from sigservice.services.actions import shared_holds
from sigservice.services.actions.action_kinds.kind import ActionResult, RevertibleChange
from sigservice.services.flags.feature_states import FeatureEnvironment
from sigservice.services.flags.feature_switches import SwitchBatch
from sigservice.services.flags.strategies import get as get_strategy
from sigservice.services.flags.strategies import list_strategies, set_parameters
from sigservice.services.flags.strategies import remove as remove_strategy
from sigservice.services.identity import Identity
from sigservice.wording import plural

REVERT = "REVERT"  # the action of an undo or auto-revert


def add_states(action_set: dict[str, Any], cause: str) -> dict[str, Any]:
    """The copy of a set in which a run stores the state of each action. An auto-revert or undo has
    one action of its own."""
    actions = action_set["actions"] if cause == "signal" else [{"action": REVERT, "sortOrder": 1}]
    initial: dict[str, Any] = {"state": "not started", "details": None, "changes": []}
    return action_set | {"actions": [action | initial for action in actions]}


def list_changes(run: Row) -> list[RevertibleChange]:
    """The changes of the run's actions, in order."""
    actions = msgspec.json.decode(run["action_set"])["actions"]
    items: list[dict[str, Any]] = [c for action in actions for c in action.get("changes", [])]
    return [msgspec.convert(change, RevertibleChange) for change in items]


def revert_targets(conn: Connection, run: Row, by: Identity) -> ActionResult:
    """Performs the run of an undo or auto-revert: it reverts one run or, for a resolved alert, all
    that the set holds. Raises NotFoundError."""
    holders: list[Row] = []
    switches = SwitchBatch(conn, needs_strategy=True)
    switches.lock()
    if run["cause"] == "resolved":
        rows = alerts.take_holds(conn, run["action_set_id"], by=run["id"])
        dated = [
            (row["held_at"], msgspec.json.decode(row["change"], type=RevertibleChange))
            for row in rows
        ]
        holders = msgspec.json.decode(rows[0]["holders"] or "[]") if rows else []
    else:
        target = action_runs.find(conn, run["action_set_id"], run["reverts_run_id"])
        if target is None:
            raise NotFoundError("The run to revert was deleted.")
        if target["reverted_by_run_id"]:  # by an undo or auto-revert that was inserted earlier
            return ActionResult("It was already reverted.")
        action_runs.mark_reverted(conn, target["id"], by=run["id"])
        changes = list_changes(target)
        dated = [(target["created_at"], change) for change in reversed(changes)]
        holders = [] if run["cause"] == "undo" else shared_holds.list_holders(conn, changes)
    return _revert_changes(switches, run, dated, by, holders)


def _revert_changes(
    switches: SwitchBatch,
    run: Row,
    dated: list[tuple[datetime, RevertibleChange]],
    by: Identity,
    holders: list[Row],
) -> ActionResult:
    """Reverts `dated`, the times and changes of runs, newest first. The details name those that
    can't be reverted, also those that alerts of other sets or people keep (`holders`). States are
    written together, as actions write them. A flag whose strategies were removed since stays
    disabled, because enabling it would add one for all users, and so does one that was revived or
    deleted and created again since."""
    project = run["project"]
    switches.read([_make_target(project, change) for _, change in dated])
    reverted: list[RevertibleChange] = []
    failures: list[str] = []
    visited: set[tuple[str, ...]] = set()
    for changed_at, change in dated:
        key = (change.changed_property, change.feature, change.environment, change.strategy)
        if text := shared_holds.find_obstacle(holders, change, run["action_set_id"]):
            failures.append(text)
            continue
        try:
            target = _make_target(project, change)
            state = switches.find_state(target)
            is_newer = state is not None and state["began_at"] > changed_at
            if is_newer and change.changed_property == "state":
                raise ConflictError("It was created again or revived since.")
            if is_unchanged := _revert(switches, target, change, by):
                reverted.append(
                    msgspec.structs.replace(change, before=change.after, after=change.before)
                )
        except DatabaseUnavailable:
            raise
        except AppError as error:  # fails this change, not the others
            failures.append(f"{change.feature}: {error.message}")
        else:
            if not is_unchanged and key not in visited:  # else a newer run has changed it
                failures.append(f"{change.feature} in {change.environment} was changed since.")
        visited.add(key)
    switches.write()
    _remove_added(switches.conn, project, reverted, by)
    if not reverted and not failures:
        return ActionResult("There was nothing to revert.")
    details = f"Reverted {len(reverted)} of {plural(len(reverted) + len(failures), 'change')}."
    return ActionResult(" ".join([details, *failures[:20]]), reverted)


def _remove_added(
    conn: Connection, project: str, reverted: list[RevertibleChange], by: Identity
) -> None:
    """Removes the strategies that enabling the flags has added, unless they were changed since:
    otherwise the next *on* would give the feature to everyone."""
    for change in reverted:
        if change.added is msgspec.UNSET:
            continue
        target = _make_target(project, change)
        rows = {strategy["id"]: strategy for strategy in list_strategies(conn, target)}
        if rows.get(change.added["id"]) == change.added:
            remove_strategy(conn, target, change.added["id"], by)


def _make_target(project: str, change: RevertibleChange) -> FeatureEnvironment:
    return FeatureEnvironment(project, change.feature, change.environment)


def _revert(
    switches: SwitchBatch, target: FeatureEnvironment, change: RevertibleChange, by: Identity
) -> bool:
    """False if it was changed again since. Raises AppError."""
    if change.changed_property == "state":
        return switches.switch(target, bool(change.before), by)
    conn, strategy = switches.conn, change.strategy
    rollout = get_strategy(conn, target, strategy)["parameters"].get("rollout", "")
    if rollout != change.after:
        return False
    switches.write()  # so that the events are in order
    with savepoint(conn):
        set_parameters(conn, target, strategy, {"rollout": str(change.before)}, by)
    return True
