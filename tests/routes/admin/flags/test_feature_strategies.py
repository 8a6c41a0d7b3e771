"""Strategies: stored format, invalid input, and the last active one."""

from __future__ import annotations

import pytest

from tests.routes.kit import FEATURES, SEGMENTS, race

STATE = f"{FEATURES}/a/environments/development"
PATH = f"{STATE}/strategies"
RULE = {"contextName": "userId", "operator": "IN", "values": ["1"]}
VARIANT = {"name": "red", "weight": 1000, "weightType": "variable", "stickiness": "default"}


@pytest.fixture
def flag(admin):
    return admin.flag()


def full(**more):
    return {
        "name": "flexibleRollout",
        "title": "Ten percent",
        "disabled": False,
        "sortOrder": 3,
        "parameters": {"rollout": "10", "stickiness": "userId", "groupId": "g"},
        "constraints": [RULE],
        "variants": [VARIANT],
        "segments": [],
    } | more


def test_everything_comes_back_as_it_was_sent(admin, flag):
    segments = [admin.segment("one"), admin.segment("two")]
    added = admin.post(PATH, full(segments=[*segments[::-1], segments[0]]))
    assert added.items() >= full(segments=segments).items()
    assert admin.get(PATH) == [added]
    assert admin.get(f"{PATH}/{added['id']}") == added
    (event,) = admin.events(1)
    assert (event["type"], event["data"], event["preData"]) == ("feature-strategy-add", added, None)
    assert (event["featureName"], event["environment"]) == ("a", "development")
    assert admin.get(f"{FEATURES}/a/environments/production/strategies") == []


def test_parameters_become_text(admin, flag):
    parameters = {"rollout": 50, "a": 1.5, "b": True, "c": None, "d": "", "e": 1e300, "f": 10**30}
    saved = admin.post(PATH, {"name": "flexibleRollout", "parameters": parameters})["parameters"]
    assert all(isinstance(value, str) for value in saved.values())
    assert (saved["rollout"], saved["a"], saved["b"], saved["d"]) == ("50", "1.5", "true", "")
    assert float(saved["e"]) == 1e300
    assert saved["f"] == str(10**30)
    assert (saved["stickiness"], saved["groupId"]) == ("default", "a")
    assert "c" not in saved
    assert admin.post(PATH, {"name": "default"})["parameters"] == {}


