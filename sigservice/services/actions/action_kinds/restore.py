"""Restores what the newest run of another set changed."""

from __future__ import annotations

from sigservice.db.pool import Connection
from sigservice.errors import NotFoundError
from sigservice.repository.actions import action_runs, action_sets
from sigservice.services.actions import action_undo
from sigservice.services.actions.action_kinds.kind import (
    PROJECT,
    Outcome,
    Parameter,
    Params,
)
from sigservice.services.identity import Identity
from sigservice.services.problems import Problems


class Restore:
    label = "Restore what another set changed"
    description = "Undoes the newest run of another action set that changed something."
    category = "Feature flags"
    permission = "UPDATE_FEATURE_ENVIRONMENT"
    parameters = (PROJECT, Parameter("actionSet", "Action set", choices="actionSets"))

    def words(self, params: Params) -> str:
        return f"Restore what {params['actionSet']} changed"

    def check(self, conn: Connection, project: str, params: Params, problems: Problems) -> None:
        if _set_of(conn, project, params) is None:
            problems.add("actionSet", "There is no such action set in the project.")

    def perform(self, conn: Connection, project: str, params: Params, actor: Identity) -> Outcome:
        found = _set_of(conn, project, params)
        if found is None:
            raise NotFoundError("The action set that is to be restored is gone.")
        run = action_runs.find_restorable(conn, found)
        if run is None:
            return Outcome("There is no run that could be undone.")
        outcome = action_undo.restore(conn, project, [run], actor)
        action_runs.mark_restored(conn, [run["id"]], by=None)
        return outcome


def _set_of(conn: Connection, project: str, params: Params) -> int | None:
    text = str(params["actionSet"])
    id = int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0
    row = action_sets.find(conn, project, id)
    return row["id"] if row else None
