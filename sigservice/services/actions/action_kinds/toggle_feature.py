"""Enables or disables one flag in one environment."""

from sigservice.db.pool import Connection
from sigservice.errors import AppError
from sigservice.services.actions.action_kinds.kind import (
    ENVIRONMENT,
    PROJECT,
    ActionResult,
    Parameter,
    Params,
    RevertibleChange,
)
from sigservice.services.flags.feature_states import FeatureEnvironment, get_state
from sigservice.services.flags.feature_switches import SwitchBatch
from sigservice.services.identity import Identity
from sigservice.services.problems import Problems


class ToggleFeature:
    category = "Feature flags"
    permission = "UPDATE_FEATURE_ENVIRONMENT"
    is_batched = True
    parameters = (
        PROJECT,
        ENVIRONMENT,
        Parameter("featureName", "Flag", choices_list_name="features"),
    )

    def __init__(self, on: bool) -> None:
        self._on = on
        self._verb = "Enable" if on else "Disable"
        self.label = f"{self._verb} flag"
        self.description = f"{self._verb}s one flag in one environment."

    def describe(self, params: Params) -> str:
        return f"{self._verb} {params['featureName']} in {params['environment']}"

    def check(self, conn: Connection, project: str, params: Params, problems: Problems) -> None:
        try:
            get_state(conn, self._make_flag_environment(project, params))
        except AppError as error:
            problems.add("featureName", error.message)

    def list_targets(self, project: str, params: Params) -> list[FeatureEnvironment]:
        return [self._make_flag_environment(project, params)]

    def perform(
        self, switches: SwitchBatch, project: str, params: Params, by: Identity
    ) -> ActionResult:
        flag_environment = self._make_flag_environment(project, params)
        where = f"{flag_environment.feature} in {flag_environment.environment}"
        if not switches.switch(flag_environment, self._on, by):
            return ActionResult(f"{where} was already {self._verb.lower()}d.")
        change = RevertibleChange(
            "state", flag_environment.feature, flag_environment.environment, not self._on, self._on
        )
        return ActionResult(f"{self._verb}d {where}.", [change])

    def _make_flag_environment(self, project: str, params: Params) -> FeatureEnvironment:
        return FeatureEnvironment(project, params["featureName"], params["environment"])
