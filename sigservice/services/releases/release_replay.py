"""The outcome that a release would have had in the past, by the times at which its guards were
broken.

It leaves out what a replay can't know: guards without data, the window, and how long a person would
have waited.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Literal, NamedTuple

from sigservice.clock import parse_iso
from sigservice.services.releases.plans import Guard, Step

STARTS = 48  # one each hour


class Period(NamedTuple):
    """A time in which a guard was broken."""

    start: datetime
    stop: datetime


class ReplayGuard(NamedTuple):
    """`number` counts from 1."""

    number: int
    rolls_back: bool
    periods: Sequence[Period]


class Outcome(NamedTuple):
    """How a release that starts at a given time ends: its state, at which step (from 0), when, and
    by which guard (0 for none)."""

    state: Literal["finished", "rolledBack", "held", "running"]
    step: int
    at: datetime
    guard: int = 0


def list_guards(
    guards: Sequence[Guard], previews: Sequence[Mapping[str, Any]], now: datetime
) -> list[ReplayGuard]:
    """The guards that act. `previews` are the results of a preview, one for each guard."""
    return [
        ReplayGuard(number, guard.effect == "rollBack", _list_periods(preview["series"], now))
        for number, (guard, preview) in enumerate(zip(guards, previews, strict=True), 1)
        if not guard.dryRun
    ]


def replay(
    steps: Sequence[Step],
    watch_minutes: int,
    guards: Sequence[ReplayGuard],
    start: datetime,
    now: datetime,
) -> Outcome:
    """The outcome of a release that starts at `start`."""
    entered_at = start
    for number, step in enumerate(steps):
        minutes = watch_minutes if step.minutes is None else step.minutes
        left_at = entered_at + timedelta(minutes=minutes)
        breaks = [
            (max(period.start, entered_at), not guard.rolls_back, guard.number)
            for guard in guards
            for period in guard.periods
            if period.start <= min(left_at, now) and period.stop > entered_at
        ]
        if breaks:
            at, holds, guard_number = min(breaks)
            return Outcome("held" if holds else "rolledBack", number, at, guard_number)
        if left_at > now:
            return Outcome("running", number, now)
        entered_at = left_at
    return Outcome("finished", len(steps) - 1, entered_at)


def replay_starts(
    steps: Sequence[Step], watch_minutes: int, guards: Sequence[ReplayGuard], now: datetime
) -> list[Outcome]:
    """The outcomes of releases that start 48 hours ago, 47 hours ago and so on."""
    starts = [now - timedelta(hours=ago) for ago in range(STARTS, 0, -1)]
    return [replay(steps, watch_minutes, guards, start, now) for start in starts]


def _list_periods(series: Sequence[Mapping[str, Any]], now: datetime) -> list[Period]:
    periods: list[Period] = []
    start: datetime | None = None
    for point in series:
        at = parse_iso(point["at"])
        if point["firing"] and start is None:
            start = at
        elif not point["firing"] and start is not None and at is not None:
            periods.append(Period(start, at))
            start = None
    return periods if start is None else [*periods, Period(start, now)]
