"""Strategies of a flag in an environment, their order, and invalid bodies."""

from __future__ import annotations

import re

import pytest

from tests.contract.kit import users

ROLLOUT = {"rollout": "50", "stickiness": "default", "groupId": "demo"}


@pytest.fixture
def path(api) -> str:
    api.flag()
    return f"{api.at('demo')}/strategies"


def test_create_and_read(api, check, path):
    segment = api.segment()
    body = {
        "name": "flexibleRollout",
        "title": "Half",
        "parameters": ROLLOUT,
        "constraints": [users("1")],
        "segments": [segment],
        "variants": [{"name": "a", "weight": 1000, "weightType": "variable",
                      "stickiness": "default"}],
    }  # fmt: skip
    answer = api.post(path, body)
    if check.status(answer, 200):
        item = answer.json
        check(re.fullmatch(r"[0-9a-f-]{36}", item.get("id", "")), f"id {item.get('id')}")
        for key in ("name", "title", "parameters", "segments"):
            check.equal(item.get(key), body[key], key)
        check.equal(item.get("disabled"), False, "disabled")
        check.equal(item["constraints"][0]["values"], ["1"], "constraints")
        check.equal(item["variants"][0]["weight"], 1000, "variants")
        check("sortOrder" in item, "sortOrder")
        one = api.get(f"{path}/{item['id']}")
        if check.status(one, 200):
            check.equal(one.json["id"], item["id"], "id")
            check.equal(one.json["parameters"], ROLLOUT, "parameters")
        items = api.get(path)
        if check.status(items, 200):
            check(isinstance(items.json, list), "a bare array")
            check.equal([s["id"] for s in items.json], [item["id"]], "ids")
    plain = api.post(path, {"name": "default"})
    check.status(plain, 200, "the least")
    check.equal(plain.json.get("constraints"), [], "no constraints")
    unknown = "00000000-0000-0000-0000-000000000000"
    for bad in (unknown, "x", "1", "%00"):
        for method in ("GET", "DELETE"):
            answer = api.ask(method, f"{path}/{bad}")
            check(answer.status_int in (404, 400), f"{method} {bad}: {answer.status}")
    check.error(api.get(f"{path}/{unknown}"), 404)
    check.error(api.put(f"{path}/{unknown}", {"name": "default"}), 404)
    check.error(api.patch(f"{path}/{unknown}", []), 404)
    check.error(api.post(f"{api.at('nothing')}/strategies", body), 404)
    check.error(api.post(f"{api.at('demo', 'nowhere')}/strategies", {"name": "default"}), 404)
    check.error(api.post(path, {"name": "default", "segments": [999_999]}), (400, 404))


def test_each_built_in_strategy(api, check, path):
    for name, parameters in (
        ("default", {}),
        ("userWithId", {"userIds": "1,2"}),
        ("flexibleRollout", ROLLOUT),
        ("gradualRolloutUserId", {"percentage": "50", "groupId": "g"}),
        ("gradualRolloutSessionId", {"percentage": "50", "groupId": "g"}),
        ("gradualRolloutRandom", {"percentage": "50"}),
        ("remoteAddress", {"IPs": "10.0.0.1"}),
        ("applicationHostname", {"hostNames": "a,b"}),
    ):
        answer = api.post(path, {"name": name, "parameters": parameters})
        if check.status(answer, 200, name):
            check.equal(answer.json["parameters"], parameters, name)


def test_replace(api, check, path):
    item = api.strategy("demo", title="Kept", constraints=[users("1")], segments=[api.segment()])
    other = api.strategy("demo")
    body = {"name": "flexibleRollout", "parameters": ROLLOUT, "constraints": [], "segments": []}
    answer = api.put(f"{path}/{item['id']}", body)
    if check.status(answer, 200):
        check.equal(answer.json["id"], item["id"], "id")
    now = api.get(f"{path}/{item['id']}").json
    check.equal(now["name"], "flexibleRollout", "name")
    check.equal(now["title"], "Kept", "the title is kept when absent")
    check.equal(now["constraints"], [], "constraints")
    check.equal(now.get("segments", []), [], "segments")
    check.equal(now["parameters"], ROLLOUT, "parameters")
    check.equal(api.get(f"{path}/{other['id']}").json["name"], "default", "the other one")
    api.flag("second")
    foreign = f"{api.at('second')}/strategies/{item['id']}"
    for method, more in (("GET", ()), ("PUT", (body,)), ("DELETE", ())):
        check.error(api.ask(method, foreign, *more), 404, message="through another flag")
    elsewhere = f"{api.at('demo', 'production')}/strategies/{item['id']}"
    for method, more in (("GET", ()), ("PUT", (body,)), ("DELETE", ())):
        check.error(api.ask(method, elsewhere, *more), 404, message="through another environment")


