"""Decides what a release does next: one function over plain values.

A release moves through its steps while guards watch. `decide` is called again and again, with the
state of the release, the results of its guards and the time, and returns one action. Callers store
what it says in the transaction in which they read the values. It reads nothing itself, keeps
nothing and has no clock, so the same values always have the same answer.

The rules, in their order; the first that applies decides:

1. Nothing is left to release (the strategy was deleted, the flag archived): stop.
2. A guard that rolls back fires: roll back, also while the release is held.
3. Another user changed the flag: hold, until a person says which change counts.
4. A guard that holds fires: hold. If it says so, the release resumes when it is ok again.
5. A guard has no data: don't go on. After a time: hold.
6. The time of the step isn't over, the window is closed, or releases are frozen: don't go on.
7. A guard has not yet watched this step, or its evaluation is behind: don't go on.
8. The step waits for a person: hold.
9. Go on to the next step. After the last one, the release is finished.

A scheduled release hasn't enabled the flag for any user, so it only waits: for its time, the
window, a freeze and firing guards. Guards of a dry run decide nothing.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Literal

import msgspec

MAX_AUTO_RESUMES = 3
UNWATCHED = "A guard has not watched this step yet."

Action = Literal["stay", "start", "advance", "finish", "hold", "resume", "rollBack", "stop"]
HeldBy = Literal["person", "guard", "noData", "edit", "step"]


class GuardResult(msgspec.Struct, frozen=True, kw_only=True):
    """The last result of a guard. `reason` is a sentence for people. For a guard with a number,
    `covers_from` is the start of the time that the value covers, and `delay` the age of a value
    when it arrives; `covers_from` is None for the others, which notice an event at once. A result
    that isn't current is overdue: its evaluation is behind."""

    id: int
    effect: Literal["hold", "rollBack"]
    state: Literal["ok", "firing", "unknown"]
    since: datetime
    reason: str = ""
    is_dry_run: bool = False
    auto_resume: bool = False
    has_value: bool = False
    covers_from: datetime | None = None
    delay: timedelta = timedelta(0)
    is_current: bool = True


class Situation(msgspec.Struct, frozen=True, kw_only=True):
    """A release and its surroundings. `due_at` is the time when the step ends, or when a scheduled
    release starts. From `watched_from` on, SDKs have the step; guards must have watched after that
    time. `end` and `edit` are sentences about what happened to the flag, "" if nothing happened."""

    state: Literal["scheduled", "running", "held"]
    held_by: HeldBy | None = None
    held_guard_id: int | None = None
    is_last_step: bool = False
    waits_for_person: bool = False
    due_at: datetime
    watched_from: datetime
    resumed_at: datetime
    no_data_minutes: int = 30
    auto_resumes: int = 0
    is_window_open: bool = True
    is_frozen: bool = False
    end: str = ""
    edit: str = ""


class Decision(msgspec.Struct, frozen=True):
    """`guard_id` is the guard that decided, if one did."""

    action: Action
    reason: str = ""
    held_by: HeldBy | None = None
    guard_id: int | None = None


def decide(release: Situation, guards: Sequence[GuardResult], now: datetime) -> Decision:
    """The one action that comes next."""
    active = list_active(guards)
    if release.end:
        return Decision("stop", release.end)
    if release.state == "scheduled":
        return _decide_start(release, active, now)
    for guard in active:
        if guard.effect == "rollBack" and guard.state == "firing":
            return Decision("rollBack", guard.reason, guard_id=guard.id)
    if release.edit and release.held_by != "edit":
        return Decision("hold", release.edit, "edit")
    if release.held_by in ("person", "edit"):
        return Decision("stay")
    if release.state == "held":
        return _decide_held(release, active)
    return _decide_step(release, active, now)


def find_obstacle(release: Situation, guards: Sequence[GuardResult], now: datetime) -> str:
    """Why the release can't go on even if a person wants it, "" if it can. Ignores the rules that
    only wait: for the time of the step, the window and a person."""
    active = list_active(guards)
    problem = next((g for g in active if g.state != "ok"), None)
    if release.end or release.edit:
        return release.end or release.edit
    if problem is not None:
        return problem.reason
    if release.is_frozen:
        return "Releases are frozen."
    return UNWATCHED if _find_unwatched(release, active, now) else ""


def list_active(guards: Sequence[GuardResult]) -> list[GuardResult]:
    """The guards that decide, which are not of a dry run."""
    return [guard for guard in guards if not guard.is_dry_run]


def _decide_start(release: Situation, guards: Sequence[GuardResult], now: datetime) -> Decision:
    firing = next((guard for guard in guards if guard.state == "firing"), None)
    if now < release.due_at or release.is_frozen or not release.is_window_open or firing:
        return Decision("stay", firing.reason if firing else "")
    return Decision("start")


def _decide_held(release: Situation, guards: Sequence[GuardResult]) -> Decision:
    """For a release that a guard, missing data or a step holds. Only a person continues it, or a
    guard that resumes its own hold: once all guards are ok, and only a few times."""
    firing = [guard for guard in guards if guard.state == "firing"]
    strict = next((g for g in firing if not g.auto_resume), None) or next(iter(firing), None)
    holder = next((g for g in guards if g.id == release.held_guard_id), None)
    is_weaker = release.held_by == "noData" or (holder is not None and holder.auto_resume)
    if strict and (release.held_by == "step" or (is_weaker and not strict.auto_resume)):
        return Decision("hold", strict.reason, "guard", strict.id)
    can_resume = (
        release.held_by == "guard"
        and holder is not None
        and holder.auto_resume
        and release.auto_resumes < MAX_AUTO_RESUMES
        and not release.is_frozen
    )
    if can_resume and all(guard.state == "ok" for guard in guards):
        return Decision("resume", "All guards are ok.", guard_id=release.held_guard_id)
    return Decision("stay")


def _decide_step(release: Situation, guards: Sequence[GuardResult], now: datetime) -> Decision:
    for guard in guards:
        if guard.state == "firing":
            return Decision("hold", guard.reason, "guard", guard.id)
    for guard in guards:
        if guard.state == "unknown":
            since = max(guard.since, release.resumed_at)
            if now - since >= timedelta(minutes=release.no_data_minutes):
                return Decision("hold", guard.reason, "noData", guard.id)
            return Decision("stay", guard.reason, guard_id=guard.id)
    if now < release.due_at:
        return Decision("stay")
    if not release.is_last_step:  # the end of the watch changes no percentage
        if not release.is_window_open:
            return Decision("stay", "The window is closed.")
        if release.is_frozen:
            return Decision("stay", "Releases are frozen.")
    if unwatched := _find_unwatched(release, guards, now):
        return Decision("stay", UNWATCHED, guard_id=unwatched.id)
    if release.waits_for_person:
        return Decision("hold", "The step waits for a person.", "step")
    return Decision("finish" if release.is_last_step else "advance")


def _find_unwatched(
    release: Situation, guards: Sequence[GuardResult], now: datetime
) -> GuardResult | None:
    """The first guard whose result says nothing about the present step."""
    for guard in guards:
        watched_to = guard.covers_from if guard.has_value else now
        if (
            not guard.is_current
            or watched_to is None
            or watched_to < release.watched_from + guard.delay
        ):
            return guard
    return None
