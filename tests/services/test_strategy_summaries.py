"""Summaries of strategies, constraints and segments."""

from __future__ import annotations

import pytest

from sigservice.services import strategy_summaries
from sigservice.services.flags.constraints import OPERATORS
from tests.table_tests import each


def constraint(operator="IN", values=(), field="country", **more):
    return {"contextName": field, "operator": operator, "values": list(values), **more}


def strategy(name="flexibleRollout", **more):
    blank = {"parameters": {}, "constraints": [], "segments": [], "variants": []}
    return {"name": name, **blank, **more}


@each(
    "value summary",
    [
        (constraint("IN", ["DE", "FR"]), "country IN [DE, FR]"),
        (constraint("IN", ["DE"]), "country IN [DE]"),
        (constraint("IN", ["DE"], inverted=True), "country NOT IN [DE]"),
        (constraint("NOT_IN", ["DE", "FR"]), "country NOT IN [DE, FR]"),
        (constraint("NOT_IN", ["DE"], inverted=True), "country IN [DE]"),
        (constraint("STR_CONTAINS", ["a"]), "country contains [a]"),
        (
            constraint("STR_ENDS_WITH", ["a", "b"], inverted=True, caseInsensitive=True),
            "country doesn't end with [a, b] (case-insensitive)",
        ),
        (constraint("IN", ["a"], caseInsensitive=True), "country IN [a]"),
        (constraint("NUM_GTE", value="18", field="age"), "age ≥ 18"),
        (
            constraint("DATE_AFTER", value="2026-01-01T00:00:00Z"),
            "country after 2026-01-01T00:00:00Z",
        ),
        (constraint("SEMVER_LT", value="2.0.0", field="app"), "app < (semver) 2.0.0"),
        (constraint("NEW", ["x"]), "country NEW [x]"),
        (constraint("NEW", ["x"], inverted=True), "country not NEW [x]"),
        (
            constraint("IN", [f"v{n}" for n in range(13)]),
            "country IN [v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, 3 more]",
        ),
    ],
)
def test_constraint_summary_has_field_operator_and_values(value, summary):
    assert strategy_summaries.summarize_constraint(value) == summary


def test_every_operator_has_its_own_label():
    assert set(strategy_summaries.OPERATORS) == set(OPERATORS)
    labels = [pair[0] for pair in strategy_summaries.OPERATORS.values()]
    assert len(set(labels)) == len(labels)
    assert all(plain != inverted for plain, inverted in strategy_summaries.OPERATORS.values())


@each(
    "name parameters summary",
    [
        ("default", {}, "100% of users"),
        ("flexibleRollout", {"rollout": "100", "stickiness": "userId"}, "100% of users"),
        ("flexibleRollout", {"rollout": "0"}, "0% of users"),
        ("flexibleRollout", {}, "0% of users"),
        (
            "flexibleRollout",
            {"rollout": "50", "stickiness": "userId", "groupId": "x"},
            "50% of users · sticky on userId · group x",
        ),
        (
            "flexibleRollout",
            {"rollout": "5", "stickiness": "default", "groupId": "x"},
            "5% of users · sticky on userId or sessionId · group x",
        ),
        (
            "flexibleRollout",
            {"rollout": "5", "stickiness": "random", "groupId": "x"},
            "5% of requests · random",
        ),
        (
            "flexibleRollout",
            {"rollout": "5", "stickiness": "tenant"},
            "5% of users · sticky on tenant",
        ),
        ("gradualRolloutRandom", {"percentage": "7"}, "7% of requests · random"),
        (
            "gradualRolloutSessionId",
            {"percentage": "7", "groupId": "g"},
            "7% of sessions · sticky on sessionId · group g",
        ),
        ("gradualRolloutUserId", {"percentage": "7"}, "7% of users · sticky on userId"),
        ("userWithId", {"userIds": "ada, bob ,,"}, "userId IN [ada, bob]"),
        ("userWithId", {}, "0% of users"),
        ("remoteAddress", {"IPs": "10.0.0.0/8"}, "IP address IN [10.0.0.0/8]"),
        ("applicationHostname", {"hostNames": "web1,web2"}, "hostname IN [web1, web2]"),
        ("moon", {}, "custom strategy moon"),
        (
            "moon",
            {"phase": "full", "empty": "", "sky": "dark"},
            "custom strategy moon · phase=full · sky=dark",
        ),
    ],
)
def test_rollout_summary_has_percentage_and_stickiness(name, parameters, summary):
    item = strategy(name, parameters=parameters)
    assert strategy_summaries.summarize_strategy(item, {}) == summary


def test_strategy_summary_joins_rollout_constraints_segments_and_variants():
    item = strategy(
        parameters={"rollout": "50", "stickiness": "userId", "groupId": "x"},
        constraints=[constraint("IN", ["DE", "FR"])],
        segments=[3, 4],
        variants=[{"name": "a", "weight": 334}, {"name": "b", "weight": 666}],
    )
    assert strategy_summaries.summarize_strategy(item, {3: "beta-users"}) == (
        "50% of users · sticky on userId · group x · country IN [DE, FR] · segment beta-users"
        " · segment 4 · variants a 33.4%, b 66.6%"
    )


@pytest.mark.parametrize(
    ("rollouts", "reach"),
    [
        ((), "100%"),
        ((25,), "25%"),
        ((75, 25), "some"),
        ((0,), "0%"),
        ((0, 25), "25%"),
        ((5, 100), "100%"),
    ],
)
def test_reach_is_a_percentage_or_some(rollouts, reach):
    rows = [strategy(parameters={"rollout": str(rollout)}, disabled=False) for rollout in rollouts]
    assert strategy_summaries.describe_reach(rows) == reach


def test_reach_of_a_restricted_strategy_is_some_and_of_a_disabled_one_nobody():
    disabled = strategy(parameters={"rollout": "10"}, disabled=True)
    by_list = strategy("userWithId", parameters={"userIds": "ada"}, disabled=False)
    limited = strategy(
        parameters={"rollout": "100"}, constraints=[constraint("IN", ["DE"])], disabled=False
    )
    assert strategy_summaries.describe_reach([disabled]) == "0%"
    assert strategy_summaries.describe_reach([disabled, by_list]) == "some"
    assert strategy_summaries.describe_reach([limited]) == "some"


def test_segment_summary_joins_its_constraints():
    two = [constraint("IN", ["DE"]), constraint("NUM_LT", value="9", field="age")]
    summary = strategy_summaries.summarize_segment({"constraints": two})
    assert summary == "country IN [DE] · age < 9"
    assert strategy_summaries.summarize_segment({"constraints": []}) == "100% of users"


@pytest.mark.parametrize(
    ("value", "summary"),
    [
        ({"enabled": True, "variants": []}, "enabled"),
        ({"enabled": False, "variants": []}, "disabled"),
        ({"enabled": True, "variants": ["a", "b"]}, "enabled with variant a or b"),
    ],
)
def test_parent_summary_is_the_required_state(value, summary):
    assert strategy_summaries.summarize_parent(value) == summary
