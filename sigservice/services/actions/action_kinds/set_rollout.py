"""Sets the share of all gradual rollouts that a flag has in one environment."""

from __future__ import annotations

import msgspec

from sigservice.db.pool import Connection
from sigservice.errors import AppError
from sigservice.repository.flags import feature_strategies
from sigservice.services import revisions
from sigservice.services.actions.action_kinds.kind import (
    ENVIRONMENT,
    PROJECT,
    Change,
    Outcome,
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
    label = "Set the rollout of a flag"
    description = "Sets the percentage of a flag's gradual rollouts in one environment."
    category = "Feature flags"
    permission = "UPDATE_FEATURE_STRATEGY"
    parameters = (
        PROJECT,
        ENVIRONMENT,
        Parameter("featureName", "Flag", choices="features"),
        Parameter("rollout", "Per cent", "number"),
    )

    def words(self, params: Params) -> str:
        place = self._place("", params)
        return f"Set the rollout of {place.feature} in {place.environment} to {params['rollout']} %"

    def check(self, conn: Connection, project: str, params: Params, problems: Problems) -> None:
        try:
            get_state(conn, self._place(project, params))
        except AppError as error:
            problems.add("featureName", error.message)
        if not _is_percentage(str(params["rollout"])):
            problems.add("rollout", "The rollout is a whole number from 0 to 100.")

    def perform(self, conn: Connection, project: str, params: Params, actor: Identity) -> Outcome:
        place, wanted = self._place(project, params), str(int(params["rollout"]))
        revisions.lock(conn)
        get_state(conn, place)
        rows = feature_strategies.list_by_features(conn, [place.feature], place.environment)
        changes = []
        for row in rows:
            if row["name"] == ROLLOUT:
                change = set_rollout(conn, place, row["id"], wanted, actor)
                changes += [change] if change else []
        where = f"{place.feature} in {place.environment}"
        if not changes:
            return Outcome(f"No rollout of {where} had to be changed.")
        return Outcome(f"Set {plural(len(changes), 'rollout')} of {where} to {wanted} %.", changes)

    def _place(self, project: str, params: Params) -> FeatureEnvironment:
        return FeatureEnvironment(project, params["featureName"], params["environment"])


def set_rollout(
    conn: Connection, place: FeatureEnvironment, id: str, wanted: str, actor: Identity
) -> Change | None:
    """None when it has that share already. Raises NotFoundError."""
    stored = strategies.get(conn, place, id)
    before = stored["parameters"].get("rollout", "")
    if before == wanted:
        return None
    changed = stored | {"parameters": stored["parameters"] | {"rollout": wanted}}
    strategies.replace(
        conn,
        place,
        id,
        msgspec.convert(changed, Strategy),
        actor,
        max_segments=len(stored["segments"]),
    )
    return Change("rollout", place.feature, place.environment, before, wanted, strategy=id)


def _is_percentage(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 3 and int(text) <= 100
