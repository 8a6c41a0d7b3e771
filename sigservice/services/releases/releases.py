"""Releases: created from a plan, read, and shown as JSON."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, ClassVar, NamedTuple

import msgspec

from sigservice.clock import Clock, format_iso, format_optional, parse_iso
from sigservice.db import Connection, Row
from sigservice.errors import BadDataError, ConflictError, NotFoundError
from sigservice.repository.releases import releases as release_rows
from sigservice.services import revisions
from sigservice.services.flags import strategies
from sigservice.services.flags.feature_states import FeatureEnvironment, get_state
from sigservice.services.flags.strategies import Strategy
from sigservice.services.identity import Identity
from sigservice.services.problems import Problems
from sigservice.services.releases import release_guards, release_progress, step_patterns
from sigservice.services.releases.edits import RANDOM, ROLLOUT_TYPE
from sigservice.services.releases.guard_signals import FindDefaults
from sigservice.services.releases.plans import (
    DEFAULT_WATCH_MINUTES,
    Guard,
    Plan,
    Step,
    check_plan,
)
from sigservice.services.releases.release_guards import PreparedGuard, Readings
from sigservice.services.releases.release_journal import Journal, name_release_event
from sigservice.services.releases.release_state import read_all
from sigservice.services.releases.windows import Window
from sigservice.services.system import events

MAX_REASON = 500
ACTIVE = ("scheduled", "running", "held")
STATES = (*ACTIVE, "finished", "rolledBack", "stopped")


class NewRelease(msgspec.Struct):
    """The body of a POST. `template` is the name of a step pattern, which fills `steps` and
    `watchMinutes` where they are absent."""

    read_only: ClassVar = (
        "id", "project", "feature", "environment", "state", "heldBy", "heldReason", "step",
        "rollout", "startRollout", "stepEnteredAt", "dueAt", "watchUntil", "createdAt",
        "createdBy", "createdByUserId", "finishedAt", "warnings", "url",
    )  # fmt: skip

    strategyId: str | None = None
    template: str | None = None
    steps: list[Step] | None = None
    startAt: str | None = None
    window: Window | None = None
    watchMinutes: int | None = None
    noDataMinutes: int = 30
    guards: list[Guard] = []
    reason: str = ""


class Surroundings(NamedTuple):
    """What a new release needs of the service: the clock, the defaults of senders, and what
    was read for its guards."""

    clock: Clock
    find_defaults: FindDefaults
    readings: Readings = Readings()


class _Prepared(NamedTuple):
    """A valid release before it is stored. `strategy` is None if one will be created."""

    plan: Plan
    guards: list[PreparedGuard]
    strategy: dict[str, Any] | None
    start_at: datetime | None
    warnings: list[dict[str, Any]]
    propagation_seconds: int

    @property
    def rollout(self) -> int:
        return int(self.strategy["parameters"]["rollout"]) if self.strategy else 0


def create(
    conn: Connection,
    target: FeatureEnvironment,
    new: NewRelease,
    by: Identity,
    surroundings: Surroundings,
) -> int:
    """Starts the release unless it is scheduled; returns its ID. Raises NotFoundError,
    ConflictError if one is active, BadDataError with all problems."""
    revisions.lock(conn)
    place = _find_place(conn, target, surroundings.clock)
    if place["has_active"]:
        raise ConflictError(f"{target.feature} has a release in {target.environment} already.")
    prepared, problems = _prepare(conn, target, new, surroundings, place)
    release_guards.check_firing(prepared.guards, problems)
    problems.raise_if_any()
    strategy, journal = prepared.strategy, Journal()
    if strategy is None:
        first = Strategy(ROLLOUT_TYPE, parameters={"rollout": 0, "groupId": target.feature})
        cause = journal.make_cause("created", by)
        with events.collect(conn) as batch:
            strategy = strategies.add(conn, target, first, cause, max_segments=0)
        journal.add_all(batch)
    items = [guard.to_item() for guard in prepared.guards]
    id = release_rows.insert(
        conn,
        feature=target.feature,
        environment=target.environment,
        strategy_id=strategy["id"],
        plan=msgspec.json.encode(prepared.plan).decode(),
        warnings=msgspec.json.encode(prepared.warnings).decode(),
        rollout=prepared.rollout,
        start_at=prepared.start_at,
        propagation_seconds=prepared.propagation_seconds,
        now=place["now"],
        created_by=by.username,
        created_by_user_id=by.user_id,
        items=msgspec.json.encode(items).decode(),
    )
    (release,) = read_all(conn, [id], surroundings.clock)  # no other transaction can change it
    release.content = release.present
    journal.add(release, "created", by=by, reason=new.reason.strip()[:MAX_REASON])
    if prepared.start_at is None and release.frozen_reason is None:
        release_progress.start(conn, release, by, journal)
    release_progress.progress(conn, release, journal)
    release_progress.store(conn, release, journal)
    return id


def preview(
    conn: Connection, target: FeatureEnvironment, new: NewRelease, surroundings: Surroundings
) -> dict[str, Any]:
    """What the guards of a release would have done, and what else is known before its creation.
    Raises NotFoundError, BadDataError."""
    place = _find_place(conn, target, surroundings.clock)
    prepared, problems = _prepare(conn, target, new, surroundings, place, is_preview=True)
    problems.raise_if_any()
    seconds, now = prepared.propagation_seconds, place["now"]
    guards = release_guards.preview_all(conn, prepared.guards, seconds, now)
    return {"warnings": prepared.warnings} | guards


def _find_place(conn: Connection, target: FeatureEnvironment, clock: Clock) -> Row:
    """Raises NotFoundError."""
    place = release_rows.find_surroundings(conn, **vars(target), now=clock.fixed_now)
    if place is None:
        get_state(conn, target)  # says what is missing
        raise NotFoundError("Flag not found.")
    return place


def get(conn: Connection, target: FeatureEnvironment, id: int) -> Row:
    """Raises NotFoundError."""
    get_state(conn, target)
    return read(conn, target, id)


def read(conn: Connection, target: FeatureEnvironment, id: int) -> Row:
    """Like `get`, of a target that exists."""
    rows = release_rows.list_newest(
        conn, id=id, feature=target.feature, environment=target.environment
    )
    if not rows:
        raise NotFoundError("Release not found.")
    return rows[0]


def list_of_flag(
    conn: Connection, target: FeatureEnvironment, states: Sequence[str] | None = None
) -> list[Row]:
    """The releases of a flag, newest first. Raises NotFoundError."""
    get_state(conn, target)
    return _list_rows(conn, target, states)


def _list_rows(
    conn: Connection, target: FeatureEnvironment, states: Sequence[str] | None = None
) -> list[Row]:
    return release_rows.list_newest(
        conn, feature=target.feature, environment=target.environment, states=states
    )


def list_all(conn: Connection, *, state: str | None, project: str | None) -> list[Row]:
    """The releases of all projects or of one, newest first. Raises BadDataError for an unknown
    state."""
    if state is not None:
        Problems().check_choice(state, "state", STATES).raise_if_any()
    return release_rows.list_newest(conn, states=[state] if state else None, project=project)


def list_events(conn: Connection, target: FeatureEnvironment, id: int) -> list[dict[str, Any]]:
    """The JSON of its events, oldest first. Raises NotFoundError."""
    get(conn, target, id)
    return [event_to_json(row) for row in release_rows.list_events(conn, id)]


def event_to_json(row: Row) -> dict[str, Any]:
    """An entry of the log of a release, from the audit log."""
    data = msgspec.json.decode(row["data"])
    return {
        "id": row["id"],
        "createdAt": format_iso(row["created_at"]),
        "type": name_release_event(row["type"]),
        "actor": row["created_by"],
        **{name: data[name] for name in ("step", "rollout", "reason", "text", "guard")},
    }


def to_json(row: Row) -> dict[str, Any]:
    """The JSON of a release, without its URL."""
    plan = msgspec.json.decode(row["plan"])
    is_active, is_last = row["state"] in ACTIVE, row["step"] == len(plan["steps"]) - 1
    due_at = row["due_at"] if is_active else None
    return {
        "id": row["id"],
        "project": row["project"],
        "feature": row["feature"],
        "environment": row["environment"],
        "strategyId": row["strategy_id"],
        "state": row["state"],
        "heldBy": row["held_by"],
        "heldReason": row["held_reason"],
        "step": row["step"],
        "rollout": row["rollout"],
        "startRollout": row["start_rollout"],
        "stepEnteredAt": format_optional(row["entered_at"]),
        "dueAt": format_optional(None if is_last else due_at),
        "watchUntil": format_optional(due_at if is_last else None),
        "steps": plan["steps"],
        "window": plan["window"],
        "watchMinutes": plan["watchMinutes"],
        "noDataMinutes": plan["noDataMinutes"],
        "guards": [_guard_to_json(guard) for guard in list_guards(row)],
        "startAt": format_optional(row["start_at"]),
        "createdAt": format_iso(row["created_at"]),
        "createdBy": row["created_by"],
        "createdByUserId": row["created_by_user_id"],
        "finishedAt": format_optional(row["finished_at"]),
        "warnings": msgspec.json.decode(row["warnings"]),
    }


def make_plan(row: Row) -> dict[str, Any]:
    """A body with which a release like this one can be started: the steps above its present
    percentage, all if there is none."""
    plan = msgspec.json.decode(row["plan"])
    names = ("watchMinutes", "noDataMinutes", "window")
    return {
        "strategyId": row["strategy_id"],
        "steps": [s for s in plan["steps"] if s["rollout"] > row["rollout"]] or plan["steps"],
        **{name: plan[name] for name in names},
        "guards": [guard["definition"] for guard in list_guards(row)],
    }


def list_guards(row: Row) -> list[dict[str, Any]]:
    """The stored guards of a release, with the name of the `endpoint` of each."""
    return msgspec.json.decode(row["guards"], type=list[dict[str, Any]])


def list_guards_of_flag(conn: Connection, target: FeatureEnvironment) -> list[Guard]:
    """The guards of its releases, none if it doesn't exist."""
    rows = [row for release in _list_rows(conn, target) for row in list_guards(release)]
    return [msgspec.convert(row["definition"], Guard) for row in rows]