ROLLOUTS = ["-1", "101", -1, 101, 50.5, "", " 5", "5 ", "5%", "1e1", "٥", True, "NaN", 1e300, "+5"]
BAD = [
    ({"name": ""}, "name"),
    ({"name": "none"}, "name"),
    ({"name": "x" * 90_000}, "name"),
    (full(title="é" * 201), "title"),
    (full(sortOrder=2**31), "sortOrder"),
    (full(sortOrder=-(2**31) - 1), "sortOrder"),
    (full(sortOrder=2**63), "sortOrder"),
    (full(sortOrder=10**40), "sortOrder"),
    (full(parameters={"x" * 101: "1"}), "parameters." + "x" * 100),
    *((full(parameters={"rollout": value}), "parameters.rollout") for value in ROLLOUTS),
    (
        {"name": "gradualRolloutUserId", "parameters": {"percentage": "101", "groupId": "g"}},
        "parameters.percentage",
    ),
    (full(constraints=[{"operator": "IN"}]), "constraints[0].contextName"),
    (full(constraints=[{"contextName": "x"}]), "constraints[0].operator"),
    (full(constraints=[RULE | {"operator": "EQ"}]), "constraints[0].operator"),
    (full(constraints=[RULE | {"contextName": ""}]), "constraints[0].contextName"),
    (full(constraints=[RULE | {"values": []}]), "constraints[0].values"),
    (full(constraints=[RULE | {"values": [True]}]), "constraints[0].values[0]"),
    (full(constraints=[RULE | {"values": ["a", ""]}]), "constraints[0].values[1]"),
    (full(constraints=[RULE | {"values": ["1"] * 251}]), "constraints[0].values"),
    (full(constraints=[RULE] * 31), "constraints"),
    (
        full(constraints=[{"contextName": "x", "operator": "NUM_GT", "value": "five"}]),
        "constraints[0].value",
    ),
    (
        full(constraints=[{"contextName": "x", "operator": "DATE_AFTER", "value": "today"}]),
        "constraints[0].value",
    ),
    (
        full(constraints=[{"contextName": "x", "operator": "SEMVER_EQ", "value": "1"}]),
        "constraints[0].value",
    ),
    (
        full(constraints=[{"contextName": "x", "operator": "REGEX", "value": "("}]),
        "constraints[0].value",
    ),
    (full(variants=[{}]), "variants[0].name"),
    (full(variants=[VARIANT | {"name": ""}]), "variants[0].name"),
    (full(variants=[VARIANT, VARIANT]), "variants[1].name"),
    (full(variants=[VARIANT | {"weight": -1}]), "variants[0].weight"),
    (full(variants=[VARIANT | {"weight": 2**31}]), "variants[0].weight"),
    (full(variants=[VARIANT | {"weight": 10**40}]), "variants[0].weight"),
    (full(variants=[VARIANT | {"weightType": "fixed"}]), "variants[0].weightType"),
    (full(variants=[VARIANT | {"weightType": "fix"}]), "variants"),
    (full(variants=[VARIANT | {"stickiness": ""}]), "variants[0].stickiness"),
    (full(variants=[VARIANT | {"stickiness": None}]), "variants[0].stickiness"),
    (full(variants=[VARIANT | {"payload": {"type": "json"}}]), "variants[0].payload.value"),
    (
        full(variants=[VARIANT | {"payload": {"type": "xml", "value": ""}}]),
        "variants[0].payload.type",
    ),
    (
        full(variants=[VARIANT | {"payload": {"type": "json", "value": "[" * 30_000}}]),
        "variants[0].payload.value",
    ),
    (
        full(variants=[VARIANT | {"payload": {"type": "number", "value": "1e400"}}]),
        "variants[0].payload.value",
    ),
    (full(variants=[{"name": f"v{n}"} for n in range(101)]), "variants"),
    (full(segments=list(range(1, 7))), "segments"),
    (full(title="x" * 201, sortOrder=2**31, parameters={"rollout": 101}), "parameters.rollout"),
]


def test_invalid_strategies_are_rejected_and_change_nothing(admin, flag):
    saved = admin.strategy()
    before = admin.read_state()
    for method, path in (("POST", PATH), ("PUT", f"{PATH}/{saved['id']}")):
        admin.all_refused(method, path, BAD)
        result = admin.refusals(
            method,
            path,
            [full(segments=[id]) for id in (0, -1, 999, 2**31, 2**63, 10**40)],
        )
        assert set(map(str, result.values())) == {"(404, ['segments'])"}
    everything = full(title="x" * 201, sortOrder=2**31, parameters={"rollout": 101})
    ((_, paths),) = admin.refusals("POST", PATH, [everything]).values()
    assert paths == ["title", "sortOrder", "parameters.rollout"]
    assert admin.read_state() == before


def test_the_edges_are_accepted(admin, flag):
    for more in (
        {"title": "é" * 200},
        {"sortOrder": 2**31 - 1},
        {"sortOrder": -(2**31)},
        {"parameters": {"rollout": 0}},
        {"parameters": {"rollout": "100"}},
        {"parameters": {"rollout": 5.0}},
        {"constraints": [RULE] * 30},
        {"constraints": [RULE | {"values": ["😀" * 100] * 70}]},
        {"variants": [VARIANT | {"name": "ж" * 100}]},
        {"unknown": [1]},
    ):
        assert admin.post(PATH, full(**more))["id"]


def test_after_the_last_order_there_is_room(admin, flag):
    first = admin.post(PATH, {"name": "default", "sortOrder": 2**31 - 1})
    second = admin.post(PATH, {"name": "default"})
    assert [strategy["id"] for strategy in admin.get(PATH)] == [first["id"], second["id"]]


