"""Strategies, constraints and segments in words."""

from __future__ import annotations

import pytest

from sigservice.services.flags import strategy_summaries
from sigservice.services.flags.constraints import OPERATORS


def constraint(operator="IN", values=(), field="country", **more):
    return {"contextName": field, "operator": operator, "values": list(values), **more}


def strategy(name="flexibleRollout", **more):
    blank = {"parameters": {}, "constraints": [], "segments": [], "variants": []}
    return {"name": name, **blank, **more}


@pytest.mark.parametrize(
    ("stored", "words"),
    [
        (constraint("IN", ["DE", "FR"]), "country is one of DE, FR"),
        (constraint("IN", ["DE"]), "country is DE"),
        (constraint("IN", ["DE"], inverted=True), "country is not DE"),
        (constraint("NOT_IN", ["DE", "FR"]), "country is not one of DE, FR"),
        (constraint("NOT_IN", ["DE"], inverted=True), "country is DE"),
        (constraint("STR_CONTAINS", ["a"]), "country contains a"),
        (
            constraint("STR_ENDS_WITH", ["a", "b"], inverted=True, caseInsensitive=True),
            "country doesn't end with one of a, b, in upper or lower case",
        ),
        (constraint("IN", ["a"], caseInsensitive=True), "country is a"),
        (constraint("NUM_GTE", value="18", field="age"), "age is at least 18"),
        (constraint("DATE_AFTER", value="2026-01-01T00:00:00Z"), "country is after 2026-01-01T00:0"
         "0:00Z"),
        (constraint("SEMVER_LT", value="2.0.0", field="app"), "app is a version before 2.0.0"),
        (constraint("NEW", ["x"]), "country NEW x"),
        (constraint("NEW", ["x"], inverted=True), "country not NEW x"),
        (
            constraint("IN", [f"v{n}" for n in range(13)]),
            "country is one of v0, v1, v2, v3, v4, v5, v6, v7, v8, v9 and 3 more",
        ),
    ],
)  # fmt: skip
def test_constraint(stored, words):
    assert strategy_summaries.summarize_constraint(stored) == words


def test_every_operator_has_words_of_its_own():
    assert set(strategy_summaries.OPERATORS) == set(OPERATORS)
    words = [pair[0] for pair in strategy_summaries.OPERATORS.values()]
    assert len(set(words)) == len(words)
    assert all(plain != inverted for plain, inverted in strategy_summaries.OPERATORS.values())


@pytest.mark.parametrize(
    ("name", "parameters", "words"),
    [
        ("default", {}, "Everybody"),
        ("flexibleRollout", {"rollout": "100", "stickiness": "userId"}, "Everybody"),
        ("flexibleRollout", {"rollout": "0"}, "Nobody"),
        ("flexibleRollout", {}, "Nobody"),
        (
            "flexibleRollout",
            {"rollout": "50", "stickiness": "userId", "groupId": "x"},
            "50 % of users, by userId, group x",
        ),
        (
            "flexibleRollout",
            {"rollout": "5", "stickiness": "default", "groupId": "x"},
            "5 % of users, by userId or else sessionId, group x",
        ),
        (
            "flexibleRollout",
            {"rollout": "5", "stickiness": "random", "groupId": "x"},
            "5 % of requests, at random",
        ),
        ("flexibleRollout", {"rollout": "5", "stickiness": "tenant"}, "5 % of users, by tenant"),
        ("gradualRolloutRandom", {"percentage": "7"}, "7 % of requests, at random"),
        (
            "gradualRolloutSessionId",
            {"percentage": "7", "groupId": "g"},
            "7 % of sessions, by sessionId, group g",
        ),
        ("gradualRolloutUserId", {"percentage": "7"}, "7 % of users, by userId"),
        ("userWithId", {"userIds": "ada, bob ,,"}, "The users ada, bob"),
        ("userWithId", {}, "Nobody"),
        ("remoteAddress", {"IPs": "10.0.0.0/8"}, "The addresses 10.0.0.0/8"),
        ("applicationHostname", {"hostNames": "web1,web2"}, "The hosts web1, web2"),
        ("moon", {}, "As the strategy type moon decides"),
        (
            "moon",
            {"phase": "full", "empty": "", "sky": "dark"},
            "As the strategy type moon decides with phase full, sky dark",
        ),
    ],
)
def test_who(name, parameters, words):
    assert strategy_summaries.summarize_strategy(strategy(name, parameters=parameters), {}) == words


def test_whole_strategy():
    stored = strategy(
        parameters={"rollout": "50", "stickiness": "userId", "groupId": "x"},
        constraints=[constraint("IN", ["DE", "FR"])],
        segments=[3, 4],
        variants=[{"name": "a", "weight": 334}, {"name": "b", "weight": 666}],
    )
    assert strategy_summaries.summarize_strategy(stored, {3: "beta-users"}) == (
        "50 % of users, by userId, group x, if country is one of DE, FR and in the segment "
        "beta-users and in the segment 4; variants: a 33.4 %, b 66.6 %"
    )


def test_segment():
    two = [constraint("IN", ["DE"]), constraint("NUM_LT", value="9", field="age")]
    assert (
        strategy_summaries.summarize_segment({"constraints": two})
        == "If country is DE and age is less than 9"
    )
    assert strategy_summaries.summarize_segment({"constraints": []}) == "Everybody"


@pytest.mark.parametrize(
    ("stored", "words"),
    [
        ({"enabled": True, "variants": []}, "is on"),
        ({"enabled": False, "variants": []}, "is off"),
        ({"enabled": True, "variants": ["a", "b"]}, "is on with the variant a or b"),
    ],
)
def test_parent(stored, words):
    assert strategy_summaries.summarize_parent(stored) == words
