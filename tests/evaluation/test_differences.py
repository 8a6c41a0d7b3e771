"""What the evaluator does differently from the official engine on purpose, see
docs/decisions/0016-own-evaluator.md."""

from __future__ import annotations

import pytest

from sigservice.evaluation.fields import Fields
from tests.delivery.kit import compile_document, constraint, flag, rollout, strategy, variant
from tests.properties.flag_documents import INVALID
from tests.table_tests import each


def is_enabled(*flags, segments=(), name="f", **texts):
    document = {"version": 2, "features": list(flags), "segments": list(segments)}
    return compile_document(document).by_name[name].is_enabled(Fields(texts))


@each("broken", INVALID)
@each("is_inverted", [False, True])
def test_invalid_constraint_disables_only_its_strategy(broken, is_inverted):
    invalid = strategy(constraints=[{"contextName": "x", "inverted": is_inverted} | broken])
    assert not is_enabled(flag("f", invalid), x="a")
    assert is_enabled(flag("f", invalid, strategy()), x="a")


def test_unknown_segment_disables_only_its_strategy():
    unknown = strategy(segments=[9])
    assert not is_enabled(flag("f", unknown))
    assert is_enabled(flag("f", unknown, strategy()))


@each("percentage", ["", "x", "101", "-1", "5.5", " 5", "1000000"])
def test_invalid_percentage_disables_only_its_strategy(percentage):
    parameters = {"rollout": percentage, "stickiness": "userId", "groupId": "g"}
    invalid = strategy("flexibleRollout", parameters=parameters)
    assert not is_enabled(flag("f", invalid), userId="7")
    assert is_enabled(flag("f", invalid, strategy()), userId="7")


@pytest.mark.parametrize("text", ['a"b', "a\\", "'", '"'])
def test_any_text_can_be_a_value(text):
    assert is_enabled(flag("f", strategy(constraints=[constraint("x", "IN", text)])), x=text)
    users = strategy("userWithId", parameters={"userIds": f"8,{text}"})
    assert is_enabled(flag("f", users), userId=text)
    groups = rollout(50)
    groups["parameters"]["groupId"] = text
    results = {is_enabled(flag("f", groups), userId=str(number)) for number in range(30)}
    assert results == {True, False}


def test_random_value_is_one_for_all_flags_of_a_context():
    """The engine decides again for each strategy and each flag."""
    flags = [flag(name, rollout(50, "random")) for name in ("f", "g")]  # of one group
    compiled = compile_document({"features": flags}).by_name
    for _ in range(30):
        fields = Fields({})
        results = {compiled[name].is_enabled(fields) for name in ("f", "g", "f")}
        assert len(results) == 1


def test_child_and_parent_use_the_name_of_the_parent_as_its_group():
    """The engine hashes the parent's rollout with the child's name."""
    parent = flag("parent", rollout(50, "userId"))
    del parent["strategies"][0]["parameters"]["groupId"]
    child = flag("child", dependencies=[{"feature": "parent"}])
    for number in range(30):
        results = {
            is_enabled(parent, child, name=name, userId=str(number)) for name in ("parent", "child")
        }
        assert len(results) == 1


@pytest.mark.parametrize("name", ["mine", "applicationHostname", "unknown"])
def test_strategy_that_only_an_application_evaluates_never_matches(name, monkeypatch):
    monkeypatch.setenv("hostname", "web-1")
    monkeypatch.setenv("HOSTNAME", "web-1")
    assert not is_enabled(flag("f", strategy(name, parameters={"hostNames": "web-1"})))


def test_time_is_a_field_like_others_for_stickiness():
    """The engine decides at random."""
    times = {"currentTime": "2026-01-01T00:00:00Z"}
    variants = [variant("a", stickiness="currentTime"), variant("b", stickiness="currentTime")]
    own = compile_document({"features": [flag("f", variants=variants)]}).by_name["f"]
    assert len({own.find_variant(Fields(times))["name"] for _ in range(30)}) == 1
    assert not is_enabled(flag("f", rollout(50, "currentTime")))


def test_variants_without_weight_are_no_variants():
    """The engine fails."""
    item = flag("f", variants=[variant("a", 0), variant("b", 0)])
    outcome = compile_document({"features": [item]}).by_name["f"].find_variant(Fields({}))
    assert (outcome["name"], outcome["enabled"]) == ("disabled", False)


def test_character_classes_of_patterns_are_ascii():
    """As in RE2; the engine's classes contain the letters and digits of all scripts."""
    for pattern, text in ((r"^\w+$", "é"), (r"^\d+$", "٣"), (r"^\s+$", "\u2003")):
        pattern = constraint("x", "REGEX", value=pattern)
        assert not is_enabled(flag("f", strategy(constraints=[pattern])), x=text)
    unicode = constraint("x", "REGEX", value=r"^\pL+$")
    assert is_enabled(flag("f", strategy(constraints=[unicode])), x="é")


@pytest.mark.parametrize(
    "text", ["2026-1-1T00:00:00Z", "2026-01-01T00:00:00\u221201:00", "+12026-01-01T00:00:00Z"]
)
def test_dates_of_contexts_have_the_format_of_rfc_3339(text):
    since = constraint("since", "DATE_AFTER", value="2020-01-01T00:00:00.000Z")
    assert not is_enabled(flag("f", strategy(constraints=[since])), since=text)
    spaced = " 2026-01-01 00:00:00.5z "
    assert is_enabled(flag("f", strategy(constraints=[since])), since=spaced)
