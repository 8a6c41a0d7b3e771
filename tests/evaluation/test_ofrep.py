"""The answers of OFREP: values, reasons, variants."""

from __future__ import annotations

import msgspec
import pytest

from sigservice.evaluation.ofrep import OfrepFlags
from tests.delivery.kit import compile_flags, constraint, context, flag, rollout, strategy, variant
from tests.table_tests import each

SEVEN = constraint("userId", "IN", "7")
UNTIL = constraint("currentTime", "DATE_BEFORE", value="2100-01-01T00:00:00Z")
RED, BLUE = variant("red"), variant("blue")


def answer(*flags, **fields):
    """The answer to the last flag."""
    ofrep_flags = OfrepFlags(compile_flags(*flags))
    entry = ofrep_flags.list_entries(("*",))[-1]
    return msgspec.json.decode(entry if isinstance(entry, bytes) else entry(context(**fields)))


def payload(type, value):
    return flag("f", variants=[variant("a", 1000, payload={"type": type, "value": value})])


PARENT = {"dependencies": [{"feature": "p", "enabled": True}]}
# (flags, context, reason, value)
REASONS = {
    "disabled": ([flag(enabled=False)], {}, "DISABLED", False),
    "disabled with a rollout": ([flag("f", rollout(50), enabled=False)], {}, "DISABLED", False),
    "no strategy": ([flag()], {}, "STATIC", True),
    "everyone": ([flag("f", rollout(100))], {}, "STATIC", True),
    "everyone, one variant": ([flag("f", variants=[variant("a", 1000)])], {}, "STATIC", True),
    "everyone before others": (
        [flag("f", strategy(), strategy(constraints=[SEVEN]))],
        {},
        "STATIC",
        True,
    ),
    "nobody": ([flag("f", rollout(0))], {}, "STATIC", False),
    "only custom strategies": ([flag("f", strategy("custom"))], {}, "STATIC", False),
    "constraint": (
        [flag("f", strategy(constraints=[SEVEN]))],
        {"userId": "7"},
        "TARGETING_MATCH",
        True,
    ),
    "other user": (
        [flag("f", strategy(constraints=[SEVEN]))],
        {"userId": "8"},
        "TARGETING_MATCH",
        False,
    ),
    "everyone with a user": (
        [flag("f", rollout(100, "userId"))],
        {"userId": "7"},
        "TARGETING_MATCH",
        True,
    ),
    "date": ([flag("f", strategy(constraints=[UNTIL]))], {}, "TARGETING_MATCH", True),
    "within the percentage": ([flag("f", rollout(99))], {"userId": "7"}, "SPLIT", True),
    "outside of the percentage": ([flag("f", rollout(1))], {"userId": "7"}, "SPLIT", False),
    "no user for the percentage": (
        [flag("f", rollout(50, "userId"))],
        {},
        "TARGETING_MATCH",
        False,
    ),
    "targeted after a percentage": (
        [flag("f", rollout(1), strategy(constraints=[SEVEN]))],
        {"userId": "7"},
        "TARGETING_MATCH",
        True,
    ),
    "a percentage of others": (
        [flag("f", rollout(50, constraints=[SEVEN]))],
        {"userId": "8"},
        "TARGETING_MATCH",
        False,
    ),
    "weights": ([flag("f", variants=[RED, BLUE])], {"userId": "7"}, "SPLIT", True),
    "override": (
        [
            flag(
                "f",
                variants=[
                    RED | {"overrides": [{"contextName": "userId", "values": ["7"]}]},
                    BLUE,
                ],
            )
        ],
        {"userId": "7"},
        "TARGETING_MATCH",
        True,
    ),
    "parent disabled": ([flag("p", enabled=False), flag("f", **PARENT)], {}, "STATIC", False),
    "parent of others": (
        [flag("p", strategy(constraints=[SEVEN])), flag("f", **PARENT)],
        {"userId": "8"},
        "TARGETING_MATCH",
        False,
    ),
    "parent by percentage": (
        [flag("p", rollout(1)), flag("f", **PARENT)],
        {"userId": "7"},
        "SPLIT",
        False,
    ),
}
# (type, text of the payload, JSON of the value)
VALUES = [
    ("string", "#f00", '"#f00"'),
    ("csv", "a,b", '"a,b"'),
    ("string", "5", '"5"'),
    ("number", "5", "5"),
    ("number", "5.0", "5.0"),
    ("number", "-1e3", "-1e3"),
    ("number", "12345678901234567890123", "12345678901234567890123"),
    ("number", "+5", "5"),
    ("number", "05", "5"),
    ("number", ".5", "0.5"),
    ("number", "1e999", '"1e999"'),
    ("number", "nan", '"nan"'),
    ("number", "true", '"true"'),
    ("number", "many", '"many"'),
    ("json", '{"a": [1, 2.0]}', '{"a": [1, 2.0]}'),
    ("json", "[]", "[]"),
    ("json", "{", '"{"'),
    ("json", "[" * 5000, '"' + "[" * 5000 + '"'),
    ("other", "x", '"x"'),
]


@each("row", REASONS.items(), name=lambda row: row[0])
def test_a_reason_says_what_decided(row):
    flags, fields, reason, value = row[1]
    result = answer(*flags, **fields)
    assert (result["reason"], result["value"]) == (reason, value)
    assert result["metadata"] == {"enabled": value}


@each("row", VALUES, name=lambda row: f"{row[0]} {row[1][:20]}")
def test_a_payload_is_the_value_as_it_is_written(row):
    type, text, expected = row
    (entry,) = OfrepFlags(compile_flags(payload(type, text))).list_entries(("*",))
    assert f'"value":{expected},'.encode() in entry
    assert msgspec.json.decode(entry)["variant"] == "a"


def test_a_disabled_flag_with_a_payload_is_false():
    result = answer(payload("string", "#f00") | {"enabled": False})
    assert (result["value"], result["variant"], result["reason"]) == (False, None, "DISABLED")


@pytest.mark.parametrize("projects", [("shop",), ("*",), ("other",)])
def test_flags_of_other_projects_are_not_found(projects):
    flags = OfrepFlags(compile_flags(flag("f", project="shop")))
    is_found = projects != ("other",)
    assert (flags.find("f", projects) is not None) == is_found
    assert len(flags.list_entries(projects)) == is_found
    assert flags.find("g", projects) is None