def test_patch(api, check, path):
    item = api.strategy("demo", name="flexibleRollout", parameters=ROLLOUT)
    one = f"{path}/{item['id']}"
    patch = [
        {"op": "replace", "path": "/parameters/rollout", "value": "75"},
        {"op": "add", "path": "/constraints/-", "value": users("3")},
        {"op": "replace", "path": "/title", "value": "More"},
    ]
    check.status(api.patch(one, patch), 200)
    now = api.get(one).json
    check.equal(now["parameters"]["rollout"], "75", "rollout")
    check.equal(now["constraints"][0]["values"], ["3"], "constraints")
    check.equal(now["title"], "More", "title")
    for bad in (
        {},
        [{"op": "replace", "path": "/parameters/rollout", "value": "101"}],
        [{"op": "replace", "path": "/constraints", "value": "x"}],
        [{"op": "add", "path": "/constraints/-", "value": {"contextName": "a"}}],
        [{"op": "nonsense", "path": "/title"}],
        [{"op": "replace", "path": "title", "value": "x"}],
    ):
        check.error(api.patch(one, bad), 400)
    check.equal(api.get(one).json, now, "what was refused changed nothing")


def test_order(api, check, path):
    ids = [api.strategy("demo", title=str(n))["id"] for n in range(3)]

    def order() -> list[str]:
        return [s["id"] for s in api.get(path).json]

    check.equal(order(), ids, "as they came")
    orders = [{"id": id, "sortOrder": 10 - n} for n, id in enumerate(ids)]
    check.status(api.post(f"{path}/set-sort-order", orders), 200)
    check.equal(order(), ids[::-1], "as told")
    titles = [s["title"] for s in api.state("demo")["strategies"]]
    check.equal(titles, ["2", "1", "0"], "in the environment")
    for bad in ({}, [{}], [{"id": ids[0]}], [{"id": ids[0], "sortOrder": "x"}], "x"):
        check.error(api.post(f"{path}/set-sort-order", bad), 400)
    unknown_order = [{"id": "00000000-0000-0000-0000-000000000000", "sortOrder": 1}]
    answer = api.post(f"{path}/set-sort-order", unknown_order)
    check(answer.status_int in (200, 400, 404), f"unknown id: {answer.status}")
    check.equal(order(), ids[::-1], "what was refused changed nothing")


def constraint(**more) -> dict:
    return {"contextName": "x", "operator": "IN", "values": ["a"]} | more


def number(value, operator="NUM_EQ") -> dict:
    return {"contextName": "x", "operator": operator, "value": value}


