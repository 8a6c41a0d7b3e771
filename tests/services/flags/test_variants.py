"""Variants: weights that sum to 1000, and payloads that match their type."""

from __future__ import annotations

import random

import msgspec
import pytest

from sigservice.errors import BadDataError
from sigservice.services.flags import variants
from sigservice.services.flags.variants import Variant
from sigservice.services.problems import Problems
from tests.table_tests import each


def check(*fields):
    """Returns the variants in the stored format. Raises BadDataError."""
    problems = Problems()
    saved = variants.check(msgspec.convert(list(fields), list[Variant]), problems)
    problems.raise_if_any()
    return saved


def refused(*fields):
    with pytest.raises(BadDataError) as caught:
        check(*fields)
    return [detail["path"].removeprefix("variants") for detail in caught.value.details]


def fixed(name, weight):
    return {"name": name, "weight": weight, "weightType": "fix"}


@each("seed", range(200))
def test_the_weights_sum_to_1000(seed):
    dice = random.Random(seed)
    cuts = sorted(dice.randint(0, 1000) for _ in range(dice.choice([0, 1, 2, 9, 50])))
    expected = [b - a for a, b in zip([0, *cuts], cuts, strict=False)]
    fields = [fixed(f"f{n}", weight) for n, weight in enumerate(expected)]
    fields += [
        {"name": f"v{n}", "weight": dice.randint(0, 1000)} for n in range(dice.randint(1, 50))
    ]
    dice.shuffle(fields)
    saved = check(*fields)
    assert sum(variant["weight"] for variant in saved) == 1000
    assert [variant["name"] for variant in saved] == [variant["name"] for variant in fields]
    shares = [variant["weight"] for variant in saved if variant["weightType"] == "variable"]
    assert shares == sorted(shares, reverse=True)
    assert max(shares) - min(shares) <= 1
    for before, after in zip(fields, saved, strict=True):
        assert after["weight"] >= 0
        if "weightType" in before:
            assert after["weight"] == before["weight"]
    assert check(*saved) == saved


def test_none_stay_none():
    assert check() == []


@each(
    "fields paths",
    [
        ([{"name": ""}], ["[0].name"]),
        ([{"name": "x" * 101}], ["[0].name"]),
        ([{"name": "a"}, {"name": "b"}, {"name": "a"}], ["[2].name"]),
        ([{"name": "a", "weight": -1}], ["[0].weight"]),
        ([{"name": "a", "weight": 1001}], ["[0].weight"]),
        ([{"name": "a", "weight": 10**30}], ["[0].weight"]),
        ([{"name": "a", "stickiness": ""}], ["[0].stickiness"]),
        ([{"name": "a", "stickiness": "x" * 101}], ["[0].stickiness"]),
        ([fixed("a", 1000)], [""]),
        ([fixed("a", 501), fixed("b", 500), {"name": "c"}], [""]),
        ([fixed("a", 10**18), {"name": "c"}], ["[0].weight", ""]),
        ([{"name": f"v{n}"} for n in range(101)], [""]),
    ],
)
def test_problems_have_paths(fields, paths):
    assert refused(*fields) == paths


def test_fixed_weights_may_leave_no_remainder():
    assert [v["weight"] for v in check(fixed("a", 1000), {"name": "b"})] == [1000, 0]


def test_a_hundred_variants_with_the_longest_names_fit():
    assert len(check(*({"name": f"{n:03}" + "é" * 97} for n in range(100)))) == 100


GOOD = {
    "json": ["{}", "1", '"a"', " [1, null] ", '{"a": {"b": []}}', '"\\u00e9"'],
    "number": ["0", "-1.5", "1e5", ".5", "1e-400"],
    "string": ["", "x", "😀", "{", "a\nb"],
    "csv": ["", "a,b", ",,"],
}
BAD = {
    "json": ["", "{", "{'a': 1}", "NaN", "Infinity", "1e400", "[1,]", "undefined", "[" * 50_000],
    "number": ["", "a", "NaN", "inf", "1e400", "1,5", "1_000", "١", "0x10", "1 2"],
}


@each("type value", [(t, v) for t, values in GOOD.items() for v in values])
def test_a_payload_comes_back_as_it_was(type, value):
    payload = {"type": type, "value": value}
    assert check({"name": "a", "payload": payload})[0]["payload"] == payload


@each("type value", [(t, v) for t, values in BAD.items() for v in values])
def test_payload_must_match_its_type(type, value):
    variant = {"name": "a", "payload": {"type": type, "value": value}}
    assert refused(variant) == ["[0].payload.value"]


def test_no_payload_is_not_sent_as_null():
    assert "payload" not in check({"name": "a", "payload": None})[0]
    assert "payload" not in check({"name": "a"})[0]


def test_overrides_of_legacy_flags_are_kept():
    overrides = [{"contextName": "userId", "values": ["1"]}]
    assert check({"name": "a", "overrides": overrides})[0]["overrides"] == overrides
