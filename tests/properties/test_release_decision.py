"""Years of simulated time: a release is driven by the decision alone, with random guards, changes
of guards, people, windows, freezes and downtimes, and each decision is compared with a simple model
of the rules."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta

import pytest

from sigservice.services.releases.decision import (
    MAX_AUTO_RESUMES,
    GuardResult,
    Situation,
    decide,
    find_obstacle,
)
from sigservice.services.releases.windows import Window, is_open
from tests.table_tests import each

START = datetime(2026, 3, 1, tzinfo=UTC)
WINDOW = Window("Europe/Berlin", ["mon", "tue", "wed", "thu", "fri"], "09:00", "17:00")
POLL = timedelta(seconds=60)
LAST = 3


class World:
    """A release with its guards, as the service would store them."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.now = START
        self.next_id = 10
        self.has_window = self.random.random() < 0.5
        self.guards = [self.make_guard(id) for id in range(self.random.randint(0, 3))]
        self.state, self.held_by, self.held_guard_id = "scheduled", None, None
        self.step, self.auto_resumes, self.waits = 0, 0, self.random.random() < 0.3
        self.due_at, self.watched_from, self.resumed_at = START, START, START
        self.frozen, self.end, self.edit = False, "", ""
        self.steps_taken: list[int] = []
        self.rollbacks = 0

    def make_guard(self, id: int) -> GuardResult:
        effect = self.random.choice(["hold", "rollBack"])
        return GuardResult(
            id=id,
            effect=effect,
            state="ok",
            since=self.now,
            is_dry_run=self.random.random() < 0.2,
            auto_resume=effect == "hold" and self.random.random() < 0.5,
            has_value=self.random.random() < 0.3,
            covers_from=self.now,
            delay=timedelta(seconds=60),
        )

    def situation(self) -> Situation:
        return Situation(
            state=self.state,
            held_by=self.held_by,
            held_guard_id=self.held_guard_id,
            is_last_step=self.step == LAST,
            waits_for_person=self.waits,
            due_at=self.due_at,
            watched_from=self.watched_from,
            resumed_at=self.resumed_at,
            auto_resumes=self.auto_resumes,
            is_window_open=is_open(WINDOW if self.has_window else None, self.now),
            is_frozen=self.frozen,
            end=self.end,
            edit=self.edit,
        )

    def change(self) -> None:
        """Something happens: mostly nothing but time."""
        self.now += timedelta(seconds=self.random.choice([1, 30, 300, 3600, 86_400]))
        index = self.random.randrange(len(self.guards)) if self.guards else None
        if index is not None and self.random.random() < 0.3:
            self.set_guard(index)
        if self.random.random() < 0.05:
            self.edit_guards()
        roll = self.random.random()
        if roll < 0.02:
            self.frozen = not self.frozen
        elif roll < 0.05:
            self.edit = "" if self.edit else "changed"
        elif roll < 0.08 and self.state == "running":
            self.state, self.held_by, self.held_guard_id = "held", "person", None
        elif roll < 0.3 and self.state == "held" and not self.fires():
            self.resume()
        elif roll < 0.301:
            self.end = "deleted"

    def set_guard(self, index: int) -> None:
        guard = self.guards[index]
        state = self.random.choice(["ok", "ok", "ok", "firing", "unknown"])
        if guard.effect == "rollBack" and state == "firing" and self.random.random() < 0.9:
            state = "ok"
        self.guards[index] = GuardResult(
            **{name: getattr(guard, name) for name in GuardResult.__struct_fields__}
            | {
                "state": state,
                "since": self.now if state != guard.state else guard.since,
                "covers_from": self.now - timedelta(minutes=5),
                "is_current": self.random.random() < 0.9,
            }
        )

    def edit_guards(self) -> None:
        """A person removes a guard, changes one or adds one: the last two are new guards, which
        don't fire."""
        if self.guards and self.random.random() < 0.7:
            self.guards.pop(self.random.randrange(len(self.guards)))
        if self.random.random() < 0.7:
            self.next_id += 1
            self.guards.append(self.make_guard(self.next_id))

    def fires(self) -> bool:
        return any(guard.state == "firing" for guard in self.active())

    def active(self) -> list[GuardResult]:
        return [guard for guard in self.guards if not guard.is_dry_run]

    def resume(self) -> None:
        self.state, self.held_by, self.edit = "running", None, ""
        self.resumed_at = self.now
        if self.now >= self.due_at:
            self.watched_from = self.now + POLL

    def apply(self, action: str, held_by: str | None, guard_id: int | None) -> None:
        if action in ("start", "advance"):
            self.step = 0 if action == "start" else self.step + 1
            self.steps_taken.append(self.step)
            self.state, self.due_at = "running", self.now + timedelta(minutes=30)
            self.watched_from, self.resumed_at = self.now + POLL, self.now
        elif action == "resume":
            self.auto_resumes += 1
            self.resume()
        elif action == "hold":
            self.state, self.held_by, self.held_guard_id = "held", held_by, guard_id
        elif action == "rollBack":
            self.rollbacks += 1
            self.state = "rolledBack"
        else:
            self.state = {"finish": "finished", "stop": "stopped"}[action]

    def has_watched(self) -> bool:
        return all(
            guard.is_current
            and (guard.covers_from if guard.has_value else self.now)
            >= self.watched_from + guard.delay
            for guard in self.active()
        )


