"""Random sequences of time, signals, edits, commands and processes against the rules of releases,
and a release over a weekend with a window and a change of clocks.
"""

from __future__ import annotations

import random
from datetime import UTC, datetime

import pytest

from tests.conftest import ADMIN
from tests.jobs.release_kit import Releases
from tests.samples import sample

STEPS = [
    {"rollout": 5, "minutes": 10},
    {"rollout": 25, "minutes": 10},
    {"rollout": 60, "minutes": 10, "waitForPerson": True},
    {"rollout": 100},
]
COMMANDS = ("hold", "resume", "advance", "rollback", "stop", "start")


@pytest.fixture
def kit(service, clock):
    return Releases(service, clock)


class Sequence:
    """Random operations on one release, which check the rules after each."""

    def __init__(self, kit, seed):
        self.kit, self.random = kit, random.Random(seed)
        self.endpoint = kit.endpoint()
        effects = self.random.choice([["hold"], ["rollBack"], ["hold", "rollBack"]])
        auto = self.random.random() < 0.5
        self.guards = [
            kit.guard(self.endpoint, effect, **({"autoResume": auto} if effect == "hold" else {}))
            for effect in effects
        ]
        self.release = kit.create(steps=STEPS, guards=self.guards, watchMinutes=20)
        self.fires, self.rollout, self.by_person = False, kit.rollout(), False

    def run(self, count):
        for _ in range(count):
            self.by_person = False
            before = self.kit.read(self.release)
            self.operate()
            self.check(before)

    def operate(self):
        roll = self.random.random()
        if roll < 0.45:
            self.kit.wait(self.random.choice([0.5, 2, 6]))
        elif roll < 0.5:
            self.kit.jump(self.random.choice([5, 60]))
            self.kit.progress()
        elif roll < 0.65:
            self.fires = self.random.random() < 0.4
            self.kit.signal("firing" if self.fires else "resolved")
        elif roll < 0.72:
            self.by_person = True
            self.kit.edit_strategy(rollout=str(self.random.choice([0, 5, 40, 100])))
            self.kit.progress()
        elif roll < 0.8:
            self.edit_guards()
        else:
            self.by_person = True
            self.command(self.random.choice(COMMANDS))

    def edit_guards(self):
        """A new guard that fires is refused."""
        before = self.kit.read(self.release)
        guards = self.random.choice([[], self.guards, self.guards[:1], self.guards[::-1]])
        path = f"{self.kit.place}/releases/{self.release['id']}/guards"
        body = {"guards": guards, "guardIds": [guard["id"] for guard in before["guards"]]}
        self.kit.web.put_json(path, body, headers=ADMIN, expect_errors=True)
        ids = {guard["id"]: guard["state"] for guard in before["guards"]}
        for guard in self.kit.read(self.release)["guards"]:
            assert guard["state"] == ids.get(guard["id"], "ok")

    def command(self, name):
        path = f"{self.kit.place}/releases/{self.release['id']}/{name}"
        body = {"adopt": self.random.random() < 0.5} if name == "resume" else {}
        self.kit.web.post_json(path, body, headers=ADMIN, expect_errors=True)

    def check(self, before):
        now, rollout = self.kit.read(self.release), self.kit.rollout()
        types = self.kit.event_types(self.release)
        assert types.count("rolledBack") <= 1
        if before["state"] in ("finished", "stopped", "rolledBack") and not self.by_person:
            assert (now["state"], rollout) == (before["state"], self.rollout)
        if not self.by_person:
            if rollout > self.rollout:
                assert now["step"] == before["step"] + 1
                assert rollout == STEPS[now["step"]]["rollout"]
                assert not (self.fires and now["guards"])
            if rollout < self.rollout:
                assert now["state"] == "rolledBack"
        if self.fires and now["guards"] and now["state"] == "running":
            pytest.fail("a release runs while a guard fires")
        self.rollout = rollout


@pytest.mark.parametrize("seed", sample(range(6), 2))
def test_a_random_sequence_follows_the_rules(kit, make_service, seed):
    kit.services.append(make_service())
    sequence = Sequence(kit, seed)
    sequence.run(60)
    events = kit.events(sequence.release)
    assert [event["id"] for event in events] == sorted(event["id"] for event in events)
    assert [event["createdAt"] for event in events] == sorted(e["createdAt"] for e in events)
    ends = {"finished", "stopped", "rolledBack"} & {event["type"] for event in events}
    assert len(ends) <= 1


def test_a_release_over_a_weekend_goes_on_in_its_window_after_a_change_of_clocks(kit, clock):
    friday = datetime(2030, 10, 25, 13, 30, tzinfo=UTC)  # 15:30 in Berlin
    clock.step((friday - clock.now()).total_seconds())
    window = {"timezone": "Europe/Berlin", "days": ["mon", "tue", "wed", "thu", "fri"]}
    window |= {"from": "09:00", "to": "16:00"}
    kit.create(steps=[{"rollout": 5, "minutes": 60}, {"rollout": 100}], window=window)
    for _ in range(66):  # to Monday, 07:30 UTC
        clock.advance(3600)
        kit.progress()
    assert kit.rollout() == 5
    clock.advance(1740)  # 08:59 in Berlin, which is 07:59 UTC since Sunday
    kit.progress()
    assert kit.rollout() == 5
    clock.advance(60)
    kit.progress()
    assert kit.rollout() == 100


def test_each_step_only_adds_users(kit, web):
    token = {"tokenName": "web", "type": "frontend", "environment": "production"}
    secret = kit.post("/api/admin/api-tokens", token | {"projects": ["*"]}, 201)["secret"]

    def list_users() -> set[int]:
        headers = {"Authorization": secret}
        answers = {n: web.get(f"/api/frontend?userId={n}", headers=headers) for n in range(150)}
        return {n for n, answer in answers.items() if answer.json["toggles"]}

    kit.create(
        steps=[{"rollout": 20, "minutes": 5}, {"rollout": 60, "minutes": 5}, {"rollout": 100}]
    )
    users = [list_users()]
    for _ in range(2):
        kit.wait(5)
        users.append(list_users())
    assert users[0] < users[1] < users[2] == set(range(150))
    assert len(users[0]) > 10