def _prepare(
    conn: Connection,
    target: FeatureEnvironment,
    new: NewRelease,
    surroundings: Surroundings,
    place: Row,
    *,
    is_preview: bool = False,
) -> tuple[_Prepared, Problems]:
    if place["is_archived"]:
        raise BadDataError(f"{target.feature} is archived. Revive it first.")
    problems, now = Problems(), place["now"]
    plan = _make_plan(new)
    check_plan(plan, new.guards, problems)
    problems.raise_if_any()
    guards = release_guards.prepare(
        conn, new.guards, problems, surroundings.find_defaults, surroundings.readings, now
    )
    existing = strategies.read_strategies(conn, target)
    strategy = _choose_strategy(new.strategyId, existing, problems)
    plan.createdStrategy = strategy is None
    start_at = _parse_start(new.startAt, now, problems)
    propagation = place["propagation_seconds"]
    warnings = _list_warnings(target, existing, strategy, is_enabled=place["is_enabled"])
    prepared = _Prepared(plan, guards, strategy, start_at, warnings, propagation)
    _check_first_step(prepared, problems)
    if not is_preview:
        definitions = [guard.definition for guard in guards]
        release_guards.check_minutes(definitions, propagation, plan.steps, problems)
    return prepared, problems


def _make_plan(new: NewRelease) -> Plan:
    steps, watch_minutes = new.steps, new.watchMinutes
    if new.template is not None:
        pattern = step_patterns.find(new.template)
        steps = pattern.steps if steps is None else steps
        watch_minutes = pattern.watchMinutes if watch_minutes is None else watch_minutes
    return Plan(
        steps or [],
        DEFAULT_WATCH_MINUTES if watch_minutes is None else watch_minutes,
        new.noDataMinutes,
        new.window,
    )


