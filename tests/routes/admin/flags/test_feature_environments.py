"""Flags in environments: enable, disable, added strategies, bulk changes."""

from __future__ import annotations

import json

import pytest

from tests.delivery.test_revision_cache import AS_CLIENT, POLL, TOKENS
from tests.routes.kit import FEATURES, PROJECT, Admin, race

ENVIRONMENTS = f"{FEATURES}/a/environments"
STATE = f"{ENVIRONMENTS}/development"
BULK = f"{PROJECT}/bulk_features/environments/development"


def is_on(admin, name="a", environment="development"):
    return admin.get(f"{FEATURES}/{name}/environments/{environment}")["enabled"]


def test_a_disabled_default_strategy_is_enabled_with_the_flag(admin):
    flag = admin.flag()
    path = f"{PROJECT}/environments/development/default-strategy"
    rollout = {"name": "flexibleRollout", "parameters": {"rollout": "5"}}
    admin.post(path, rollout | {"disabled": True})
    for state in ("on", "off", "on"):
        admin.post(f"{flag}/environments/development/{state}")
    (strategy,) = admin.get(f"{flag}/environments/development")["strategies"]
    assert (strategy["disabled"], strategy["parameters"]["rollout"]) == (False, "5")


def test_flag_without_strategy_is_enabled_for_everyone(admin):
    admin.flag()
    assert admin.get(STATE)["strategies"] == []
    admin.post(f"{STATE}/on")
    state = admin.get(STATE)
    assert (state["name"], state["environment"], state["enabled"]) == ("a", "development", True)
    (strategy,) = state["strategies"]
    assert strategy["name"] == "flexibleRollout"
    expected = {"rollout": "100", "stickiness": "default", "groupId": "a"}
    assert strategy["parameters"] == expected
    assert (strategy["constraints"], strategy["disabled"]) == ([], False)
    assert is_on(admin, environment="production") is False
    added, enabled = admin.events(2)
    assert (added["type"], enabled["type"]) == (
        "feature-strategy-add",
        "feature-environment-enabled",
    )
    assert added["data"] == strategy
    for event in (added, enabled):
        assert event["project"] == "default"
        assert (event["featureName"], event["environment"]) == ("a", "development")


def test_flag_with_an_active_strategy_keeps_it_alone(admin):
    admin.flag()
    strategy = admin.strategy()
    admin.post(f"{STATE}/on")
    assert admin.get(STATE)["strategies"] == [strategy]


@pytest.mark.parametrize("way", ["on", "off"])
def test_a_switch_returns_the_flag(admin, way):
    path = admin.flag()
    flag = admin.post(f"{STATE}/{way}")
    assert flag == admin.get(path)
    states = {state["name"]: state["enabled"] for state in flag["environments"]}
    assert states["development"] is (way == "on")


def test_repeated_switch_changes_nothing(admin):
    admin.flag()
    before = admin.read_state()
    admin.post(f"{STATE}/off")
    assert admin.read_state() == before
    admin.post(f"{STATE}/on")
    before = admin.read_state()
    admin.post(f"{STATE}/on")
    assert admin.read_state() == before
    admin.post(f"{STATE}/off")
    assert admin.types(1) == ["feature-environment-disabled"]
    admin.post(f"{STATE}/on")  # the strategy is still there
    assert len(admin.get(STATE)["strategies"]) == 1


def test_disabled_strategies_are_activated_or_joined(admin):
    for name in ("a", "b"):
        admin.flag(name)
        for title in ("one", "two"):
            admin.strategy(name, title=title, disabled=True)
    admin.post(f"{STATE}/on?shouldActivateDisabledStrategies=true")
    strategies = admin.get(STATE)["strategies"]
    assert [(s["title"], s["disabled"]) for s in strategies] == [("one", False), ("two", False)]
    assert is_on(admin)
    first, second, enabled = admin.events(3)
    assert [first["type"], second["type"]] == ["feature-strategy-update"] * 2
    assert (first["preData"]["disabled"], first["data"]["disabled"]) == (True, False)
    assert second["data"] == strategies[1]
    assert enabled["type"] == "feature-environment-enabled"
    admin.post(f"{FEATURES}/b/environments/development/on?shouldActivateDisabledStrategies=false")
    strategies = admin.get(f"{FEATURES}/b/environments/development")["strategies"]
    assert [s["disabled"] for s in strategies] == [True, True, False]


def test_disabled_strategy_is_deleted_and_the_flag_stays_on(admin):
    admin.flag()
    admin.strategy()
    disabled = admin.strategy(disabled=True)
    admin.post(f"{STATE}/on")
    admin.delete(f"{STATE}/strategies/{disabled['id']}")
    assert is_on(admin)


def test_clients_see_a_flag_off_when_its_last_strategy_is_replaced_by_a_disabled_one(make_service):
    admin = Admin(make_service(TOKENS))
    admin.flag()
    only = admin.strategy()
    admin.post(f"{STATE}/on")

    def poll():
        (flag,) = admin.web.get(POLL, headers=AS_CLIENT).json["features"]
        return flag["enabled"]

    assert poll()
    admin.put(f"{STATE}/strategies/{only['id']}", {"name": "default", "disabled": True})
    assert not poll()


