"""Switches one flag in one environment."""

from __future__ import annotations

from sigservice.db.pool import Connection
from sigservice.errors import AppError
from sigservice.services.actions.action_kinds.kind import (
    ENVIRONMENT,
    PROJECT,
    Change,
    Outcome,
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
        self._word = "on" if on else "off"
        self.label = f"Switch a flag {self._word}"
        self.description = f"Switches one flag {self._word} in one environment."

    def words(self, params: Params) -> str:
        return f"Switch {params['featureName']} {self._word} in {params['environment']}"

    def check(self, conn: Connection, project: str, params: Params, problems: Problems) -> None:
        try:
            get_state(conn, self._place(project, params))
        except AppError as error:
            problems.add("featureName", error.message)

    def perform(self, conn: Connection, project: str, params: Params, actor: Identity) -> Outcome:
        place = self._place(project, params)
        where = f"{place.feature} in {place.environment}"
        if not feature_switches.switch(conn, place, self._on, actor):
            return Outcome(f"{where} was {self._word} already.")
        change = Change("state", place.feature, place.environment, not self._on, self._on)
        return Outcome(f"Switched {where} {self._word}.", [change])

    def _place(self, project: str, params: Params) -> FeatureEnvironment:
        return FeatureEnvironment(project, params["featureName"], params["environment"])