def check(world: World, action: str, held_by: str | None) -> None:
    """The model: what may happen, and what must."""
    guards, was = world.active(), world.state
    must_roll_back = was != "scheduled" and any(
        guard.effect == "rollBack" and guard.state == "firing" for guard in guards
    )
    assert (action == "stop") == bool(world.end)
    assert (action == "rollBack") == (must_roll_back and not world.end)
    if action in ("advance", "finish"):
        assert was == "running"
        assert all(guard.state == "ok" for guard in guards)
        assert world.has_watched()
        assert not world.edit
        assert world.now >= world.due_at
        assert not world.waits
    if action in ("advance", "start"):
        assert not world.frozen
        assert is_open(WINDOW if world.has_window else None, world.now)
        assert not world.fires()
    if action == "resume":
        assert (was, world.held_by) == ("held", "guard")
        assert world.auto_resumes < MAX_AUTO_RESUMES
        assert not world.edit
        assert not world.frozen
        assert all(guard.state == "ok" for guard in guards)
        assert [g.auto_resume for g in guards if g.id == world.held_guard_id] == [True]
    if was == "held" and world.held_by == "guard" and action in ("advance", "finish", "resume"):
        assert world.held_guard_id in [guard.id for guard in guards]
    if action == "hold":
        assert was in ("running", "held")
        if held_by == "edit":
            assert world.edit
        if held_by == "guard":
            assert any(guard.state == "firing" for guard in guards)
        if held_by == "noData":
            assert any(guard.state == "unknown" for guard in guards)
    if world.edit and was in ("running", "held") and not must_roll_back and not world.end:
        assert action == ("stay" if world.held_by == "edit" else "hold")


@each("seed", range(60))
def test_decisions_follow_the_model_for_years(seed):
    world = World(seed)
    for _ in range(1500):
        world.change()
        for _ in range(6):
            decision = decide(world.situation(), world.guards, world.now)
            check(world, decision.action, decision.held_by)
            if decision.action == "stay":
                break
            world.apply(decision.action, decision.held_by, decision.guard_id)
            if world.state not in ("scheduled", "running", "held"):
                break
        else:
            pytest.fail("the decision never comes to an end")
        if world.state not in ("scheduled", "running", "held"):
            break
    assert world.rollbacks <= 1
    assert world.steps_taken == list(range(len(world.steps_taken)))


@each("seed", range(20))
def test_a_release_without_problems_always_finishes(seed):
    world = World(seed)
    world.waits = False
    for _ in range(2000):
        world.now += timedelta(minutes=30)
        world.guards = [
            GuardResult(
                **{name: getattr(guard, name) for name in GuardResult.__struct_fields__}
                | {
                    "state": "ok",
                    "is_current": True,
                    "covers_from": world.now - timedelta(minutes=5),
                }
            )
            for guard in world.guards
        ]
        decision = decide(world.situation(), world.guards, world.now)
        if decision.action != "stay":
            world.apply(decision.action, decision.held_by, decision.guard_id)
        if world.state == "finished":
            break
    assert (world.state, world.steps_taken) == ("finished", [0, 1, 2, 3])


@each("seed", range(20))
def test_what_a_person_may_do_has_no_obstacle_that_a_step_has(seed):
    world = World(seed)
    for _ in range(500):
        world.change()
        if world.state not in ("scheduled", "running", "held"):
            break
        decision = decide(world.situation(), world.guards, world.now)
        if decision.action in ("advance", "finish"):
            assert find_obstacle(world.situation(), world.guards, world.now) == "" or world.frozen
        if decision.action != "stay":
            world.apply(decision.action, decision.held_by, decision.guard_id)
