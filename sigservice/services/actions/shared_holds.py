"""Flags that alerts of several action sets keep on or off. The set whose alerts resolve last
reverts them, so a change that one set made is a change of the others too."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from sigservice.db import Connection
from sigservice.repository.actions import alerts
from sigservice.services.actions.action_kinds.kind import ActionResult, RevertibleChange

Holders = Mapping[tuple[str, str], Mapping[int, str]]


def find_holders(
    conn: Connection, changes: Iterable[RevertibleChange], *, only_firing: bool = False
) -> Holders:
    """The names of the sets whose alerts put the flags of `changes` in their states, by flag and
    environment, then by ID; with `only_firing`, of enabled sets with an alert that fires. Call it
    after these states are written."""
    names = sorted({change.feature for change in changes if change.changed_property == "state"})
    holders: dict[tuple[str, str], dict[int, str]] = {}
    for row in alerts.list_holders(conn, names) if names else ():
        if row["is_firing"] or not only_firing:
            place = row["feature"], row["environment"]
            holders.setdefault(place, {})[row["action_set_id"]] = row["name"]
    return holders


def find_kept(conn: Connection, changes: Iterable[RevertibleChange]) -> set[tuple[str, str]]:
    """The flags and environments of `changes` that people keep off."""
    names = sorted({change.feature for change in changes if change.changed_property == "state"})
    rows = alerts.list_kept(conn, names) if names else ()
    return {(row["feature"], row["environment"]) for row in rows}


def share_changes(conn: Connection, result: ActionResult, set_id: int) -> ActionResult:
    """Adds the changes that only alerts of other sets made so far."""
    holders = find_holders(conn, result.unneeded)
    shared = [
        change
        for change in result.unneeded
        if set_id not in holders.get((change.feature, change.environment), {set_id: ""})
    ]
    if not shared:
        return result
    text = f"{result.details} It stays so until this alert resolves too."
    return replace(result, details=text, changes=[*result.changes, *shared])


def find_other_holder(holders: Holders, change: RevertibleChange, set_id: int) -> str | None:
    """The name of another set that keeps the state."""
    if change.changed_property != "state":
        return None
    sets = holders.get((change.feature, change.environment), {})
    return next((name for id, name in sets.items() if id != set_id), None)
