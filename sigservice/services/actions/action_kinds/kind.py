"""The interface of a kind of action: its description, check and execution."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from sigservice.db.pool import Connection
from sigservice.services.identity import Identity
from sigservice.services.problems import Problems

Params = Mapping[str, Any]


@dataclass(frozen=True)
class Parameter:
    """`type` is select, number or hidden; `choices` is the list of choices: environments,
    features, tags or actionSets."""

    name: str
    label: str
    type: str = "select"
    choices: str = ""
    optional: bool = False


@dataclass(frozen=True)
class FlagChange:
    """One change of an action, with the values that a revert needs.

    `what` is "state" (a flag in an environment, booleans) or "rollout" (of a strategy, as text).
    """

    what: str
    feature: str
    environment: str
    before: Any
    after: Any
    strategy: str = ""


@dataclass(frozen=True)
class ActionResult:
    """`details` is a sentence for people; `changes` is empty if nothing had to change."""

    details: str
    changes: list[FlagChange] = field(default_factory=list)


class Kind(Protocol):
    @property
    def label(self) -> str: ...
    @property
    def description(self) -> str: ...
    @property
    def category(self) -> str: ...
    @property
    def permission(self) -> str: ...
    @property
    def parameters(self) -> tuple[Parameter, ...]: ...

    def describe(self, params: Params) -> str:
        """A short description. `params` must be valid."""

    def check(self, conn: Connection, project: str, params: Params, problems: Problems) -> None:
        """Adds the problems of `params`; paths are the names of parameters."""

    def perform(
        self, conn: Connection, project: str, params: Params, actor: Identity
    ) -> ActionResult:
        """Performs the action in the caller's transaction. Raises AppError without any change."""


PROJECT = Parameter("project", "Project", "hidden")
ENVIRONMENT = Parameter("environment", "Environment", choices="environments")


def plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
