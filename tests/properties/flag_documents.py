"""Random documents of flags and random contexts, the same for the same seed."""

from __future__ import annotations

import random
from typing import Any

Json = dict[str, Any]

ROOT_FIELDS = ("userId", "sessionId", "environment", "appName", "remoteAddress")
CUSTOM_FIELDS = ("plan", "version", "age", "since", "näme", "ip")
TEXTS = (
    "", " ", "a", "A", "ab", "Ab", "b", "7", "07", "é", "É", "ΑΣ", "ας", "İ", "ß", "ẞ", "😀", '"',
    "a\\b", "a b",
    "a,b", "x\ny", "null", "true",
)  # fmt: skip
# What a constraint may have as its value, and what only a context has.
NUMBERS = (
    "0", "-0", "1", "+1", "1.", "1.0", "0.5", "5e-1", "1E0", "1e400", "-1e400",
    "0.30000000000000004",
    "0.3", " 1", "1 ", "007", "1e-400", "123456789012345678901234567890",
)  # fmt: skip
NUMBERS_OF_CONTEXTS = (
    *NUMBERS, ".5", "-.5e1", "inf", "-inf", "Infinity", "nan", "NaN", "1_0", "0x1", "٥", "1e",
    "--1", "x", "",
)  # fmt: skip
VERSIONS = (
    "1.0.0", "1.0.0-a", "1.0.0-a.1", "1.0.0-a.b", "1.0.0-1", "1.0.0-10", "1.0.0-9", "1.0.0-A",
    "1.0.0--",
    "1.0.0+b", "1.0.0-a+b", "1.0.1", "0.9.9", "10.0.0", "9999999999999999999.0.0",
    "1.0.0-123456789012345678",
)  # fmt: skip
VERSIONS_OF_CONTEXTS = (
    *VERSIONS, "1.0", "v1.0.0", "01.0.0", "1.0.0-", "1.0.0-01", "1.0.0.0", " 1.0.0", "x", "",
)  # fmt: skip
DATES = (
    "2026-01-01T00:00:00Z", "2026-01-01T00:00:00.000Z", "2026-01-01T00:00:00.001Z",
    "2026-01-01T01:00:00+01:00",
    "2025-12-31T16:30:00-07:30", "2026-01-01T00:00:00+00:30", "2025-12-31T23:59:59.999Z",
)  # fmt: skip
DATES_OF_CONTEXTS = (
    *DATES, "2026-01-01t00:00:00z", "2026-01-01 00:00:00Z", "2026-01-01T00:00:00.123456Z",
    "2026-01-01T00:00:00-0100",
    "2026-01-01", "2026-01-01T00:00:00", "2026-02-30T00:00:00Z", "2026-01-01T24:00:00Z", "x", "",
)  # fmt: skip
ADDRESSES = (
    "10.0.0.1", "10.1.2.3", "192.0.2.7", "::1", "0:0:0:0:0:0:0:1", "2001:db8::1",
    "2001:DB8::ffff", "fe80::1",
    "::ffff:10.0.0.1", "010.0.0.1", "10.0.0", "x", "", "10.0.0.0/8", "fe80::1%eth0", " 10.0.0.1",
    "256.1.1.1",
)  # fmt: skip
NETWORKS = (
    "10.0.0.0/8", "10.1.2.3/16", "10.0.0.1", "0.0.0.0/0", "::/0", "::1", "2001:db8::/32",
    "2001:db8::1/128",
    "::ffff:10.0.0.0/104", "192.0.2.0/31", "10.0.0.0/33", "x", "", "fe80::1%eth0",
)  # fmt: skip
PATTERNS = ("^a+$", "a", "^[ab]+$", "A|b", "^.$", "^$", "", "[0-9]+", r"\.", "é", "(?i)É", "x.y")
INVALID: tuple[Json, ...] = (
    {"operator": "LIKE", "values": ["a"]},
    {"operator": "NUM_GT", "value": "many"},
    {"operator": "NUM_EQ", "value": "0x1"},
    {"operator": "NUM_LT"},
    {"operator": "DATE_AFTER", "value": "soon"},
    {"operator": "DATE_BEFORE", "value": "2026-01-01"},
    {"operator": "DATE_SOON", "value": "2026-01-01T00:00:00Z"},
    {"operator": "SEMVER_GT", "value": "v1.0.0"},
    {"operator": "SEMVER_EQ", "value": ""},
    {"operator": "STR_CONTAINS", "values": []},
    {"operator": "STR_ENDS_WITH"},
    {"operator": "STR_LIKE", "values": ["a"]},
    {"operator": "IN_CIDR", "values": []},
    {"operator": "REGEX", "value": "("},
    {"operator": "", "values": ["a"]},
)
COMPARISONS = ("EQ", "GT", "GTE", "LT", "LTE")