def _choose_strategy(
    id: str | None, existing: list[dict[str, Any]], problems: Problems
) -> dict[str, Any] | None:
    """None if the environment has no gradual rollout."""
    rollouts = [strategy for strategy in existing if strategy["name"] == ROLLOUT_TYPE]
    if id is not None:
        strategy = next((strategy for strategy in rollouts if strategy["id"] == id), None)
        if strategy is None:
            problems.add("strategyId", "The environment has no gradual rollout with this ID.")
    elif len(rollouts) > 1:
        strategy = None
        problems.add("strategyId", "The environment has several gradual rollouts: choose one.")
    else:
        strategy = rollouts[0] if rollouts else None
    if strategy is None:
        return None
    if strategy["parameters"].get("stickiness") == "random":
        problems.add("strategyId", RANDOM)
    if not str(strategy["parameters"].get("rollout", "")).isdecimal():
        problems.add("strategyId", "The percentage of the strategy isn't a whole number.")
        return None
    return strategy


def _parse_start(text: str | None, now: datetime, problems: Problems) -> datetime | None:
    if text is None:
        return None
    start_at = parse_iso(text)
    if start_at is None:
        problems.add("startAt", "Must be a time such as 2026-12-01T08:00:00Z.")
    elif start_at < now:
        problems.add("startAt", "The time is in the past.")
    return start_at


def _check_first_step(prepared: _Prepared, problems: Problems) -> None:
    first = prepared.plan.steps[0].rollout
    if first < prepared.rollout:
        message = f"The first step must be at least the present percentage ({prepared.rollout}%)."
        problems.add("steps[0].rollout", message)


def _list_warnings(
    target: FeatureEnvironment,
    existing: list[dict[str, Any]],
    strategy: dict[str, Any] | None,
    *,
    is_enabled: bool,
) -> list[dict[str, Any]]:
    own_id = strategy["id"] if strategy else None
    warnings = [
        {
            "message": "Another strategy may enable the flag for users that the release hasn't"
            f" reached: {other['title'] or other['name']}.",
            "strategyId": other["id"],
        }
        for other in existing
        if other["id"] != own_id and not other["disabled"]
    ]
    if strategy is not None and strategy["disabled"]:
        warnings.append({"message": "The strategy is disabled.", "strategyId": own_id})
    if not is_enabled:
        message = f"The flag is disabled in {target.environment}: no user gets it."
        warnings.append({"message": message, "strategyId": None})
    return warnings


def _guard_to_json(guard: dict[str, Any]) -> dict[str, Any]:
    return {
        **guard["definition"],
        "id": guard["id"],
        "state": guard["state"],
        **{name: guard[name] for name in ("value", "limit", "samples")},
        "reason": guard["rule_reason"] or guard["reason"],
        "since": _reformat(guard["since"]),
        "from": _reformat(guard["covers_from"]),
        "to": _reformat(guard["covers_to"]),
    }


def _reformat(text: str | None) -> str | None:
    return format_optional(parse_iso(text)) if text else None