def test_replace_keeps_title_state_and_order(admin, flag):
    added = admin.post(PATH, full(disabled=True, segments=[admin.segment()]))
    path = f"{PATH}/{added['id']}"
    after = admin.put(path, {"name": "default"})
    rest = {key: added[key] for key in ("id", "title", "disabled", "sortOrder")}
    gone = {"parameters": {}, "constraints": [], "variants": [], "segments": []}
    assert after == {"name": "default"} | rest | gone
    assert admin.get(path) == after
    (event,) = admin.events(1)
    assert event["type"] == "feature-strategy-update"
    assert (event["preData"], event["data"]) == (added, after)
    assert admin.put(path, {"name": "default", "title": None})["title"] is None


def test_patches(admin, flag):
    added = admin.post(PATH, full())
    path = f"{PATH}/{added['id']}"

    def step(op, at, **more):
        return {"op": op, "path": at, **more}

    after = admin.patch(
        path,
        [
            step("replace", "/parameters/rollout", value=20),
            step("add", "/constraints/-", value=RULE | {"inverted": True}),
            step("remove", "/variants/0"),
        ],
    )
    assert after["parameters"]["rollout"] == "20"
    assert after["constraints"] == [RULE, RULE | {"inverted": True}]
    assert (after["variants"], after["title"]) == ([], added["title"])
    assert admin.events(1)[0]["preData"] == added
    assert admin.patch(path, [step("remove", "/title")])["title"] is None
    invalid = [
        ([step("replace", "/parameters/rollout", value=101)], "parameters.rollout"),
        ([step("add", "/constraints/-", value={})], "constraints[2].contextName"),
        ([step("remove", "/name")], "name"),
        ([step("replace", "/segments", value=[1] * 6 + [2, 3, 4, 5, 6])], "segments"),
        ([step("replace", "/sortOrder", value=2**31)], "sortOrder"),
        ([{"op": "add", "path": "/variants/-", "value": VARIANT}] * 2, "variants[1].name"),
    ]
    admin.all_refused("PATCH", path, invalid)
    admin.refusals("PATCH", path, [[step("remove", "/none")]])


def test_patches_at_once_lose_nothing(service, admin, flag):
    path = f"{PATH}/{admin.strategy()['id']}"
    rules = [RULE | {"values": [str(n)]} for n in range(10)]

    def change(racer, n):
        steps = [{"op": "add", "path": "/constraints/-", "value": rules[n]}]
        return racer.ask("PATCH", path, steps).status_int

    assert race(service, 10, change) == [200] * 10
    values = sorted(rule["values"] for rule in admin.get(path)["constraints"])
    assert values == sorted(rule["values"] for rule in rules)


def is_on(admin):
    return admin.get(STATE)["enabled"]


def test_the_last_active_strategy_switches_the_flag_off(admin, flag):
    first, second, third = (admin.strategy()["id"] for _ in range(3))
    admin.post(f"{STATE}/on")
    admin.put(f"{PATH}/{first}", {"name": "default", "disabled": True})
    admin.delete(f"{PATH}/{second}")
    assert is_on(admin)
    admin.patch(f"{PATH}/{third}", [{"op": "replace", "path": "/disabled", "value": True}])
    assert not is_on(admin)
    updated, disabled = admin.events(2)
    assert updated["type"] == "feature-strategy-update"
    assert disabled["type"] == "feature-environment-disabled"
    admin.put(f"{PATH}/{third}", {"name": "default", "disabled": False})
    assert not is_on(admin)  # nothing enabled it
    admin.post(f"{STATE}/on")
    admin.delete(f"{PATH}/{third}")
    assert not is_on(admin)
    removed, disabled = admin.events(2)
    assert (removed["type"], removed["preData"]["id"]) == ("feature-strategy-remove", third)
    assert disabled["type"] == "feature-environment-disabled"


