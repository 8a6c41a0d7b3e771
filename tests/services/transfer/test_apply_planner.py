"""Plans of an apply, without a database."""

from __future__ import annotations

import msgspec
import pytest

from sigservice.services.projects.environments import Environment
from sigservice.services.transfer.apply_planner import Hold, Planner, pair_strategies
from sigservice.services.transfer.flag_files import FileReader
from sigservice.services.transfer.snapshots import (
    Feature,
    FeatureState,
    Project,
    ProjectEnvironment,
    Snapshot,
    StrategyDefinition,
)

pytest.importorskip("hypothesis")
from hypothesis import given, settings
from hypothesis import strategies as st


def make_strategy(id=None, rollout="100", **more):
    parameters = {"rollout": rollout, "stickiness": "default", "groupId": "search"}
    return StrategyDefinition("flexibleRollout", id=id, parameters=parameters, **more)


def make_flag(enabled=True, strategies=(), **more):
    state = FeatureState("production", enabled, [], list(strategies))
    return Feature(name="search", project="default", environments=[state], **more)


def make_existing(*flags):
    links = [ProjectEnvironment("development"), ProjectEnvironment("production")]
    project = Project(id="default", name="Default", environments=links)
    return Snapshot(
        environments=[Environment("production")], projects=[project], features=list(flags)
    )


def plan(existing, members, holds=None, revived=(), **document):
    reader = FileReader()
    reader.read([{"version": 1, "flags": {"search": members}} | document])
    planner = Planner(existing, reader.items, holds or {}, {"default"}, revived)
    return planner.make_plan(reader.snapshot)


def get_state(result):
    ((state,),) = [flag.environments for flag in result.snapshot.features]
    return state


def test_what_a_file_does_not_say_stays():
    existing = make_existing(make_flag(description="Old", stale=True))
    result = plan(existing, {"description": "New"})
    (flag,) = result.snapshot.features
    assert (flag.description, flag.stale) == ("New", True)
    assert get_state(result).enabled is True
    assert [detail["text"] for detail in result.changes[0]["details"]] == [
        'description: "Old" → "New"'
    ]


@pytest.mark.parametrize("members", [None, {}, {"environments": {"production": {}}}])
def test_a_file_without_differences_changes_nothing(members):
    result = plan(make_existing(make_flag(strategies=[make_strategy("a")])), members)
    assert (result.changes, result.unchanged) == ([], 1)


def test_a_state_counts_only_for_a_new_flag():
    production = {"environments": {"production": "on"}}
    assert get_state(plan(make_existing(), production)).enabled is True
    result = plan(make_existing(make_flag(enabled=False)), production)
    assert result.changes == []
    assert result.notes[0]["text"] == "flag search in production stays off, on in the file"


@pytest.mark.parametrize("place", ["document", "flag", "environment"])
def test_an_enforced_state_counts(place):
    inner = {"enabled": False} | ({"states": "enforce"} if place == "environment" else {})
    members = {"environments": {"production": inner}}
    members |= {"states": "enforce"} if place == "flag" else {}
    document = {"states": "enforce"} if place == "document" else {}
    result = plan(make_existing(make_flag(strategies=[make_strategy("a")])), members, **document)
    assert get_state(result).enabled is False


def test_the_innermost_states_count():
    members = {"states": "create", "environments": {"production": "off"}}
    assert plan(make_existing(make_flag()), members, states="enforce").changes == []


def test_switching_on_adds_a_strategy_for_everyone():
    (strategy,) = get_state(
        plan(make_existing(), {"environments": {"production": "on"}})
    ).strategies
    assert strategy.parameters["rollout"] == "100"


def test_a_percentage_counts_only_for_a_new_strategy():
    existing = make_existing(make_flag(strategies=[make_strategy("a", "25", title="Beta")]))
    members = {"environments": {"production": {"rollout": "80"}}}
    result = plan(existing, members)
    (strategy,) = get_state(result).strategies
    assert (strategy.id, strategy.parameters["rollout"], strategy.title) == ("a", "25", None)
    assert "stays at 25%, 80% in the file" in result.notes[0]["text"]
    (strategy,) = get_state(plan(existing, members, states="enforce")).strategies
    assert (strategy.id, strategy.parameters["rollout"]) == ("a", "80")


@pytest.mark.parametrize("reason", ["alert", "schedule"])
def test_what_holds_a_flag_keeps_its_states_and_not_its_definition(reason):
    existing = make_existing(make_flag(enabled=False, strategies=[make_strategy("a", "25")]))
    members = {"environments": {"production": {"enabled": True, "strategies": [
        {"title": "All", "rollout": "80"}]}}}  # fmt: skip
    holds = {("search", "production"): Hold(reason, "held")}
    result = plan(existing, members, holds, states="enforce")
    state = get_state(result)
    assert (state.enabled, state.strategies[0].title) == (False, "All")
    assert state.strategies[0].parameters["rollout"] == "25"
    assert [entry["reason"] for entry in result.holds] == [reason, reason]


