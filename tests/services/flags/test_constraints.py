"""Constraints: the values of each operator, and that the engine supports what is accepted."""

from __future__ import annotations

import json

import msgspec
import pytest
from yggdrasil_engine.engine import UnleashEngine

from sigservice.errors import BadDataError
from sigservice.services.flags import constraints
from sigservice.services.flags.constraints import OPERATORS, TEXT_OPERATORS, Constraint
from sigservice.services.problems import Problems
from tests.table_tests import each

NUMBERS = tuple(f"NUM_{n}" for n in ("EQ", "GT", "GTE", "LT", "LTE"))
SEMVERS = tuple(f"SEMVER_{n}" for n in ("EQ", "GT", "GTE", "LT", "LTE"))
DATES = ("DATE_AFTER", "DATE_BEFORE")


def check(**fields):
    """Returns the constraint in the stored format. Raises BadDataError."""
    problems = Problems()
    constraint = msgspec.convert({"contextName": "x"} | fields, Constraint)
    (saved,) = constraints.check([constraint], problems)
    problems.raise_if_any()
    return saved


def refused(**fields):
    """The paths of all problems."""
    with pytest.raises(BadDataError) as caught:
        check(**fields)
    assert caught.value.message
    return [detail["path"].removeprefix("constraints[0].") for detail in caught.value.details]


def holds(saved, context):
    """Whether the engine of the SDKs matches a stored constraint."""
    strategy = {"name": "default", "parameters": {}, "constraints": [saved]}
    feature = {"name": "f", "enabled": True, "strategies": [strategy]}
    engine = UnleashEngine()
    engine.take_state(json.dumps({"version": 2, "features": [feature]}))
    return engine.check_enabled("f", context).is_enabled


def test_there_are_no_other_operators():
    assert set(OPERATORS) == {*TEXT_OPERATORS, *NUMBERS, *DATES, *SEMVERS, "REGEX"}
    assert len(OPERATORS) == 19


@each("operator", TEXT_OPERATORS)
def test_several_values_are_kept_in_order(operator):
    values = ["10.0.0.0/8", "::1", "192.168.0.1"]
    saved = check(operator=operator, values=values, value="ignored")
    assert saved == {"contextName": "x", "operator": operator, "values": values}


@each("operator", TEXT_OPERATORS)
def test_values_that_are_none(operator):
    assert refused(operator=operator) == ["values"]
    assert refused(operator=operator, values=[]) == ["values"]
    assert refused(operator=operator, value="a") == ["values"]
    assert refused(operator=operator, values=["::1", "", "a" * 101]) == ["values[1]", "values[2]"]
    assert refused(operator=operator, values=["::1"] * 251) == ["values"]
    check(operator=operator, values=["::1"] * 250)


def test_numbers_among_values_become_text():
    saved = check(operator="IN", values=[1, -2, 1.5, 10**30])
    assert saved["values"] == ["1", "-2", "1.5", "1" + "0" * 30]


@each("network", ["10.0.0.0/33", "10.0.0", "a", "10.0.0.0/8/8", " ", "1.2.3.4/-1"])
def test_invalid_networks_are_rejected(network):
    assert refused(operator="IN_CIDR", values=[network]) == ["values[0]"]


@each(
    "value",
    ["0", "-0", "1", "+1", "1.", "1.5", ".5", "-.5", "00012", "1e5", "1E+5", "1e-400", " 7 "],
)
def test_the_engine_knows_every_number_that_is_accepted(value):
    for operator, number in (("NUM_GT", "1e300"), ("NUM_LT", "-1e300")):
        assert holds(check(operator=operator, value=value), {"properties": {"x": number}})


@each("operator", NUMBERS)
@each(
    "value",
    [
        None,
        "",
        " ",
        "a",
        "1,5",
        "0x10",
        "1_000",
        "١",
        "²",
        "NaN",
        "nan",
        "Infinity",
        "-inf",
        "1e400",
        "1 2",
        "--1",
        ".",
        "1e",
        "1\n2",
        "9" * 101,
        "0." + "0" * 99,
    ],
)
def test_invalid_numbers_are_rejected(operator, value):
    assert refused(operator=operator, value=value) == ["value"]


def test_a_number_may_come_as_one():
    assert check(operator="NUM_EQ", value=5)["value"] == "5"
    assert check(operator="NUM_EQ", value=0)["value"] == "0"
    assert check(operator="NUM_EQ", value=1e300)["value"] == "1e300"
    assert refused(operator="NUM_EQ", value=10**101) == ["value"]
    assert refused(operator="NUM_EQ", values=["5"]) == ["value"]


@each(
    "value saved",
    [
        ("2024-01-01T10:00:00Z", None),
        ("2024-01-01T10:00:00.123Z", None),
        ("2024-01-01T10:00:00-07:30", None),
        ("2024-01-01", "2024-01-01T00:00:00.000Z"),
        ("2024-01-01 10:00", "2024-01-01T10:00:00.000Z"),
        ("2024-01-01T10:00+01:00", "2024-01-01T09:00:00.000Z"),
        ("2024-01-01T10:00:00+0100", "2024-01-01T09:00:00.000Z"),
        ("2024-01-01T10:00:00.1Z", "2024-01-01T10:00:00.100Z"),
        ("2024-01-01T10:00:00.123456789Z", "2024-01-01T10:00:00.123Z"),
        ("2024-01-01T10:00:00,5Z", "2024-01-01T10:00:00.500Z"),
        ("20240101T100000Z", "2024-01-01T10:00:00.000Z"),
        ("2024-W01-1T10:00:00Z", "2024-01-01T10:00:00.000Z"),
        ("2024-01-01T10:00:00+01:00:30", "2024-01-01T08:59:30.000Z"),
    ],
)
def test_the_engine_knows_every_date_that_is_accepted(value, saved):
    after, before = (
        check(contextName="currentTime", operator=operator, value=value) for operator in DATES
    )
    assert after["value"] == before["value"] == (saved or value)
    assert holds(after, {"currentTime": "2030-01-01T00:00:00Z"})
    assert holds(before, {"currentTime": "2020-01-01T00:00:00Z"})


