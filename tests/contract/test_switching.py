"""Enabling and disabling in each environment, and the strategies that enabling adds."""

from __future__ import annotations

from tests.contract.kit import users


def test_the_first_on_adds_a_strategy_for_everyone(api, check):
    api.flag()
    check.equal(api.state("demo")["strategies"], [], "none at first")
    check.status(api.post(f"{api.at('demo')}/on"), 200)
    state = api.state("demo")
    check.equal(state["enabled"], True, "enabled")
    check.equal((state["name"], state["environment"]), ("demo", "development"), "names")
    if check.equal(len(state["strategies"]), 1, "one strategy"):
        (strategy,) = state["strategies"]
        check.equal(strategy["name"], "flexibleRollout", "name")
        want = {"rollout": "100", "stickiness": "default", "groupId": "demo"}
        check.equal(strategy["parameters"], want, "parameters")
        check.equal(strategy["constraints"], [], "constraints")
        check.equal(strategy["disabled"], False, "disabled")
    check.status(api.post(f"{api.at('demo')}/on"), 200, "on again")
    check.equal(len(api.state("demo")["strategies"]), 1, "not a second one")
    check.status(api.post(f"{api.at('demo')}/off"), 200)
    check.status(api.post(f"{api.at('demo')}/off"), 200, "off again")
    check.equal(api.state("demo")["enabled"], False, "off")
    check.equal(len(api.state("demo")["strategies"]), 1, "strategies stay")
    api.on("demo")
    check.equal(len(api.state("demo")["strategies"]), 1, "nothing is added the second time")
    check.equal(api.state("demo", "production")["enabled"], False, "other environments")


def test_on_keeps_an_active_strategy(api, check):
    api.flag()
    api.strategy("demo", constraints=[users("7")])
    api.on("demo")
    check.equal([s["name"] for s in api.state("demo")["strategies"]], ["default"], "strategies")


def test_on_with_disabled_strategies_only(api, check):
    api.flag("added")
    api.strategy("added", disabled=True)
    api.on("added")
    strategies = api.state("added")["strategies"]
    check.equal(
        sorted((s["name"], s["disabled"]) for s in strategies),
        [("default", True), ("flexibleRollout", False)],
        "one for everyone is added",
    )

    api.flag("woken")
    api.strategy("woken", disabled=True)
    api.strategy("woken", name="userWithId", disabled=True, parameters={"userIds": "1"})
    answer = api.post(f"{api.at('woken')}/on?shouldActivateDisabledStrategies=true")
    check.status(answer, 200)
    strategies = api.state("woken")["strategies"]
    check.equal(
        sorted((s["name"], s["disabled"]) for s in strategies),
        [("default", False), ("userWithId", False)],
        "those there are activated",
    )
    check.equal(api.state("woken")["enabled"], True, "enabled")


def test_unknown_and_archived_flags_can_not_be_switched(api, check):
    api.flag()
    api.flag("gone")
    api.done("DELETE", api.flag_path("gone"))
    for action in ("on", "off"):
        check.error(api.post(f"{api.at('nothing')}/{action}"), 404)
        check.error(api.post(f"{api.at('demo', 'nowhere')}/{action}"), 404)
        check.error(api.post(f"{api.at('demo', project='nowhere')}/{action}"), 404)
        check.error(api.post(f"{api.at('gone')}/{action}"), (400, 404), message="archived")
    api.project("web")
    api.done("DELETE", "/api/admin/projects/web/environments/production")
    api.flag("theirs", "web")
    check.error(api.post(f"{api.at('theirs', 'production', 'web')}/on"), 404, message="unlinked")


def test_the_last_active_strategy(api, check):
    """Without strategies the flag would be enabled for everyone, so it is disabled instead."""
    removed = api.on(api.flag("removed"))
    (one,) = api.state(removed)["strategies"]
    two = api.strategy(removed)
    path = f"{api.at(removed)}/strategies"
    check.status(api.delete(f"{path}/{one['id']}"), 200)
    check.equal(api.state(removed)["enabled"], True, "one is left")
    check.status(api.delete(f"{path}/{two['id']}"), 200)
    check.equal(api.state(removed)["enabled"], False, "the last was removed")

    patched = api.on(api.flag("patched"))
    (one,) = api.state(patched)["strategies"]
    patch = [{"op": "replace", "path": "/disabled", "value": True}]
    check.status(api.patch(f"{api.at(patched)}/strategies/{one['id']}", patch), 200)
    check.equal(api.state(patched)["enabled"], False, "the last was disabled by PATCH")

    replaced = api.on(api.flag("put"))
    (one,) = api.state(replaced)["strategies"]
    body = {"name": one["name"], "parameters": one["parameters"], "disabled": True}
    check.status(api.put(f"{api.at(replaced)}/strategies/{one['id']}", body), 200)
    check.equal(api.state(replaced)["enabled"], False, "the last was disabled by PUT")

    rest = api.on(api.flag("kept"))
    asleep = api.strategy(rest, disabled=True)
    check.status(api.delete(f"{api.at(rest)}/strategies/{asleep['id']}"), 200)
    check.equal(api.state(rest)["enabled"], True, "a disabled one does not count")
    client = api.flags(api.client())
    for flag in (removed, patched, replaced):
        check.equal(client[flag]["enabled"], False, f"{flag} for clients")