POOLS = {
    "version": VERSIONS_OF_CONTEXTS,
    "age": NUMBERS_OF_CONTEXTS,
    "since": DATES_OF_CONTEXTS,
    "ip": ADDRESSES,
    "remoteAddress": ADDRESSES,
}


class Dice(random.Random):
    def some(self, make, most=2):
        return [make() for _ in range(self.randint(0, most))]

    def field(self) -> str:
        return self.choice(ROOT_FIELDS + CUSTOM_FIELDS)

    def text_for(self, field: str) -> str:
        """Mostly a value that operators on this field understand."""
        return self.choice(POOLS.get(field, TEXTS) if self.random() < 0.9 else TEXTS)

    def constraint(self) -> Json:
        """The mark `invalid` is on one that no engine can evaluate."""
        if self.random() < 0.04:
            return {"contextName": self.field(), "invalid": True} | self.choice(INVALID)
        field = self.field()
        make = self.choices(
            (
                lambda: membership(self, field),
                lambda: text_test(self, field),
                lambda: comparison(self, "NUM", self.choice(("age", field)), NUMBERS),
                lambda: comparison(self, "SEMVER", self.choice(("version", field)), VERSIONS),
                lambda: date_test(self, field),
                lambda: network_test(self, field),
                lambda: {"contextName": field, "operator": "REGEX", "value": self.choice(PATTERNS)},
            ),
            (5, 4, 3, 3, 3, 2, 1),
        )[0]
        result = make()
        for option in ("inverted", "caseInsensitive"):
            if self.random() < 0.3:
                result[option] = self.random() < 0.8
        return result

    def stickiness(self) -> str:
        return self.choice(
            ("default", "random", "userId", "userId", "sessionId", "plan", *ROOT_FIELDS, "näme")
        )

    def variants(self, most=3) -> list[Json]:
        sticky = self.stickiness()
        result = []
        for name in "abc"[: self.randint(0, most)]:
            variant = {"name": name, "weight": self.choice((0, 1, 10, 333, 500, 1000))}
            if self.random() < 0.8:
                variant["stickiness"] = sticky if self.random() < 0.9 else self.stickiness()
            if self.random() < 0.3:
                payload = {
                    "type": self.choice(("string", "json", "csv")),
                    "value": self.choice(TEXTS),
                }
                variant["payload"] = payload
            if self.random() < 0.2:
                field = self.field()
                values = self.some(lambda field=field: self.text_for(field))
                variant["overrides"] = [{"contextName": field, "values": values}]
            result.append(variant)
        if result and not sum(variant["weight"] for variant in result):
            result[0]["weight"] = 1  # the engine of the SDKs fails without any weight
        return result

    def strategy(self) -> Json:
        name = self.choice(
            ("default", "default", "userWithId", "remoteAddress", "mine", "applicationHostname")
            + ("flexibleRollout",) * 5
            + ("gradualRolloutUserId", "gradualRolloutSessionId", "gradualRolloutRandom")
        )
        parameters: Json = {}
        if name == "userWithId":
            parameters["userIds"] = self.choice(("7", "a,7", " a , b ", "", "é,😀", ",", "ab"))
        elif name == "remoteAddress":
            parameters["IPs"] = self.choice(
                ("10.0.0.1", "10.0.0.0/8, ::1", "x,192.0.2.7", "", "2001:db8::/32")
            )
        elif name == "applicationHostname":
            parameters["hostNames"] = "no-such-host"
        elif name == "flexibleRollout":
            parameters["rollout"] = self.choice(
                ("0", "1", "10", "50", "50", "90", "99", "100", "100", "+7", "05")
            )
            parameters["stickiness"] = self.stickiness()
        elif name != "default":
            parameters["percentage"] = self.choice(("0", "1", "50", "99", "100"))
        if self.random() < 0.1:
            broken = self.choice(("", "x", "-1", "5.5", " 5"))
            parameters.update({key: broken for key in ("rollout",) if key in parameters})
        if self.random() < 0.7:
            parameters["groupId"] = self.choice(("g", "h", "", "ä:b"))
        if self.random() < 0.1:
            parameters.pop("stickiness", None)
        return {
            "name": name,
            "parameters": parameters,
            "constraints": self.some(self.constraint, self.choice((0, 1, 1, 2, 4))),
            "variants": self.variants() if self.random() < 0.4 else [],
            "segments": self.some(lambda: self.choice((1, 1, 2, 3, 4)), self.choice((0, 0, 1, 2))),
        }

    def segments(self) -> list[Json]:
        """Their IDs are 1 to 3, so a strategy with 4 has an unknown one."""
        return [
            {"id": id, "name": f"s{id}", "constraints": self.some(self.constraint)}
            for id in (1, 2, 3)
        ]

    def flag(self, name: str, parents: list[str]) -> Json:
        flag: Json = {
            "name": name,
            "enabled": self.random() < 0.9,
            "project": self.choice("ab"),
            "strategies": self.some(self.strategy, 3),
            "variants": self.variants() if self.random() < 0.4 else [],
        }
        if self.random() < 0.3:
            flag["dependencies"] = [self.dependency(parents) for _ in range(self.choice((1, 1, 2)))]
        if self.random() < 0.3:
            flag["impressionData"] = True
        return flag

    def dependency(self, parents: list[str]) -> Json:
        dependency: Json = {"feature": self.choice(parents)}
        if self.random() < 0.6:
            dependency["enabled"] = self.random() < 0.7
        if dependency.get("enabled", True) and self.random() < 0.4:
            dependency["variants"] = self.some(lambda: self.choice(("a", "b", "disabled")))
        return dependency

    def document(self, size: int = 8) -> Json:
        names = [f"f{number}" for number in range(size)]
        flags = [self.flag(name, [*names, "missing"]) for name in names]
        return {"version": 2, "features": flags, "segments": self.segments()}

    def context(self) -> Json:
        """In the SDKs' format: root fields and `properties`."""
        names = [name for name in ROOT_FIELDS if self.random() < 0.5]
        context: Json = {name: self.text_for(name) or "7" for name in names}
        if self.random() < 0.5:
            context["currentTime"] = self.choice(DATES_OF_CONTEXTS[:10])
        fields = [name for name in (*CUSTOM_FIELDS, "userId", "sessionId") if self.random() < 0.5]
        context["properties"] = {name: self.text_for(name) for name in fields}
        return context


