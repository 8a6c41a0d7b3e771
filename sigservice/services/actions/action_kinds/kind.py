"""The interface of a kind of action: its description, check and execution."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from sigservice.db import Connection
from sigservice.errors import AppError
from sigservice.services.flags.feature_states import FeatureEnvironment, get_state
from sigservice.services.flags.feature_switches import SwitchBatch
from sigservice.services.identity import Identity
from sigservice.services.problems import Problems

Params = Mapping[str, Any]


@dataclass(frozen=True)
class Parameter:
    """`type` is select, number or hidden; `choices_list_name` is the list of choices: environments,
    features or tags."""

    name: str
    label: str
    type: str = "select"
    choices_list_name: str = ""
    optional: bool = False


class RevertibleChange(msgspec.Struct, frozen=True, rename={"changed_property": "what"}):
    """One change of an action, with the values that a revert needs.

    `changed_property` is "state" (of a flag in an environment, booleans) or "rollout" (of a
    strategy, text); the stored JSON calls it `what`. `added` is the strategy that enabling the flag
    added, in the format of the API.
    """

    changed_property: str
    feature: str
    environment: str
    before: Any
    after: Any
    strategy: str = ""
    added: dict[str, Any] | msgspec.UnsetType = msgspec.UNSET


@dataclass(frozen=True)
class ActionResult:
    """`details` is a sentence for people; `changes` is empty if nothing had to change. `unchanged`
    are the changes of flags that had the state already."""

    details: str
    changes: list[RevertibleChange] = field(default_factory=list)
    unchanged: list[RevertibleChange] = field(default_factory=list)


class Kind(ABC):
    """`is_batched`: `perform` reads and changes states of flags only, and only through
    `switches`."""

    label: str
    description: str
    parameters: tuple[Parameter, ...]
    category = "Feature flags"
    permission = "UPDATE_FEATURE_ENVIRONMENT"
    is_batched = False

    @abstractmethod
    def describe(self, params: Params) -> str:
        """A short description. `params` must be valid."""

    @abstractmethod
    def check(self, conn: Connection, project: str, params: Params, problems: Problems) -> None:
        """Adds the problems of `params`; paths are the names of parameters."""

    def list_targets(self, project: str, params: Params) -> list[FeatureEnvironment]:
        """The flags whose states a batch reads in advance."""
        return []

    @abstractmethod
    def perform(
        self, switches: SwitchBatch, project: str, params: Params, by: Identity
    ) -> ActionResult:
        """Performs the action in the caller's transaction. The caller writes the switches before
        and after a kind that isn't batched. A batched kind that raises AppError has changed
        nothing."""


class FlagKind(Kind):
    """A kind that changes the flag `featureName` in one environment."""

    def check(self, conn: Connection, project: str, params: Params, problems: Problems) -> None:
        try:
            get_state(conn, self.make_target(project, params))
        except AppError as error:
            problems.add("featureName", error.message)

    def make_target(self, project: str, params: Params) -> FeatureEnvironment:
        return FeatureEnvironment(project, params["featureName"], params["environment"])


def perform_and_write(
    kind: Kind, conn: Connection, project: str, params: Params, by: Identity
) -> ActionResult:
    """Performs and writes one action. Raises AppError."""
    switches = SwitchBatch(conn)
    result = kind.perform(switches, project, params, by)
    switches.write()
    return result


PROJECT = Parameter("project", "Project", "hidden")
ENVIRONMENT = Parameter("environment", "Environment", choices_list_name="environments")
FLAG = Parameter("featureName", "Flag", choices_list_name="features")
