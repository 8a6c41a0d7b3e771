"""Random flags and contexts: the engine gives the same result again for a deterministic context,
with and without the properties that no flag looks at.
"""

from __future__ import annotations

import random
import uuid

import pytest

from tests.flags.kit import constraint, context, engine, flag, strategy, variant

FIELDS = ("userId", "sessionId", "currentTime", "appName", "remoteAddress", "environment")
CUSTOM = ("plan", "region")
VALUES = {
    "userId": ("7", "8", ""),
    "sessionId": ("s",),
    "currentTime": ("2027-01-01", "2025-01-01"),
    "appName": ("a",),
    "plan": ("pro", ""),
    "region": ("eu",),
    "unused": ("1",),
}
SINCE = "2026-01-01T00:00:00Z"


class Dice(random.Random):
    def field(self):
        return self.choice(FIELDS + CUSTOM)

    def some(self, make, most=2):
        return [make() for _ in range(self.randint(0, most))]

    def constraint(self):
        return self.choice(
            [
                constraint(self.field(), self.choice(["IN", "NOT_IN"]), "7", "s", "pro", "eu"),
                constraint(self.field(), "NUM_GT", value="7"),
                constraint("currentTime", "DATE_AFTER", value=SINCE),
            ]
        )

    def variants(self):
        sticky = self.choice(["default", "random", *FIELDS, *CUSTOM])
        override = {"contextName": self.field(), "values": ["7", "eu"]}
        return [
            variant(name, stickiness=sticky, overrides=self.some(lambda: override, 1))
            for name in self.choice(["", "a", "ab"])
        ]

    def strategy(self):
        name = self.choice(
            ["default", "userWithId", "remoteAddress", "mine", "flexibleRollout"]
            + [f"gradualRollout{kind}" for kind in ("UserId", "SessionId", "Random")]
        )
        parameters = {"userIds": "7", "IPs": "192.0.2.7", "percentage": "50", "groupId": "g"}
        if name == "flexibleRollout":
            sticky = self.choice(["default", "random", *FIELDS, *CUSTOM])
            parameters |= {"rollout": self.choice(["0", "50", "100"]), "stickiness": sticky}
        return strategy(
            name,
            parameters=parameters,
            constraints=self.some(self.constraint),
            variants=self.variants(),
            segments=self.some(lambda: 1, 1),
        )

    def engine(self):
        flags = [
            flag(
                f"f{n}",
                *self.some(self.strategy),
                enabled=self.random() < 0.8,
                project=self.choice("ab"),
                variants=self.variants() if self.random() < 0.3 else [],
                dependencies=[
                    {"feature": f"f{self.randrange(n)}", "enabled": self.random() < 0.6}
                    for _ in range(n and self.randint(0, 1))
                ],
            )
            for n in range(4)
        ]
        segment = {"id": 1, "name": "s", "constraints": self.some(self.constraint)}
        return engine(*flags, segments=[segment])

    def make_fields(self):
        return {name: self.choice(VALUES[name]) for name in VALUES if self.random() < 0.5}


@pytest.mark.parametrize("seed", range(4))
def test_context_dependency_agrees_with_the_engine(seed):
    dice, deterministic = Dice(seed), 0
    for _ in range(150):
        flag_engine = dice.engine()
        for projects in (("a",), ("b",), ("*",)):
            context_ = context(**dice.make_fields(), properties=dice.make_fields())
            if flag_engine.context_dependency.is_deterministic(context_, projects):
                deterministic += 1
                first = flag_engine.evaluate({"sessionId": "s"} | context_, projects)
                reduced = flag_engine.context_dependency.reduce_context(context_)
                for _ in range(6):
                    second = flag_engine.evaluate(
                        {"sessionId": uuid.uuid4().hex} | reduced, projects
                    )
                    assert second == first
    assert deterministic > 50
