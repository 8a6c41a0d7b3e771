"""Sets the percentage of all gradual rollouts of a flag in one environment."""

import msgspec

from sigservice.db import Connection
from sigservice.errors import ConflictError
from sigservice.repository.flags import feature_strategies
from sigservice.services import revisions
from sigservice.services.actions.action_kinds.kind import (
    ENVIRONMENT,
    FLAG,
    PROJECT,
    ActionResult,
    FlagKind,
    Parameter,
    Params,
    RevertibleChange,
)
from sigservice.services.flags import strategies
from sigservice.services.flags.feature_states import get_state
from sigservice.services.flags.feature_switches import SwitchBatch
from sigservice.services.identity import Identity
from sigservice.services.problems import Problems
from sigservice.wording import plural

ROLLOUT = "flexibleRollout"


class SetRollout(FlagKind):
    label = "Set flag rollout"
    description = "Sets the percentage of a flag's gradual rollouts in one environment."
    permission = "UPDATE_FEATURE_STRATEGY"
    parameters = (PROJECT, ENVIRONMENT, FLAG, Parameter("rollout", "Percentage", "number"))

    def describe(self, params: Params) -> str:
        feature, environment = params["featureName"], params["environment"]
        return f"Set rollout of {feature} in {environment} to {params['rollout']}%"

    def check(self, conn: Connection, project: str, params: Params, problems: Problems) -> None:
        super().check(conn, project, params, problems)
        if not strategies.is_percentage(str(params["rollout"])):
            problems.add("rollout", "The rollout must be a whole number from 0 to 100.")

    def perform(
        self, switches: SwitchBatch, project: str, params: Params, by: Identity
    ) -> ActionResult:
        conn, rollout = switches.conn, str(int(params["rollout"]))
        flag_environment = self.make_target(project, params)
        revisions.lock(conn)
        if get_state(conn, flag_environment)["archived"]:
            raise ConflictError(f"Not done: {flag_environment.feature} is archived.")
        rows = feature_strategies.list_by_features(
            conn, [flag_environment.feature], flag_environment.environment
        )
        changes = []
        for row in rows:
            before = msgspec.json.decode(row["parameters"]).get("rollout", "")
            if row["name"] == ROLLOUT and before != rollout:
                strategies.set_parameters(
                    conn, flag_environment, row["id"], {"rollout": rollout}, by
                )
                feature, environment = flag_environment.feature, flag_environment.environment
                changes.append(
                    RevertibleChange(
                        "rollout", feature, environment, before, rollout, strategy=row["id"]
                    )
                )
        where = f"{flag_environment.feature} in {flag_environment.environment}"
        if not changes:
            return ActionResult(f"No rollout of {where} needed a change.")
        return ActionResult(
            f"Set {plural(len(changes), 'rollout')} of {where} to {rollout}%.", changes
        )
