"""Enables or disables one flag in one environment, or all flags with a tag: all or none of them."""

import msgspec

from sigservice.db import Connection
from sigservice.repository.flags import features
from sigservice.repository.flags.features import FeatureFilter
from sigservice.repository.projects import environments
from sigservice.services.actions.action_kinds.kind import (
    ENVIRONMENT,
    FLAG,
    PROJECT,
    ActionResult,
    FlagKind,
    Kind,
    Parameter,
    Params,
    RevertibleChange,
)
from sigservice.services.flags.feature_states import FeatureEnvironment
from sigservice.services.flags.feature_switches import SwitchBatch
from sigservice.services.identity import Identity
from sigservice.services.problems import Problems
from sigservice.wording import plural


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
        change = RevertibleChange(
            "state", flag_environment.feature, flag_environment.environment, not self._on, self._on
        )
        if not switches.switch(flag_environment, self._on, by):
            text = f"{where} was already {self._verb.lower()}d."
            return ActionResult(text, unchanged=[change])
        change = msgspec.structs.replace(
            change, added=switches.added.pop(flag_environment, msgspec.UNSET)
        )
        return ActionResult(f"{self._verb}d {where}.", [change])


class ToggleByTag(Kind):
    is_batched = True
    parameters = (
        PROJECT,
        ENVIRONMENT,
        Parameter("tag", "Tag (type:value)", choices_list_name="tags"),
    )

    def __init__(self, on: bool) -> None:
        self._on = on
        self._verb = "Enable" if on else "Disable"
        self.label = f"{self._verb} flags by tag"
        self.description = f"{self._verb}s all flags of the project with the tag."

    def describe(self, params: Params) -> str:
        return f"{self._verb} all flags with {params['tag']} in {params['environment']}"

    def check(self, conn: Connection, project: str, params: Params, problems: Problems) -> None:
        type, colon, value = params["tag"].partition(":")
        if not (type and colon and value):
            problems.add("tag", "The tag must have the form type:value.")
        rows = environments.list_by_project(conn, project)
        if not any(row["name"] == params["environment"] and row["visible"] for row in rows):
            problems.add("environment", "Environment not found in this project.")

    def perform(
        self, switches: SwitchBatch, project: str, params: Params, by: Identity
    ) -> ActionResult:
        environment, tag = params["environment"], params["tag"]
        switches.lock()
        tagged = FeatureFilter(projects=[project], tags=[tag])
        names = [row["name"] for row in features.search(switches.conn, tagged)]
        changed_names = switches.switch_all(project, environment, names, self._on, by)
        changes: list[RevertibleChange] = []
        unchanged: list[RevertibleChange] = []
        for name in names:
            target = FeatureEnvironment(project, name, environment)
            change = RevertibleChange(
                "state",
                name,
                environment,
                not self._on,
                self._on,
                added=switches.added.pop(target, msgspec.UNSET),
            )
            (changes if name in changed_names else unchanged).append(change)
        state, total = f"{self._verb.lower()}d", f"{plural(len(names), 'flag')} with {tag}"
        if not changes:
            text = f"{total}: all already {state} in {environment}."
            return ActionResult(text, unchanged=unchanged)
        text = f"{self._verb}d {plural(len(changes), 'flag')} in {environment} ({total})."
        return ActionResult(text, changes, unchanged)
