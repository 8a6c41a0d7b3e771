"""Adds a strategy as it was planned."""

import msgspec

from sigservice.db import Connection
from sigservice.errors import AppError, BadDataError
from sigservice.services.actions.action_kinds.kind import (
    ENVIRONMENT,
    FLAG,
    PROJECT,
    ActionResult,
    FlagKind,
    Parameter,
    Params,
)
from sigservice.services.actions.action_kinds.update_strategy import name_strategy, read_strategy
from sigservice.services.flags import strategies
from sigservice.services.flags.feature_switches import SwitchBatch
from sigservice.services.identity import Identity
from sigservice.services.problems import Problems

NAME = "ADD_FEATURE_STRATEGY"


class AddStrategy(FlagKind):
    """`strategy` is JSON of the admin API."""

    label = "Add strategy"
    description = "Adds a strategy to a flag."
    permission = "CREATE_FEATURE_STRATEGY"
    parameters = (PROJECT, ENVIRONMENT, FLAG, Parameter("strategy", "New strategy", "hidden"))

    def __init__(self, max_segments: int) -> None:
        self._max_segments = max_segments

    def describe(self, params: Params) -> str:
        new = read_strategy(params["strategy"])
        rollout = new.parameters.get("rollout")
        name = name_strategy(new) + (f" {rollout}%" if rollout else "")
        return f"Add {name} to {params['featureName']} in {params['environment']}"

    def check(self, conn: Connection, project: str, params: Params, problems: Problems) -> None:
        super().check(conn, project, params, problems)
        try:
            new, flag = read_strategy(params["strategy"]), params["featureName"]
            strategies.validate(conn, new, flag, project=project, max_segments=self._max_segments)
        except (BadDataError, msgspec.ValidationError) as error:
            problems.add("strategy", f"Must be a strategy as JSON: {error}")
        except AppError as error:
            problems.add("strategy", error.message)

    def perform(
        self, switches: SwitchBatch, project: str, params: Params, by: Identity
    ) -> ActionResult:
        conn = switches.conn
        target = self.lock_target(conn, project, params)
        new = read_strategy(params["strategy"])
        strategies.add(conn, target, new, by, max_segments=self._max_segments)
        return ActionResult(f"{self.describe(params)}.")


def find_import_obstacle(_conn: Connection, _project: str, params: Params) -> str:
    """Why these parameters, from another server, mean something else here; "" if they don't."""
    try:
        has_segments = bool(read_strategy(params["strategy"]).segments)
    except (AppError, msgspec.ValidationError, LookupError, TypeError, AttributeError):
        return ""  # the check of the action reports the problem
    return "it adds a strategy with segments, whose IDs are others here" if has_segments else ""
