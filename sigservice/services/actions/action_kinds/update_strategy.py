"""Replaces a strategy as it was planned, unless it has changed since."""

from typing import Any

import msgspec

from sigservice import payload
from sigservice.db import Connection
from sigservice.errors import AppError, BadDataError, ConflictError, NotFoundError
from sigservice.repository.system import events
from sigservice.repository.system.events import EventFilter
from sigservice.services.actions.action_kinds.kind import (
    ENVIRONMENT,
    FLAG,
    PROJECT,
    ActionResult,
    FlagKind,
    Parameter,
    Params,
)
from sigservice.services.actions.action_kinds.set_rollout import set_rollout
from sigservice.services.flags import strategies
from sigservice.services.flags.feature_states import FeatureEnvironment
from sigservice.services.flags.feature_switches import SwitchBatch
from sigservice.services.flags.strategies import Strategy
from sigservice.services.identity import Identity, name_actor
from sigservice.services.problems import Problems

NAME = "UPDATE_FEATURE_STRATEGY"
CHANGES = {"feature-strategy-update": "changed", "feature-strategy-remove": "removed"}
MAX_EVENTS = 50  # searched for the user who changed the strategy


class UpdateStrategy(FlagKind):
    """`before` and `strategy` are JSON of the admin API; `before` is the strategy as it was when
    the change was planned."""

    label = "Update strategy"
    description = "Replaces a strategy of a flag, unless it was changed since this was planned."
    permission = "UPDATE_FEATURE_STRATEGY"
    parameters = (
        PROJECT,
        ENVIRONMENT,
        FLAG,
        Parameter("strategyId", "Strategy", "hidden"),
        Parameter("before", "Strategy before", "hidden"),
        Parameter("strategy", "New strategy", "hidden"),
    )

    def __init__(self, max_segments: int) -> None:
        self._max_segments = max_segments

    def describe(self, params: Params) -> str:
        place = f"{params['featureName']} in {params['environment']}"
        before, new = (read_strategy(params[name]) for name in ("before", "strategy"))
        name = name_strategy(new)
        rollouts = before.parameters.get("rollout"), new.parameters.get("rollout")
        if _without_rollout(before) == _without_rollout(new) and None not in rollouts:
            return f"{name} of {place} {rollouts[0]}% → {rollouts[1]}%"
        return f"Change {name} of {place}"

    def check(self, conn: Connection, project: str, params: Params, problems: Problems) -> None:
        super().check(conn, project, params, problems)
        for name in ("before", "strategy"):
            try:
                new = read_strategy(params[name])
            except (BadDataError, msgspec.ValidationError) as error:
                problems.add(name, f"Must be a strategy as JSON: {error}")
        if problems.details:
            return
        try:
            strategies.get(conn, self.make_target(project, params), params["strategyId"])
        except NotFoundError as error:
            problems.add("strategyId", error.message)
        try:
            self._validate(conn, project, params, new)
        except AppError as error:
            problems.add("strategy", "; ".join(detail["message"] for detail in error.details))

    def perform(
        self, switches: SwitchBatch, project: str, params: Params, by: Identity
    ) -> ActionResult:
        conn, id = switches.conn, params["strategyId"]
        before, new = read_strategy(params["before"]), read_strategy(params["strategy"])
        target = self.lock_target(conn, project, params)
        try:
            current = strategies.get(conn, target, id)
        except NotFoundError:
            raise ConflictError(_explain_change(conn, target, id)) from None
        if strategies.to_strategy(current) != before:
            raise ConflictError(_explain_change(conn, target, id))
        text, after = self.describe(params), self._validate(conn, project, params, new)
        changed = [name for name in after if after[name] != current[name]]
        rollout = after["parameters"].get("rollout")
        if not changed:
            return ActionResult(f"{text}: no change was needed.")
        if after["parameters"] == current["parameters"] | {"rollout": rollout} and len(changed) < 2:
            change = set_rollout(conn, target, id, rollout, by)
            return ActionResult(f"{text}.", [change] if change else [])
        strategies.replace(conn, target, id, new, by, max_segments=self._max_segments)
        return ActionResult(f"{text}.")

    def _validate(
        self, conn: Connection, project: str, params: Params, new: Strategy
    ) -> dict[str, Any]:
        return strategies.validate(
            conn, new, params["featureName"], project=project, max_segments=self._max_segments
        )


def encode(strategy: Strategy) -> str:
    """The strategy as the text of a parameter."""
    return msgspec.json.encode(strategy).decode()


def find_import_obstacle(conn: Connection, project: str, params: Params) -> str:
    """Why these parameters, from another server, mean something else here; "" if they don't."""
    try:
        planned = [read_strategy(params[name]) for name in ("before", "strategy")]
        target = FeatureEnvironment(project, params["featureName"], params["environment"])
        ids = [one["id"] for one in strategies.list_strategies(conn, target)]
    except (AppError, msgspec.ValidationError, LookupError, TypeError, AttributeError):
        return ""  # the check of the action reports the problem
    if any(strategy.segments for strategy in planned):
        return "it changes a strategy with segments, whose IDs are others here"
    return "" if params.get("strategyId") in ids else "the strategy that it changes isn't here"


def read_strategy(text: str) -> Strategy:
    """Raises BadDataError, ValidationError."""
    value = payload.parse(text.encode(), "text")
    return strategies.to_strategy(msgspec.convert(value, dict[str, Any]))


def name_strategy(strategy: Strategy) -> str:
    """Its title, or its type."""
    type = "Gradual rollout" if strategy.name == "flexibleRollout" else strategy.name
    return strategy.title or type


def _without_rollout(strategy: Strategy) -> Strategy:
    parameters = {k: v for k, v in strategy.parameters.items() if k != "rollout"}
    return msgspec.structs.replace(strategy, parameters=parameters)


def _explain_change(conn: Connection, target: FeatureEnvironment, id: str) -> str:
    """Such as "Not done: Chen changed the strategy on 24 Nov."."""
    event_filter = EventFilter(
        types=[*CHANGES], features=[target.feature], environments=[target.environment]
    )
    for row in events.list_newest(conn, event_filter, limit=MAX_EVENTS):
        if msgspec.json.decode(row["data"] or row["pre_data"] or "{}").get("id") == id:
            at, verb = row["created_at"], CHANGES[row["type"]]
            actor = name_actor(row["created_by"], row["created_by_user_id"])
            return f"Not done: {actor} {verb} the strategy on {at.day} {at:%b}."
    return "Not done: the strategy was changed."