def test_the_projects_default_strategy(admin):
    admin.flag()
    segment = admin.segment()
    default = {"name": "flexibleRollout", "parameters": {"rollout": 5}, "segments": [segment]}
    admin.rows(
        "UPDATE project_environments SET default_strategy = %s WHERE environment = 'development'",
        json.dumps(default),
    )
    admin.post(f"{STATE}/on")
    (strategy,) = admin.get(STATE)["strategies"]
    assert (strategy["parameters"]["rollout"], strategy["segments"]) == ("5", [segment])
    admin.post(f"{ENVIRONMENTS}/production/on")
    (strategy,) = admin.get(f"{ENVIRONMENTS}/production")["strategies"]
    assert strategy["parameters"]["rollout"] == "100"


def test_too_many_strategies_are_reported(admin):
    admin.flag()
    for _ in range(30):
        admin.strategy(disabled=True)
    ((status, _),) = admin.refusals("POST", f"{STATE}/on", [None]).values()
    assert status == 400
    admin.post(f"{STATE}/on?shouldActivateDisabledStrategies=true")


def test_an_archived_flag_stays_off(admin):
    path = admin.flag()
    admin.delete(path, 202)
    for way in ("on", "off"):
        ((status, _),) = admin.refusals("POST", f"{STATE}/{way}", [None]).values()
        assert status == 400


def test_unknown_flags_and_environments_are_404(admin):
    admin.flag()
    admin.rows("INSERT INTO environments (name, type, sort_order) VALUES ('lonely', 'test', 9)")
    before = admin.read_state()
    for path in (
        f"{ENVIRONMENTS}/none",
        f"{ENVIRONMENTS}/lonely",  # not the project's
        f"{ENVIRONMENTS}/..",
        f"{ENVIRONMENTS}/Development",
        f"{ENVIRONMENTS}/" + "x" * 3000,
        f"{FEATURES}/b/environments/development",
        "/api/admin/projects/other/features/a/environments/development",
    ):
        admin.get(path, 404)
        admin.get(f"{path}/variants", 404)
        admin.post(f"{path}/on", status=404)
        admin.post(f"{path}/off", status=404)
    for environment in ("none", "lonely"):
        path = f"{PROJECT}/bulk_features/environments/{environment}"
        admin.post(f"{path}/on", {"features": ["a"]}, 404)
        admin.post(f"{path}/off", {"features": ["a"]}, 404)
    assert admin.read_state() == before
    admin.ask("POST", f"{STATE}/on?x=%ff", status=400)
    assert admin.read_state() == before


def test_many_at_once_each_with_its_event(admin):
    for name in ("a", "b", "c"):
        admin.flag(name)
    admin.post(f"{STATE}/on")
    admin.strategy("b", title="mine")
    admin.post(f"{BULK}/on", {"features": ["c", "b", "a"]})
    assert all(is_on(admin, name) for name in "abc")
    assert admin.get(f"{FEATURES}/b/environments/development")["strategies"][0]["title"] == "mine"
    assert len(admin.get(f"{FEATURES}/c/environments/development")["strategies"]) == 1
    types = ["feature-strategy-add", *["feature-environment-enabled"] * 2]
    assert admin.types(3) == types
    assert {e["featureName"] for e in admin.events(2)} == {"b", "c"}
    before = admin.read_state()
    admin.post(f"{BULK}/on", {"features": ["a", "b", "c"]})
    assert admin.read_state() == before
    admin.post(f"{BULK}/off", {"features": ["a", "b", "b"]})
    assert [is_on(admin, name) for name in "abc"] == [False, False, True]
    assert admin.types(2) == ["feature-environment-disabled"] * 2


def test_variants_of_old_flags_are_shown(admin):
    admin.flag()
    variant = {"name": "x", "weight": 1000}
    admin.rows(
        "INSERT INTO feature_environments (feature, environment, variants) "
        "VALUES ('a', 'development', %s)",
        json.dumps([variant]),
    )
    assert admin.get(f"{STATE}/variants") == {"version": 1, "variants": [variant]}
    assert admin.get(f"{ENVIRONMENTS}/production/variants")["variants"] == []
    admin.post(f"{STATE}/on")
    assert admin.get(f"{STATE}/variants")["variants"] == [variant]


def test_20_switches_at_once(service, admin):
    """No deadlock, no failure, and an audit log in a possible order."""
    for name in ("a", "b"):
        admin.flag(name)
    before = admin.revision()

    def toggle(racer, n):
        bodies = [{"features": ["a", "b"]}, {"features": ["b", "a"]}]
        statuses = []
        for turn in range(3):
            way = "on" if (n + turn) % 2 else "off"
            if n % 4 < 2:
                answer = racer.ask("POST", f"{BULK}/{way}", bodies[n % 2])
            else:
                name = "ab"[n % 2]
                path = f"{FEATURES}/{name}/environments/development/{way}"
                answer = racer.ask("POST", path)
            statuses.append(answer.status_int)
        return statuses

    assert race(service, 20, toggle) == [[200] * 3] * 20
    events = admin.get("/api/admin/events?limit=500")["events"][::-1]
    for name in ("a", "b"):
        types = [e["type"] for e in events if e["featureName"] == name]
        switched = [t for t in types if t.startswith("feature-environment-")]
        expected = ["feature-environment-enabled", "feature-environment-disabled"] * len(switched)
        assert switched == expected[: len(switched)]
        assert types.count("feature-strategy-add") == 1
        assert is_on(admin, name) is bool(len(switched) % 2)
    assert admin.revision() > before
