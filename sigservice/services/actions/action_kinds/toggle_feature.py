"""Enables or disables one flag in one environment."""

from __future__ import annotations

from sigservice.db.pool import Connection
from sigservice.errors import AppError
from sigservice.services.actions.action_kinds.kind import (
    ENVIRONMENT,
    PROJECT,
    ActionResult,
    FlagChange,
    Parameter,
    Params,
)
from sigservice.services.flags import feature_switches
from sigservice.services.flags.feature_states import FeatureEnvironment, get_state
from sigservice.services.identity import Identity
from sigservice.services.problems import Problems


class ToggleFeature:
    category = "Feature flags"
    permission = "UPDATE_FEATURE_ENVIRONMENT"
    parameters = (PROJECT, ENVIRONMENT, Parameter("featureName", "Flag", choices="features"))

    def __init__(self, on: bool) -> None:
        self._on = on
        self._verb = "Enable" if on else "Disable"
        self.label = f"{self._verb} flag"
        self.description = f"{self._verb}s one flag in one environment."

    def describe(self, params: Params) -> str:
        return f"{self._verb} {params['featureName']} in {params['environment']}"

    def check(self, conn: Connection, project: str, params: Params, problems: Problems) -> None:
        try:
            get_state(conn, self._make_place(project, params))
        except AppError as error:
            problems.add("featureName", error.message)

    def perform(
        self, conn: Connection, project: str, params: Params, actor: Identity
    ) -> ActionResult:
        place = self._make_place(project, params)
        where = f"{place.feature} in {place.environment}"
        if not feature_switches.switch(conn, place, self._on, actor):
            return ActionResult(f"{where} was already {self._verb.lower()}d.")
        change = FlagChange("state", place.feature, place.environment, not self._on, self._on)
        return ActionResult(f"{self._verb}d {where}.", [change])

    def _make_place(self, project: str, params: Params) -> FeatureEnvironment:
        return FeatureEnvironment(project, params["featureName"], params["environment"])
