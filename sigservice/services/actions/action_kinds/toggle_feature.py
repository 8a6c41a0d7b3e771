"""Enables or disables one flag in one environment."""

from sigservice.services.actions.action_kinds.kind import (
    ENVIRONMENT,
    FLAG,
    PROJECT,
    ActionResult,
    FlagKind,
    Params,
    RevertibleChange,
)
from sigservice.services.flags.feature_states import FeatureEnvironment
from sigservice.services.flags.feature_switches import SwitchBatch
from sigservice.services.identity import Identity


class ToggleFeature(FlagKind):
    is_batched = True
    parameters = (PROJECT, ENVIRONMENT, FLAG)

    def __init__(self, on: bool) -> None:
        self._on = on
        self._verb = "Enable" if on else "Disable"
        self.label = f"{self._verb} flag"
        self.description = f"{self._verb}s one flag in one environment."

    def describe(self, params: Params) -> str:
        return f"{self._verb} {params['featureName']} in {params['environment']}"

    def list_targets(self, project: str, params: Params) -> list[FeatureEnvironment]:
        return [self.make_target(project, params)]

    def perform(
        self, switches: SwitchBatch, project: str, params: Params, by: Identity
    ) -> ActionResult:
        flag_environment = self.make_target(project, params)
        where = f"{flag_environment.feature} in {flag_environment.environment}"
        if not switches.switch(flag_environment, self._on, by):
            return ActionResult(f"{where} was already {self._verb.lower()}d.")
        change = RevertibleChange(
            "state", flag_environment.feature, flag_environment.environment, not self._on, self._on
        )
        return ActionResult(f"{self._verb}d {where}.", [change])
