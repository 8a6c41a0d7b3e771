"""What a release would have done in the past."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from sigservice.clock import format_iso
from sigservice.services.releases.plans import SilenceGuard, Step
from sigservice.services.releases.release_replay import (
    Outcome,
    Period,
    ReplayGuard,
    list_guards,
    replay,
    replay_starts,
)

START = datetime(2026, 11, 22, 6, tzinfo=UTC)
NOW = START + timedelta(hours=48)
STEPS = [Step(5, 30), Step(25, 30), Step(100)]


def minute(number: float) -> datetime:
    return START + timedelta(minutes=number)


def make_guard(start: float, stop: float, *, rolls_back: bool = True, number: int = 1):
    return ReplayGuard(number, rolls_back, [Period(minute(start), minute(stop))])


def test_without_broken_guards_a_release_finishes_after_its_steps_and_watch_time():
    assert replay(STEPS, 60, [], START, NOW) == Outcome("finished", 2, minute(120))


def test_a_guard_that_breaks_rolls_back_in_its_step():
    outcome = replay(STEPS, 60, [make_guard(34, 50)], START, NOW)
    assert outcome == Outcome("rolledBack", 1, minute(34), 1)


def test_a_guard_that_holds_ends_the_replay_on_hold():
    outcome = replay(STEPS, 60, [make_guard(70, 80, rolls_back=False)], START, NOW)
    assert outcome == Outcome("held", 2, minute(70), 1)


def test_the_guard_that_broke_first_decides():
    guards = [make_guard(40, 50), make_guard(35, 36, rolls_back=False, number=2)]
    assert replay(STEPS, 60, guards, START, NOW) == Outcome("held", 1, minute(35), 2)


def test_a_guard_that_was_broken_already_decides_at_once():
    assert replay(STEPS, 60, [make_guard(-10, 5)], START, NOW).at == START


def test_a_guard_that_was_ok_again_decides_nothing():
    assert replay(STEPS, 60, [make_guard(-10, 0)], START, NOW).state == "finished"


def test_a_long_release_is_still_running():
    assert replay([Step(5, 60 * 50), Step(100)], 60, [], START, NOW) == Outcome("running", 0, NOW)


def test_each_hour_has_a_start():
    outcomes = replay_starts(STEPS, 60, [make_guard(0, 90)], NOW)
    assert [outcome.state for outcome in outcomes[:3]] == ["rolledBack", "rolledBack", "finished"]
    assert (len(outcomes), outcomes[-1].state) == (48, "running")


def test_periods_are_from_the_first_broken_point_to_the_next_ok_one():
    series = [
        {"at": format_iso(minute(number)), "firing": firing}
        for number, firing in ((0, False), (10, True), (20, True), (30, False), (40, True))
    ]
    dry = SilenceGuard(endpointId=1, effect="hold", dryRun=True)
    acting = SilenceGuard(endpointId=1, effect="hold")
    (guard,) = list_guards([dry, acting], [{"series": []}, {"series": series}], NOW)
    assert guard == ReplayGuard(2, False, [Period(minute(10), minute(30)), Period(minute(40), NOW)])
