"""Actions of action sets on the release of a flag: hold it, roll it back."""

from typing import Literal

from sigservice.clock import Clock
from sigservice.db import Connection
from sigservice.repository.releases import releases as release_rows
from sigservice.services import revisions
from sigservice.services.actions.action_kinds.kind import (
    ENVIRONMENT,
    FLAG,
    PROJECT,
    ActionResult,
    FlagKind,
    Params,
)
from sigservice.services.flags.feature_switches import SwitchBatch
from sigservice.services.identity import Identity
from sigservice.services.releases import release_progress
from sigservice.services.releases.release_journal import Journal
from sigservice.services.releases.release_state import Release, read_all


class ReleaseAction(FlagKind):
    """Succeeds without a change if no release runs or is held. A hold takes over from a guard that
    would resume the release. An auto-revert doesn't start a release again."""

    category = "Releases"
    parameters = (PROJECT, ENVIRONMENT, FLAG)

    def __init__(self, effect: Literal["hold", "rollBack"]) -> None:
        self._effect = effect
        self._verb, verbs = ("Hold", "Holds") if effect == "hold" else ("Roll back", "Rolls back")
        self.label = f"{self._verb} release"
        self.description = f"{verbs} the release of a flag in one environment."

    def describe(self, params: Params) -> str:
        return f"{self._verb} the release of {params['featureName']} in {params['environment']}"

    def perform(
        self, switches: SwitchBatch, project: str, params: Params, by: Identity
    ) -> ActionResult:
        target = self.make_target(project, params)
        revisions.lock(switches.conn)
        rows = release_rows.list_newest(
            switches.conn,
            feature=target.feature,
            environment=target.environment,
            project=project,
            states=["running", "held"],
        )
        for release in read_all(switches.conn, [row["id"] for row in rows], Clock()):
            if self._effect == "rollBack" or release.state == "running" or release.resumes_alone:
                return ActionResult(self._change(switches.conn, release, by))
        return ActionResult(f"{target.feature} in {target.environment} has no such release.")

    def _change(self, conn: Connection, release: Release, by: Identity) -> str:
        journal, reason = Journal(), "An action set ran."
        if by.action_run is not None:
            reason = f"The action set {by.action_run['actionSet']} ran."
        if self._effect == "hold":
            release_progress.hold(release, "person", reason)
            journal.add(release, "held", by=by, reason=reason)
        else:
            rollout = min(release.present_rollout, release.start_rollout)
            release_progress.roll_back(conn, release, rollout, by, journal, reason)
        release_progress.store(conn, release, journal)
        return journal.last_text


KINDS = {"HOLD_RELEASE": ReleaseAction("hold"), "ROLL_BACK_RELEASE": ReleaseAction("rollBack")}