def membership(dice: Dice, field: str) -> Json:
    values = dice.some(lambda: dice.text_for(field), 4)
    return {"contextName": field, "operator": dice.choice(("IN", "NOT_IN")), "values": values}


def text_test(dice: Dice, field: str) -> Json:
    operator = dice.choice(("STR_CONTAINS", "STR_STARTS_WITH", "STR_ENDS_WITH"))
    values = [dice.text_for(field) for _ in range(dice.randint(1, 3))]
    return {"contextName": field, "operator": operator, "values": values}


def comparison(dice: Dice, family: str, field: str, values: tuple[str, ...]) -> Json:
    operator = f"{family}_{dice.choice(COMPARISONS)}"
    return {"contextName": field, "operator": operator, "value": dice.choice(values)}


def date_test(dice: Dice, field: str) -> Json:
    name = dice.choice(("currentTime", "currentTime", "since", field))
    operator = dice.choice(("DATE_AFTER", "DATE_BEFORE"))
    return {"contextName": name, "operator": operator, "value": dice.choice(DATES)}


def network_test(dice: Dice, field: str) -> Json:
    values = [dice.choice(NETWORKS) for _ in range(dice.randint(1, 4))]
    name = dice.choice(("remoteAddress", "ip", field))
    return {"contextName": name, "operator": "IN_CIDR", "values": values}
