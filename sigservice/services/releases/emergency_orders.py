"""What a person does in an emergency: roll back all releases, undo what automation did, freeze and
pause. It lists the changes before it acts, and each release and run is one transaction."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from datetime import datetime, timedelta
from functools import partial
from typing import Any, ClassVar

import msgspec

from sigservice.clock import Clock
from sigservice.db import Connection, Row
from sigservice.errors import AppError, BadDataError, NoPermissionError
from sigservice.repository.actions import action_runs as run_rows
from sigservice.repository.actions import alerts as alert_rows
from sigservice.repository.releases import releases as release_rows
from sigservice.services.actions import action_reverts, action_runs, ignored_alerts
from sigservice.services.flags.feature_states import FeatureEnvironment, list_states
from sigservice.services.identity import ADMIN, Identity
from sigservice.services.problems import Problems
from sigservice.services.releases import release_commands
from sigservice.services.releases.release_commands import CommandBody
from sigservice.services.system import emergency, events

MAX_MINUTES, MAX_ITEMS = 10_080, 1000
CHANGED, IS_FIRING = (
    "It was changed since.",
    "Its alert still fires: it is ignored until it resolves.",
)
Begin = Callable[[], AbstractContextManager[Connection]]


class Order(msgspec.Struct):
    read_only: ClassVar = ()

    rollBackReleases: bool = False
    freezeReleases: bool = False
    pauseAutomation: bool = False
    undoMinutes: int = 0
    endsAfterMinutes: int | None = None
    project: str | None = None
    reason: str = ""
    dryRun: bool = False

    def list_members(self) -> list[str]:
        """The members of the stored state that it starts."""
        members = {"frozen": self.freezeReleases, "paused": self.pauseAutomation}
        return [member for member, is_started in members.items() if is_started]


def check(order: Order, by: Identity) -> None:
    """Raises BadDataError, NoPermissionError."""
    problems = Problems().check_text(order.reason.strip(), "reason", min_length=1, max_length=500)
    for name in ("undoMinutes", "endsAfterMinutes"):
        value = getattr(order, name)
        lowest = 0 if name == "undoMinutes" else 1
        if value is not None and not lowest <= value <= MAX_MINUTES:
            problems.add(name, f"Must be {lowest} to {MAX_MINUTES} minutes.")
    problems.raise_if_any()
    names = [name for name in ("freezeReleases", "pauseAutomation") if getattr(order, name)]
    if names and not by.has_permission(ADMIN):
        text = f"{' and '.join(names)} needs the permission {ADMIN}."
        raise NoPermissionError(text, extra={"permissions": [ADMIN]})
    if not (order.rollBackReleases or order.undoMinutes or names):
        raise BadDataError("Choose what to do.", path="rollBackReleases")


def list_changes(conn: Connection, order: Order, now: datetime) -> list[dict[str, Any]]:
    """What the order changes: an entry for each release under way, and for each change of a run."""
    releases, runs = _list_releases(conn, order), _list_runs(conn, order, now)
    reverts = [(run, change) for run in runs for change in action_reverts.list_changes(run)]
    targets = [_make_target(row) for row in releases]
    targets += [FeatureEnvironment(r["project"], c.feature, c.environment) for r, c in reverts]
    states = list_states(conn, targets) if targets else {}
    enabled = {target: state["enabled"] for target, state in states.items()}
    changes = []
    for row, target in zip(releases, targets, strict=False):
        values = [
            {"enabled": enabled.get(target), "rollout": row[name]}
            for name in ("rollout", "start_rollout")
        ]
        changes.append(_make_change(target, values[0], values[1], release_id=row["id"]))
    keys = [(run["action_set_id"], run["alert_key"]) for run in runs if run["alert_key"]]
    alerts = alert_rows.list_by_keys(conn, keys) if keys else []
    firing = {(row["action_set_id"], row["key"]) for row in alerts if row["is_firing"]}
    for run, change in reverts:
        target = FeatureEnvironment(run["project"], change.feature, change.environment)
        is_state = change.changed_property == "state"
        before = {"enabled": enabled.get(target), "rollout": None if is_state else change.after}
        after, reason = dict(before), None
        if (run["action_set_id"], run["alert_key"]) in firing:
            reason = IS_FIRING
        if is_state and before["enabled"] != change.after:
            reason = CHANGED
        elif is_state:
            after["enabled"] = enabled[target] = bool(change.before)
        else:
            after["rollout"] = change.before
        changes.append(_make_change(target, before, after, run_id=run["id"], reason=reason))
    return changes


def perform(begin: Begin, order: Order, by: Identity, clock: Clock) -> dict[str, Any]:
    """Performs the order, unless it is a dry run; what fails is in the result, the rest goes on.
    Raises BadDataError, NoPermissionError."""
    check(order, by)
    now = clock.now()
    with begin() as conn:
        changes = list_changes(conn, order, now)
        if not order.dryRun:
            members = order.list_members()
            is_new = emergency.start(conn, members, by, now, order.reason, order.endsAfterMinutes)
            if is_new or any(change["changed"] for change in changes):
                data = {name: getattr(order, name) for name in order.__struct_fields__[:7]}
                events.record(conn, "emergency-started", by, data=data | {"changes": changes})
        releases, runs = _list_releases(conn, order), _list_runs(conn, order, now)
    if not order.dryRun:
        for row in releases:
            error = _attempt(begin, partial(_roll_back, row=row, order=order, by=by, clock=clock))
            _add_failure(changes, "releaseId", row["id"], error)
        for run in runs:
            error = _attempt(begin, partial(_undo, run=run, by=by))
            _add_failure(changes, "runId", run["id"], error)
    with begin() as conn:
        state = emergency.to_json(emergency.read(conn, now))
    ends = [part["endsAt"] for part in state.values() if isinstance(part, dict) and part["endsAt"]]
    return {"changes": changes, **state, "endsAt": max(ends, default=None)}


def _list_releases(conn: Connection, order: Order) -> list[Row]:
    if not order.rollBackReleases:
        return []
    states = ("running", "held")
    return release_rows.list_newest(conn, states=states, project=order.project, limit=MAX_ITEMS)


def _list_runs(conn: Connection, order: Order, now: datetime) -> list[Row]:
    if not order.undoMinutes:
        return []
    since = now - timedelta(minutes=order.undoMinutes)
    rows = run_rows.list_since(conn, since, project=order.project, limit=MAX_ITEMS)
    return [row for row in rows if action_runs.can_undo(row)]


def _roll_back(conn: Connection, row: Row, order: Order, by: Identity, clock: Clock) -> None:
    body = CommandBody(reason=order.reason)
    release_commands.run_command(conn, _make_target(row), row["id"], "rollback", body, by, clock)


def _undo(conn: Connection, run: Row, by: Identity) -> None:
    run_rows.lock(conn)
    if ignored_alerts.is_firing(conn, run):
        ignored_alerts.ignore(conn, run, by)
    action_runs.undo(conn, run["project"], run["action_set_id"], run["id"], by)


def _attempt(begin: Begin, change: Callable[[Connection], None]) -> str | None:
    """The message of the error."""
    try:
        with begin() as conn:
            change(conn)
    except AppError as error:
        return error.message
    return None


def _add_failure(
    changes: Sequence[dict[str, Any]], member: str, id: int, error: str | None
) -> None:
    for change in changes:
        if error and change[member] == id:
            change.update(changed=False, reason=error, to=change["from"])


def _make_target(row: Row) -> FeatureEnvironment:
    return FeatureEnvironment(row["project"], row["feature"], row["environment"])


def _make_change(
    target: FeatureEnvironment,
    before: dict[str, Any],
    after: dict[str, Any],
    *,
    release_id: int | None = None,
    run_id: int | None = None,
    reason: str | None = None,
) -> dict[str, Any]:
    return {
        "feature": target.feature,
        "project": target.project,
        "environment": target.environment,
        "from": before,
        "to": after,
        "releaseId": release_id,
        "runId": run_id,
        "changed": before != after,
        "reason": reason,
    }
