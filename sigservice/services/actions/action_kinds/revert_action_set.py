"""Reverts the newest run of another action set."""

from sigservice.db import Connection
from sigservice.errors import NotFoundError
from sigservice.repository.actions import action_runs, action_sets
from sigservice.services.actions import action_reverts
from sigservice.services.actions.action_kinds.kind import (
    PROJECT,
    ActionResult,
    Kind,
    Parameter,
    Params,
)
from sigservice.services.flags.feature_switches import SwitchBatch
from sigservice.services.identity import Identity
from sigservice.services.problems import Problems


class RevertActionSet(Kind):
    label = "Revert another action set"
    description = "Reverts the newest run of another action set that changed flags."
    parameters = (PROJECT, Parameter("actionSet", "Action set", choices_list_name="actionSets"))

    def describe(self, params: Params) -> str:
        return f"Revert the changes of {params['actionSet']}"

    def check(self, conn: Connection, project: str, params: Params, problems: Problems) -> None:
        if _find_set_id(conn, project, params) is None:
            problems.add("actionSet", "Action set not found in this project.")

    def perform(
        self, switches: SwitchBatch, project: str, params: Params, by: Identity
    ) -> ActionResult:
        conn = switches.conn
        set_id = _find_set_id(conn, project, params)
        if set_id is None:
            raise NotFoundError("The action set to revert was deleted.")
        run = action_runs.find_revertible(conn, set_id)
        if run is None:
            return ActionResult("No run to revert.")
        result = action_reverts.revert_runs(conn, project, [run], by)
        action_runs.mark_reverted_by_action(conn, run["id"])
        return result


def _find_set_id(conn: Connection, project: str, params: Params) -> int | None:
    text = str(params["actionSet"])
    id = int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0
    row = action_sets.find(conn, project, id)
    return row["id"] if row else None
