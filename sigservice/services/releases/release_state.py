"""A release that has not ended, as read for a decision, and its values for the decision."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import msgspec

from sigservice.clock import Clock
from sigservice.db import Connection, Row
from sigservice.log import Logger, log_error
from sigservice.repository.releases import releases as release_rows
from sigservice.services.flags.feature_states import FeatureEnvironment
from sigservice.services.releases.decision import Situation
from sigservice.services.releases.edits import ContentChange, compare_contents, read_rollout
from sigservice.services.releases.guard_results import GuardRecord
from sigservice.services.releases.plans import Plan, Step
from sigservice.services.releases.windows import is_open
from sigservice.services.system import emergency


class Release(msgspec.Struct, kw_only=True):
    """The columns of the row, and the `present` content of the flag. `now` is the time that counts
    for the whole transaction."""

    id: int
    feature: str
    environment: str
    project: str
    strategy_id: str
    plan: Plan
    state: str
    held_by: str | None
    held_reason: str | None
    held_guard_id: int | None
    step: int
    rollout: int
    start_rollout: int
    rolled_back_from: int | None
    start_at: datetime | None
    entered_at: datetime | None
    due_at: datetime | None
    evidence_at: datetime | None
    resumed_at: datetime | None
    propagation_seconds: int
    auto_resumes: int
    created_at: datetime
    finished_at: datetime | None
    content: dict[str, Any]
    present: dict[str, Any]
    guards: list[GuardRecord]
    is_archived: bool
    is_linked: bool
    frozen_reason: str | None
    now: datetime

    @property
    def target(self) -> FeatureEnvironment:
        return FeatureEnvironment(self.project, self.feature, self.environment)

    @property
    def where(self) -> str:
        return f"{self.feature} in {self.environment}"

    @property
    def present_step(self) -> Step:
        return self.plan.steps[self.step]

    @property
    def is_last_step(self) -> bool:
        return self.step == len(self.plan.steps) - 1

    @property
    def is_active(self) -> bool:
        return self.state in ("scheduled", "running", "held")

    @property
    def resumes_alone(self) -> bool:
        """Whether the guard that holds the release resumes it."""
        return self.held_by == "guard" and any(
            guard.id == self.held_guard_id and guard.definition.autoResume for guard in self.guards
        )

    @property
    def present_rollout(self) -> int:
        """The percentage now, 0 if the strategy was deleted."""
        if self.strategy_id not in self.present["strategies"]:
            return 0
        return read_rollout(self.present, self.strategy_id)

    def find_change(self) -> ContentChange:
        """The change by another user. Before the start, only an end counts."""
        if self.is_archived:
            return ContentChange(end="The flag was archived.")
        if not self.is_linked:
            return ContentChange(end="The project no longer uses the environment.")
        if self.content == self.present:
            return ContentChange()
        change = compare_contents(self.content, self.present, self.strategy_id)
        return ContentChange(end=change.end) if self.state == "scheduled" else change

    def to_situation(self) -> Situation:
        """The release, as `decide` takes it."""
        change = self.find_change()
        watched_from = self.evidence_at or self.created_at
        return Situation(
            state=self.state,  # type: ignore[arg-type]  # active releases have these states only
            held_by=self.held_by,  # type: ignore[arg-type]
            held_guard_id=self.held_guard_id,
            is_last_step=self.is_last_step,
            waits_for_person=self.present_step.waitForPerson,
            due_at=self.due_at or self.start_at or self.created_at,
            watched_from=watched_from + timedelta(seconds=self.propagation_seconds),
            resumed_at=self.resumed_at or self.created_at,
            no_data_minutes=self.plan.noDataMinutes,
            auto_resumes=self.auto_resumes,
            is_window_open=is_open(self.plan.window, self.now),
            is_frozen=self.frozen_reason is not None,
            end=change.end,
            edit=change.edit,
        )


def load(row: Row) -> Release:
    """The release of a row of `list_active`."""
    frozen = emergency.decode(row["emergency"], row["now"]).frozen
    values = row | {
        "plan": msgspec.json.decode(row["plan"], type=Plan),
        "content": msgspec.json.decode(row["content"]),
        "present": msgspec.json.decode(row["present"]),
        "guards": msgspec.json.decode(row["guards"], type=list[GuardRecord]),
        "frozen_reason": frozen.reason if frozen else None,
    }
    return Release(**{name: values[name] for name in Release.__struct_fields__})


def read_all(conn: Connection, ids: list[int], clock: Clock) -> list[Release]:
    """The releases of these IDs. The transaction must hold the lock of revisions, so that they and
    their flags can't change."""
    return [load(row) for row in release_rows.list_active(conn, ids, clock.fixed_now)]


def load_readable(rows: Sequence[Row], logger: Logger) -> list[Release]:
    """The releases of rows of `list_active`. One that can't be read is logged and left out."""
    releases = []
    for row in rows:
        try:
            releases.append(load(row))
        except Exception as error:  # noqa: BLE001  one release must not stop the others
            log_error(logger, f"release {row['id']} can't be read", error)
    return releases


def read_active(conn: Connection, ids: list[int], clock: Clock, logger: Logger) -> list[Release]:
    """The releases of these IDs that can be read and have not ended. The transaction must hold the
    lock of revisions."""
    releases = load_readable(release_rows.list_active(conn, ids, clock.fixed_now), logger)
    return [release for release in releases if release.is_active]
