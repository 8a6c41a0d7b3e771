"""Flags that alerts of several action sets keep on or off. The set whose alerts resolve last
reverts them, so a change that one set made is a change of the others too."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from sigservice.db import Connection, Row
from sigservice.repository.actions import alerts
from sigservice.services.actions.action_kinds.kind import ActionResult, RevertibleChange


def list_holders(conn: Connection, changes: Iterable[RevertibleChange]) -> list[Row]:
    """The sets whose alerts put the flags of `changes` in their states. Call it after these states
    are written."""
    names = sorted({change.feature for change in changes if change.changed_property == "state"})
    return alerts.list_holders(conn, names) if names else []


def share_changes(conn: Connection, result: ActionResult, set_id: int) -> ActionResult:
    """Adds the changes that only alerts of other sets made so far."""
    holders = [row for row in list_holders(conn, result.unchanged) if not row["is_kept"]]
    shared = []
    for change in result.unchanged:
        ids = {row["action_set_id"] for row in _select(holders, change)}
        if ids and set_id not in ids:
            shared.append(change)
    if not shared:
        return result
    text = f"{result.details} It stays so until this alert resolves too."
    return replace(result, details=text, changes=[*result.changes, *shared])


def find_obstacle(holders: Sequence[Row], change: RevertibleChange, set_id: int) -> str:
    """Why the set doesn't revert the change: a person keeps the flag off, or the alert of another
    set holds it; "" if it does."""
    if change.changed_property != "state":
        return ""
    rows, where = _select(holders, change), f"{change.feature} in {change.environment}"
    if any(row["is_kept"] for row in rows):
        return f"{where} is kept off."
    names = [row["name"] for row in rows if row["is_firing"] and row["action_set_id"] != set_id]
    return f"{where}: an alert of {names[0]} still fires." if names else ""


def _select(holders: Sequence[Row], change: RevertibleChange) -> list[Row]:
    place = change.feature, change.environment
    return [row for row in holders if (row["feature"], row["environment"]) == place]