@each("operator", DATES)
@each(
    "value",
    [
        None,
        "",
        "now",
        "2024",
        "2024-02-30",
        "2024-13-01",
        "2024-01-01T25:00:00Z",
        "10:00",
        "01/02/2024",
        "٢٠٢٤-01-01",
        "0001-01-01T00:00+14:00",
        "9999-12-31T23:59-14:00",
        "2024-01-01T10:00:00+99:00",
        1704103200,
        "2" * 90000,
        "-2024-01-01",
    ],
)
def test_invalid_dates_are_rejected(operator, value):
    assert refused(operator=operator, value=value) == ["value"]


@each(
    "value",
    ["0.0.0", "1.2.3", "1.2.3-alpha.1", "1.2.3+b.7", "1.2.3-0a--", "9999999999999999999.0.0"],
)
def test_the_engine_knows_every_version_that_is_accepted(value):
    for operator, version in (("SEMVER_GTE", "18446744073709551615.0.0"), ("SEMVER_LT", "0.0.0-0")):
        assert holds(check(operator=operator, value=value), {"properties": {"x": version}})


@each("operator", SEMVERS)
@each(
    "value",
    [
        None,
        "",
        "1",
        "1.2",
        "v1.2.3",
        "1.2.3.4",
        "01.2.3",
        "1.2.3-",
        "1.2.3-01",
        "1.2.3-a..b",
        "1.2.x",
        "1.2.3 a",
        "١.2.3",
        "18446744073709551616.0.0",
        "1.2.3-" + "a" * 95,
        1.2,
    ],
)
def test_invalid_versions_are_rejected(operator, value):
    assert refused(operator=operator, value=value) == ["value"]


def test_patterns():
    saved = check(operator="REGEX", value="^a.*b$", caseInsensitive=True, inverted=False)
    assert (saved["value"], saved["inverted"]) == ("^a.*b$", False)
    assert holds(saved, {"properties": {"x": "AxB"}})
    assert not holds(saved, {"properties": {"x": "AxC"}})
    check(operator="REGEX", value="a" * 1000)
    check(operator="REGEX", value=r"\\1")
    assert refused(operator="REGEX", value="a", inverted=True) == ["inverted"]


@each(
    "value",
    [
        None,
        "",
        "(",
        "[a",
        "*",
        "a{2,1}",
        "a{99999999999}",
        "(" * 999,
        "a" * 1001,
        "(?P<1>a)",
        "(?=a)",
        "(?!a)",
        "(?<=a)b",
        "(?<!a)b",
        r"(a)\1",
        r"(?P<n>a)(?P=n)",
        "(?>a)",
        "(?(1)a)(b)",
        "(?:.?){990}z",
    ],
)
def test_invalid_patterns_are_rejected(value):
    assert refused(operator="REGEX", value=value) == ["value"]


@each("operator", ["", "in", "IN ", "EQ", "NOT", "x" * 10_000, "IN\n", "ＩＮ"])
def test_unknown_operators_are_rejected(operator):
    assert refused(operator=operator, values=["a"], value="1") == ["operator"]


def test_a_field_has_a_name():
    for name in ("", "   ", "x" * 101):
        assert refused(contextName=name, operator="IN", values=["a"]) == ["contextName"]
    assert check(contextName=" ключ ", operator="IN", values=["a"])["contextName"] == "ключ"


def test_absent_options_are_not_stored():
    saved = check(operator="IN", values=["a"], inverted=True, caseInsensitive=False)
    assert (saved["inverted"], saved["caseInsensitive"]) == (True, False)
    assert not {"inverted", "caseInsensitive"} & set(check(operator="IN", values=["a"]))


def test_all_problems_are_reported_at_once():
    problems = Problems()
    invalid = [Constraint("", "IN"), Constraint("x", "NUM_EQ", value="a"), Constraint("x", "?")]
    constraints.check(invalid, problems, "segment.constraints")
    with pytest.raises(BadDataError) as caught:
        problems.raise_if_any()
    assert [detail["path"] for detail in caught.value.details] == [
        "segment.constraints[0].contextName",
        "segment.constraints[0].values",
        "segment.constraints[1].value",
        "segment.constraints[2].operator",
    ]


def test_there_are_at_most_thirty():
    problems = Problems()
    constraints.check([Constraint("x", "IN", ["a"])] * 30, problems)
    problems.raise_if_any()
    constraints.check([Constraint("x", "IN", ["a"])] * 31, problems)
    with pytest.raises(BadDataError) as caught:
        problems.raise_if_any()
    assert caught.value.details[0]["path"] == "constraints"


def test_number_of_reported_problems_is_limited():
    paths = refused(operator="IN", values=[""] * 30_000)
    assert len(paths) == 100
    assert paths[:2] == ["values", "values[0]"]


@each("operator", OPERATORS)
def test_stored_constraints_are_accepted_unchanged(operator):
    sample = {**dict.fromkeys(NUMBERS, ".5"), **dict.fromkeys(SEMVERS, "1.2.3")}
    sample |= {"REGEX": "a+"} | dict.fromkeys(DATES, "2024-01-01")
    saved = check(operator=operator, value=sample.get(operator), values=["::1"])
    assert check(**saved) == saved