def test_a_release_keeps_the_strategies_too():
    existing = make_existing(make_flag(strategies=[make_strategy("a", "25")]))
    members = {"environments": {"production": {"strategies": [{"title": "All"}]}}}
    holds = {("search", "production"): Hold("release", "a release")}
    result = plan(existing, members, holds, states="enforce")
    assert result.changes == []
    assert result.holds[-1]["text"] == "flag search in production keeps its strategies: a release"


def test_without_its_last_active_strategy_an_environment_is_off():
    existing = make_existing(make_flag(strategies=[make_strategy("a")]))
    result = plan(existing, {"environments": {"production": {"strategies": []}}})
    assert get_state(result).enabled is False
    assert "production: on → off" in [it["text"] for it in result.changes[0]["details"]]


def test_a_revived_flag_is_off_whatever_the_file_says():
    existing = make_existing(make_flag(enabled=False))
    members = {"environments": {"production": "on"}}
    result = plan(existing, members, revived={"search"}, states="enforce")
    assert result.changes[0]["change"] == "revive"
    assert get_state(result).enabled is False


def test_the_order_of_tags_is_no_change():
    existing = make_existing(make_flag())
    tagged = plan(existing, {"tags": ["team:a", "urgent"]}).snapshot.features[0]
    assert plan(make_existing(tagged), {"tags": ["urgent", "team:a"]}).changes == []


def test_strategies_are_paired_by_title_then_equality_then_order():
    old = [make_strategy("a", title="A"), make_strategy("b"), make_strategy("c", disabled=True)]
    new = [make_strategy(disabled=True), make_strategy(segments=["s"]), make_strategy(title="A")]
    assert [pair.id for pair in pair_strategies(old, new)] == ["c", "b", "a"]


def test_strategies_in_another_order_keep_their_ids():
    old = [make_strategy(n, title=n, sortOrder=order) for n, order in (("a", 3), ("b", 9))]
    members = {"environments": {"production": {"strategies": [{"title": "b"}, {"title": "a"}]}}}
    state = get_state(plan(make_existing(make_flag(strategies=old)), members))
    assert [(it.id, it.sortOrder) for it in state.strategies] == [("b", 0), ("a", 1)]


def test_a_strategy_at_the_end_leaves_the_others_in_place():
    old = [make_strategy("a", title="a", sortOrder=7)]
    members = {"environments": {"production": {"strategies": [{"title": "a"}, {"title": "b"}]}}}
    state = get_state(plan(make_existing(make_flag(strategies=old)), members))
    assert [(it.id, it.sortOrder) for it in state.strategies] == [("a", 7), (None, 8)]


STRATEGIES = st.lists(
    st.fixed_dictionaries(
        {},
        optional={
            "title": st.sampled_from(["a", "b"]),
            "rollout": st.sampled_from(["0", "25", "100"]),
            "disabled": st.booleans(),
        },
    ),
    max_size=4,
)
PLACES = st.fixed_dictionaries({}, optional={"enabled": st.booleans(), "strategies": STRATEGIES})


@settings(max_examples=200, deadline=None)
@given(first=PLACES, second=PLACES, states=st.sampled_from(["create", "enforce"]))
def test_applying_twice_is_applying_once(first, second, states):
    def apply(existing, place):
        result = plan(existing, {"environments": {"production": place}}, states=states)
        for flag in result.snapshot.features:
            for state in flag.environments:
                for n, strategy in enumerate(state.strategies or []):
                    strategy.id = strategy.id or f"{flag.name}-{n}-{id(strategy)}"
        return result, make_existing(*(result.snapshot.features or existing.features))

    _, existing = apply(make_existing(), first)
    _, existing = apply(existing, second)
    before = msgspec.json.encode(existing)
    result, after = apply(existing, second)
    assert result.changes == []
    assert msgspec.json.encode(after) == before


@settings(max_examples=200, deadline=None)
@given(old=STRATEGIES, new=STRATEGIES)
def test_each_strategy_is_paired_at_most_once(old, new):
    before = [make_strategy(str(n), it.get("rollout", "100"), title=it.get("title"))
              for n, it in enumerate(old)]  # fmt: skip
    pairs = pair_strategies(before, [make_strategy(title=it.get("title")) for it in new])
    ids = [pair.id for pair in pairs if pair is not None]
    assert len(ids) == len(set(ids)) == min(len(old), len(new))
