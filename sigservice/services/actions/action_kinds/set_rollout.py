"""Sets the percentage of all gradual rollouts of a flag in one environment."""

from __future__ import annotations

import msgspec

from sigservice.db.pool import Connection
from sigservice.errors import AppError
from sigservice.repository.flags import feature_strategies
from sigservice.services import revisions
from sigservice.services.actions.action_kinds.kind import (
    ENVIRONMENT,
    PROJECT,
    ActionResult,
    FlagChange,
    Parameter,
    Params,
    plural,
)
from sigservice.services.flags import strategies
from sigservice.services.flags.feature_states import FeatureEnvironment, get_state
from sigservice.services.flags.strategies import Strategy
from sigservice.services.identity import Identity
from sigservice.services.problems import Problems

ROLLOUT = "flexibleRollout"


class SetRollout:
    label = "Set flag rollout"
    description = "Sets the percentage of a flag's gradual rollouts in one environment."
    category = "Feature flags"
    permission = "UPDATE_FEATURE_STRATEGY"
    parameters = (
        PROJECT,
        ENVIRONMENT,
        Parameter("featureName", "Flag", choices="features"),
        Parameter("rollout", "Percentage", "number"),
    )

    def describe(self, params: Params) -> str:
        feature, environment = params["featureName"], params["environment"]
        return f"Set rollout of {feature} in {environment} to {params['rollout']}%"

    def check(self, conn: Connection, project: str, params: Params, problems: Problems) -> None:
        try:
            get_state(conn, self._make_place(project, params))
        except AppError as error:
            problems.add("featureName", error.message)
        if not _is_percentage(str(params["rollout"])):
            problems.add("rollout", "The rollout must be a whole number from 0 to 100.")

    def perform(
        self, conn: Connection, project: str, params: Params, actor: Identity
    ) -> ActionResult:
        place, rollout = self._make_place(project, params), str(int(params["rollout"]))
        revisions.lock(conn)
        get_state(conn, place)
        rows = feature_strategies.list_by_features(conn, [place.feature], place.environment)
        changes = []
        for row in rows:
            if row["name"] == ROLLOUT:
                change = set_rollout(conn, place, row["id"], rollout, actor)
                changes += [change] if change else []
        where = f"{place.feature} in {place.environment}"
        if not changes:
            return ActionResult(f"No rollout of {where} needed a change.")
        return ActionResult(
            f"Set {plural(len(changes), 'rollout')} of {where} to {rollout}%.", changes
        )

    def _make_place(self, project: str, params: Params) -> FeatureEnvironment:
        return FeatureEnvironment(project, params["featureName"], params["environment"])


def set_rollout(
    conn: Connection, place: FeatureEnvironment, id: str, rollout: str, actor: Identity
) -> FlagChange | None:
    """None if it has that percentage already. Raises NotFoundError."""
    strategy = strategies.get(conn, place, id)
    before = strategy["parameters"].get("rollout", "")
    if before == rollout:
        return None
    payload = strategy | {"parameters": strategy["parameters"] | {"rollout": rollout}}
    strategies.replace(
        conn,
        place,
        id,
        msgspec.convert(payload, Strategy),
        actor,
        max_segments=len(strategy["segments"]),
    )
    return FlagChange("rollout", place.feature, place.environment, before, rollout, strategy=id)


def _is_percentage(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 3 and int(text) <= 100
