"""What a kind of action is: how it is described, checked, performed."""

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
    """`type` is select, number or hidden; `choices` names the list that the form offers:
    environments, features, tags, actionSets."""

    name: str
    label: str
    type: str = "select"
    choices: str = ""
    optional: bool = False


@dataclass(frozen=True)
class Change:
    """One thing that an action changed, as it was and as it is: what undoing needs.

    `what` is "state" (a flag in an environment, booleans) or "rollout" (a strategy's, in text).
    """

    what: str
    feature: str
    environment: str
    before: Any
    after: Any
    strategy: str = ""


@dataclass(frozen=True)
class Outcome:
    """`details` is a sentence for people; `changes` is empty when all was so already."""

    details: str
    changes: list[Change] = field(default_factory=list)


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

    def words(self, params: Params) -> str:
        """What it does, in a few words. `params` have been checked."""

    def check(self, conn: Connection, project: str, params: Params, problems: Problems) -> None:
        """What is wrong with `params` when a set is saved; paths are the parameters' names."""

    def perform(self, conn: Connection, project: str, params: Params, actor: Identity) -> Outcome:
        """Does it, in the caller's transaction. Raises AppError, and then nothing is changed."""


PROJECT = Parameter("project", "Project", "hidden")
ENVIRONMENT = Parameter("environment", "Environment", choices="environments")


def plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