GOOD_CONSTRAINTS = [
    constraint(),
    constraint(operator="NOT_IN"),
    constraint(operator="STR_CONTAINS", caseInsensitive=True),
    constraint(operator="STR_STARTS_WITH", inverted=True),
    constraint(operator="STR_ENDS_WITH"),
    constraint(contextName="neverHeardOf"),
    constraint(values=["a" * 100]),
    *(number(v) for v in ("1", "-1.5", "0", "1e3")),
    *(number("1", f"NUM_{o}") for o in ("GT", "GTE", "LT", "LTE")),
    *(number("2024-02-29T12:00:00.000Z", f"DATE_{o}") for o in ("AFTER", "BEFORE")),
    number("2024-02-29T12:00:00+02:00", "DATE_AFTER"),
    *(number("1.2.3", f"SEMVER_{o}") for o in ("EQ", "GT", "GTE", "LT", "LTE")),
    number("1.2.3-beta.1", "SEMVER_EQ"),
    number("^a+$", "REGEX"),
]
#: constraint | what the path of a detail names
BAD_CONSTRAINTS = [
    ("x", "constraints"),
    ({}, "constraints"),
    ({"operator": "IN", "values": ["a"]}, "constraints"),
    ({"contextName": "x", "values": ["a"]}, "constraints"),
    (constraint(contextName=""), "contextName"),
    (constraint(contextName=3.5), "contextName"),
    (constraint(operator="LIKE"), "operator"),
    (constraint(operator="in"), "operator"),
    (constraint(operator=None), "operator"),
    (constraint(values=[]), "values"),
    (constraint(values="a"), "values"),
    (constraint(values=[""]), "values"),
    (constraint(values=["a" * 101]), "values"),
    (constraint(values=[{"a": 1}]), "values"),
    (constraint(values=["a"] * 251), "constraints"),
    (constraint(inverted="perhaps"), "inverted"),
    (constraint(caseInsensitive=[1]), "caseInsensitive"),
    ({"contextName": "x", "operator": "STR_CONTAINS"}, "constraints"),
    ({"contextName": "x", "operator": "NUM_EQ"}, "constraints"),
    (number(""), "value"),
    (number("abc"), "value"),
    (number("1,5"), "value"),
    (number("NaN"), "value"),
    (number("Infinity"), "value"),
    (number(["1"]), "value"),
    (number("yesterday", "DATE_AFTER"), "value"),
    (number("2024-02-30T00:00:00Z", "DATE_AFTER"), "value"),
    (number("", "DATE_BEFORE"), "value"),
    (number("1.2", "SEMVER_EQ"), "value"),
    (number("v1.2.3", "SEMVER_EQ"), "value"),
    (number("1.2.3.4", "SEMVER_GT"), "value"),
    (number("01.2.3", "SEMVER_GT"), "value"),
    (number("", "SEMVER_LT"), "value"),
    (number("(a", "REGEX"), "value"),
    (number("a", "REGEX") | {"inverted": True}, "inverted"),
    (number("(a)\\1", "REGEX"), "value"),
    (number("a(?=b)", "REGEX"), "value"),
]


def test_constraints(api, check, path):
    for valid in GOOD_CONSTRAINTS:
        check.status(api.post("/api/admin/constraints/validate", valid), 204, str(valid))
    check.status(api.post(path, {"name": "default", "constraints": GOOD_CONSTRAINTS}), 200, "all")
    saved = len(api.get(path).json)
    for bad, where in BAD_CONSTRAINTS:
        body = {"name": "default", "constraints": [constraint(), bad]}
        check.error(api.post(path, body), 400, where, str(bad)[:100])
        if isinstance(bad, dict):
            answer = api.post("/api/admin/constraints/validate", bad)
            check.error(answer, 400, message=str(bad)[:100])
    check.equal(len(api.get(path).json), saved, "nothing bad was stored")
    body = {"name": "default", "constraints": [{}, constraint(), number("abc")]}
    check.error(api.post(path, body), 400, "constraints")


def test_where_in_the_list_a_constraint_is_bad(api, check, path):
    body = {"name": "default", "constraints": [constraint(), constraint(), number("abc")]}
    answer = api.post(path, body)
    check.error(answer, 400, "2")


def variant(name="a", weight=1000, **more) -> dict:
    return {
        "name": name,
        "weight": weight,
        "weightType": "variable",
        "stickiness": "default",
    } | more


BAD_VARIANTS = [
    ("x", "variants"),
    (["x"], "variants"),
    ([{}], "variants"),
    ([variant(name="")], "name"),
    ([variant(), variant()], "variants"),
    ([variant(weight=-1)], "weight"),
    ([variant(weight=1001)], "weight"),
    ([variant(weight=0.5)], "weight"),
    ([variant(weight="many")], "weight"),
    ([variant(weightType="sometimes")], "weightType"),
    ([variant(weight=500, weightType="fix")], "variants"),
    (
        [variant(), variant("b", 600, weightType="fix"), variant("c", 500, weightType="fix")],
        "variants",
    ),
    ([variant(payload={"type": "xml", "value": "x"})], "payload"),
    ([variant(payload={"type": "string"})], "payload"),
    ([variant(payload={"value": "x"})], "payload"),
    ([variant(payload="x")], "payload"),
    ([variant(payload={"type": "json", "value": "{"})], "payload"),
    ([variant(payload={"type": "number", "value": "many"})], "payload"),
    ([variant(stickiness=7.5)], "stickiness"),
]