def test_sorting(admin, flag):
    one, two, three = (admin.strategy(title=title)["id"] for title in ("one", "two", "three"))
    other = admin.strategy(environment="production")["id"]
    orders = [
        {"id": three, "sortOrder": 0},
        {"id": one, "sortOrder": 7},
        {"id": two, "sortOrder": 7},
    ]
    admin.post(f"{PATH}/set-sort-order", [*orders, {"id": other, "sortOrder": 9}, orders[0]])
    assert [strategy["id"] for strategy in admin.get(PATH)] == [three, one, two]
    production = admin.get(f"{FEATURES}/a/environments/production/strategies")
    assert production[0]["sortOrder"] == 0
    (event,) = admin.events(1)
    assert event["type"] == "strategy-order-changed"
    assert event["preData"] == {"strategyIds": [one, two, three]}
    assert event["data"] == {"strategyIds": [three, one, two]}
    admin.all_refused(
        "POST",
        f"{PATH}/set-sort-order",
        [
            ([orders[0], {"id": one, "sortOrder": 2**31}], "[1].sortOrder"),
            ([{"id": one, "sortOrder": -(10**30)}], "[0].sortOrder"),
        ],
    )


def test_unknown_strategies_are_404(admin, flag):
    id = admin.strategy()["id"]
    before = admin.read_state()
    places = (
        f"{FEATURES}/a/environments/none",
        f"{FEATURES}/b/environments/development",
        "/api/admin/projects/other/features/a/environments/development",
    )
    for place in places:
        admin.get(f"{place}/strategies", 404)
        admin.post(f"{place}/strategies", full(), 404)
        admin.post(f"{place}/strategies/set-sort-order", [], 404)
    elsewhere = f"{FEATURES}/a/environments/production/strategies/{id}"
    ids = [f"{PATH}/{name}" for name in ("none", "..", "%2e%2e%2fx", "0", "x" * 3000, id.upper())]
    for path in [elsewhere, *ids, *(f"{place}/strategies/{id}" for place in places)]:
        assert admin.ask("GET", path).status_int == 404
        assert admin.ask("PUT", path, full()).status_int == 404
        assert admin.ask("PATCH", path, []).status_int == 404
        assert admin.ask("DELETE", path).status_int == 404
    assert admin.read_state() == before


def test_at_most_thirty_strategies_even_at_once(service, admin, flag):
    for _ in range(20):
        admin.strategy()
    before = admin.revisions_ahead()

    def add(racer, _):
        return racer.ask("POST", PATH, full()).status_int

    assert sorted(race(service, 20, add)) == [200] * 10 + [400] * 10
    assert len(admin.get(PATH)) == 30
    assert admin.revision() == before + 10
    answer = admin.ask("POST", PATH, full(), 400)
    assert answer.json["name"] == "ExceedsLimitError"
    admin.strategy(environment="production")


def test_segment_of_another_project_is_rejected(admin, flag):
    admin.rows("INSERT INTO projects (id, name) VALUES ('other', 'Other')")
    own, foreign, free = (
        admin.segment("own", project="default"),
        admin.segment("foreign", project="other"),
        admin.segment("free"),
    )
    added = admin.strategy(segments=[own, free])
    rows = [(full(segments=[own, foreign]), "segments")]
    admin.all_refused("POST", PATH, rows)
    admin.all_refused("PUT", f"{PATH}/{added['id']}", rows)
    admin.all_refused(
        "POST",
        f"{SEGMENTS}/strategies",
        [
            (
                {"projectId": "default", "environmentId": "development"}
                | {"strategyId": added["id"], "segmentIds": [foreign]},
                "segments",
            )
        ],
    )


def test_constraints_are_checked_without_being_stored(admin):
    path = "/api/admin/constraints/validate"
    admin.post(path, RULE, 204)
    admin.post(path, {"contextName": "x", "operator": "NUM_GT", "value": 5}, 204)
    admin.all_refused(
        "POST",
        path,
        [
            (RULE | {"values": []}, "values"),
            (RULE | {"values": ["1", ""]}, "values[1]"),
            (RULE | {"operator": "NUM_GT", "value": "a"}, "value"),
        ],
    )