def test_variants(api, check, path):
    body = {"name": "flexibleRollout", "parameters": ROLLOUT}
    for bad, where in BAD_VARIANTS:
        check.error(api.post(path, body | {"variants": bad}), 400, where, str(bad)[:120])
    check.equal(api.get(path).json, [], "nothing bad was stored")
    payloads = [
        {"type": "json", "value": '{"a": [1]}'},
        {"type": "csv", "value": "a,b"},
        {"type": "string", "value": ""},
        {"type": "number", "value": "1.5"},
    ]
    for payload in payloads:
        answer = api.post(path, body | {"variants": [variant(payload=payload)]})
        if check.status(answer, 200, str(payload)):
            check.equal(answer.json["variants"][0]["payload"], payload, "payload")
    shares = [variant("a", 0), variant("b", 0), variant("c", 400, weightType="fix")]
    answer = api.post(path, body | {"variants": shares})
    if check.status(answer, 200, "variable ones share the rest"):
        weights = {v["name"]: v["weight"] for v in answer.json["variants"]}
        check.equal(weights, {"a": 300, "b": 300, "c": 400}, "weights")


def test_other_bad_strategies(api, check, path):
    rows = [
        ({}, ""),
        ({"name": ""}, "name"),
        ({"name": 3.5}, "name"),
        ({"name": "neverHeardOf"}, ""),
        ({"name": "default", "title": ["x"]}, "title"),
        ({"name": "default", "disabled": "perhaps"}, "disabled"),
        ({"name": "default", "sortOrder": "first"}, "sortOrder"),
        ({"name": "default", "parameters": "x"}, "parameters"),
        ({"name": "default", "parameters": []}, "parameters"),
        ({"name": "default", "parameters": {"a": {"b": 1}}}, "parameters"),
        ({"name": "default", "constraints": "x"}, "constraints"),
        ({"name": "default", "constraints": [constraint()] * 31}, ""),
        ({"name": "default", "segments": "1"}, "segments"),
        ({"name": "default", "segments": ["x"]}, "segments"),
    ]
    for rollout in ("-1", "101", "1e9", "half", "", "50%", "NaN"):
        parameters = ROLLOUT | {"rollout": rollout}
        rows.append(({"name": "flexibleRollout", "parameters": parameters}, "rollout"))
    for body, where in rows:
        answer = api.post(path, body)
        check.error(answer, (400, 404) if body.get("name") == "neverHeardOf" else 400, where)
    for body in (b"{", b"[]", b""):
        check.error(api.post(path, body), 400)
    check.equal(api.get(path).json, [], "nothing bad was stored")
    for rollout in ("0", "100", "33"):
        parameters = ROLLOUT | {"rollout": rollout}
        answer = api.post(path, {"name": "flexibleRollout", "parameters": parameters})
        check.status(answer, 200, rollout)


def test_replacing_rejects_invalid_bodies(api, check, path):
    item = api.strategy("demo", title="Kept")
    one = f"{path}/{item['id']}"
    before = api.get(one).json
    for body, where in (
        ({"name": "default", "constraints": [constraint(values=[])]}, "values"),
        ({"name": "default", "variants": [variant(), variant()]}, "variants"),
        ({"name": "flexibleRollout", "parameters": ROLLOUT | {"rollout": "101"}}, "rollout"),
        ({"name": "default", "segments": ["x"]}, "segments"),
    ):
        check.error(api.put(one, body), 400, where)
    check.equal(api.get(one).json, before, "what was refused changed nothing")


def test_limits(api, check, path):
    many = [api.segment(f"s{n}") for n in range(6)]
    answer = api.post(path, {"name": "default", "segments": many})
    check.error(answer, 400, message="six segments")
    check.status(api.post(path, {"name": "default", "segments": many[:5]}), 200, "five segments")
    for _ in range(29):
        api.strategy("demo")
    check.error(api.post(path, {"name": "default"}), 400, name="ExceedsLimitError")
    check.status(
        api.post(f"{api.at('demo', 'production')}/strategies", {"name": "default"}),
        200,
        "the limit is for each environment",
    )


def test_flag_variants_are_set_in_an_environment(api, check, path):
    """Unleash only changes legacy variants that exist; tools still create them."""
    variants = path.replace("/strategies", "/variants")
    check.equal(api.get(variants).json.get("variants"), [], "none")
    check.status(api.put(variants, [variant()]), 200, "set")
    check.equal(api.flags(api.client())["demo"]["variants"], [variant()], "for clients")
    patch = [{"op": "remove", "path": "/0"}]
    check.status(api.patch(variants, patch), 200, "removed")
    check.equal(api.flags(api.client())["demo"]["variants"], [], "none for clients")
