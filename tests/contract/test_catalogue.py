"""Projects, environments, context fields, strategy types and flag types."""

from __future__ import annotations

import webtest

from tests.contract.kit import Api

P = "/api/admin/projects"
E = "/api/admin/environments"
BUILT_IN_STRATEGIES = {
    "default", "flexibleRollout", "userWithId", "remoteAddress", "applicationHostname",
    "gradualRolloutRandom", "gradualRolloutSessionId", "gradualRolloutUserId",
}  # fmt: skip


def test_projects(api, check):
    answer = api.get(P)
    if check.status(answer, 200):
        check.equal(answer.json["version"], 1, "version")
        (default,) = answer.json["projects"]
        keys = {"id", "name", "description", "health", "featureCount", "memberCount", "createdAt",
                "updatedAt", "archivedAt", "mode", "favorite"}  # fmt: skip
        check(keys <= set(default), f"keys missing: {keys - set(default)}")
        check.equal(default["id"], "default", "the built-in project")
    answer = api.post(P, {"id": "web", "name": "Web", "description": "Shop"})
    if check.status(answer, 201):
        check.equal((answer.json["id"], answer.json["name"]), ("web", "Web"), "body")
    check.error(api.post(P, {"id": "web", "name": "Again"}), 409)
    rows = [
        ({"id": "a b", "name": "x"}, "id"),
        ({"id": "a/b", "name": "x"}, "id"),
        ({"id": "é", "name": "x"}, "id"),
        ({"id": ".", "name": "x"}, "id"),
        ({"id": "*", "name": "x"}, "id"),
        ({"id": "a" * 101, "name": "x"}, "id"),
        ({"id": "x"}, ""),
        ({"id": "x", "name": ""}, "name"),
        ({"id": "x", "name": 3.5}, "name"),
        ({"id": "x", "name": "x", "mode": "secret"}, "mode"),
        ({"id": "x", "name": "x", "environments": "all"}, "environments"),
        ({"id": "y", "name": "x", "environments": ["nowhere"]}, ""),
    ]
    for body, where in rows:
        check.error(api.post(P, body), (400, 404) if "nowhere" in str(body) else 400, where)
    for n in range(2):
        api.flag(f"f{n}", "web")
    counts = {p["id"]: p["featureCount"] for p in api.get(P).json["projects"]}
    check.equal(counts, {"default": 0, "web": 2}, "featureCount")

    overview = api.get(f"{P}/web/overview")
    if check.status(overview, 200):
        body = overview.json
        keys = {"name", "description", "mode", "defaultStickiness", "environments",
                "featureTypeCounts", "members", "health"}  # fmt: skip
        check(keys <= set(body), f"keys missing: {keys - set(body)}")
        check.equal(body["description"], "Shop", "description")
        names = {e["environment"] for e in body["environments"]}
        check.equal(names, {"default", "development", "production"}, "environments")
        counts = {c["type"]: c["count"] for c in body["featureTypeCounts"]}
        check.equal(counts, {"release": 2}, "featureTypeCounts")
    check.error(api.get(f"{P}/nowhere/overview"), 404)

    check.status(api.put(f"{P}/web", {"name": "New", "description": "d"}), 200)
    check.equal(api.get(f"{P}/web/overview").json["name"], "New", "PUT")
    check.error(api.put(f"{P}/nowhere", {"name": "x"}), 404)
    check.error(api.delete(f"{P}/default"), 403, message="the built-in project")
    api.project("empty")
    check.status(api.delete(f"{P}/empty"), (200, 204))
    check("empty" not in {p["id"] for p in api.get(P).json["projects"]}, "deleted")
    check.error(api.delete(f"{P}/nowhere"), 404)


def test_a_token_never_widens_when_its_project_goes(api, check):
    api.project("web")
    client = api.client(projects=["web"])
    api.on(api.flag("ours"))
    check.status(api.delete(f"{P}/web"), (200, 204))
    answer = api.get("/api/client/features", client)
    if check(answer.status_int in (200, 401), f"{answer.status}") and answer.status_int == 200:
        check.equal(answer.json["features"], [], "sees nothing")


def test_environments(api, check):
    answer = api.get(E)
    if check.status(answer, 200):
        check.equal(answer.json["version"], 1, "version")
        actual = {e["name"]: e for e in answer.json["environments"]}
        check.equal(set(actual), {"default", "development", "production"}, "built in")
        keys = {"name", "type", "sortOrder", "enabled", "protected", "projectCount",
                "apiTokenCount", "enabledToggleCount"}  # fmt: skip
        check(keys <= set(actual["default"]), f"keys missing: {keys - set(actual['default'])}")
        check(all(e["enabled"] for e in actual.values()), "all enabled")
        types = (actual["development"]["type"], actual["production"]["type"])
        check.equal(types, ("development", "production"), "types")
    one = api.get(f"{E}/development")
    if check.status(one, 200):
        check.equal(one.json["name"], "development", "name")
    check.error(api.get(f"{E}/nowhere"), 404)

    answer = api.post(E, {"name": "staging", "type": "preproduction", "sortOrder": 5})
    if check.status(answer, 201):
        check.equal((answer.json["name"], answer.json["type"]), ("staging", "preproduction"), "new")
    check.error(api.post(E, {"name": "staging", "type": "test"}), (400, 409), message="taken")
    for body, where in (
        ({}, ""),
        ({"name": "x"}, ""),
        ({"name": "x", "type": "nonsense"}, "type"),
        ({"name": "", "type": "test"}, "name"),
        ({"name": "a b", "type": "test"}, "name"),
        ({"name": "a/b", "type": "test"}, "name"),
        ({"name": "*", "type": "test"}, "name"),
        ({"name": "x", "type": "test", "sortOrder": "last"}, "sortOrder"),
    ):
        check.error(api.post(E, body), 400, where)
    check.status(api.put(f"{E}/staging", {"type": "test", "sortOrder": 9}), 200)
    check.equal(api.get(f"{E}/staging").json["type"], "test", "PUT")
    check.error(api.put(f"{E}/nowhere", {"type": "test"}), 404)

    check.status(api.post(f"{E}/staging/off"), 204)
    check.equal(api.get(f"{E}/staging").json["enabled"], False, "off")
    check.status(api.post(f"{E}/staging/on"), 204)
    check.equal(api.get(f"{E}/staging").json["enabled"], True, "on")
    for action in ("on", "off"):
        check.error(api.post(f"{E}/nowhere/{action}"), 404)
    check.status(api.delete(f"{E}/staging"), 200)
    check.error(api.get(f"{E}/staging"), 404)

    check.status(api.put(f"{E}/sort-order", {"production": 1, "development": 2}), 200)
    actual = {e["name"]: e["sortOrder"] for e in api.get(E).json["environments"]}
    check((actual["production"], actual["development"]) == (1, 2), f"sort-order: {actual}")


def test_counts_of_environments(api, check):
    api.on(api.flag())
    api.client()
    api.frontend()
    actual = {e["name"]: e for e in api.get(E).json["environments"]}
    check.equal(actual["development"]["enabledToggleCount"], 1, "enabledToggleCount")
    check.equal(actual["production"]["enabledToggleCount"], 0, "elsewhere")
    check.equal(actual["development"]["apiTokenCount"], 2, "apiTokenCount")
    check.equal(actual["development"]["projectCount"], 1, "projectCount")
    answer = api.get(f"{E}/project/default")
    if check.status(answer, 200):
        actual = {e["name"]: e for e in answer.json["environments"]}
        check.equal(actual["development"].get("projectEnabledToggleCount"), 1, "in the project")
        check.equal(actual["development"].get("visible"), True, "visible")
        check("projectApiTokenCount" in actual["development"], "projectApiTokenCount")
    check.status(api.get(f"{E}/project/nowhere"), 200, "unknown project")


def test_environments_of_a_project(api, check):
    api.project("web")
    api.done("POST", E, {"name": "staging", "type": "test"})
    path = f"{P}/web/environments"
    check.status(api.post(path, {"environment": "staging"}), (200, 201))
    check.error(api.post(path, {"environment": "staging"}), 409)
    check.error(api.post(path, {"environment": "nowhere"}), (400, 404))
    check.error(api.post(path, {}), 400)
    check.error(api.post(f"{P}/nowhere/environments", {"environment": "staging"}), 404)
    api.flag("demo", "web")
    api.on("demo", "staging", "web")
    check.equal(api.flags(api.client("staging"))["demo"]["enabled"], True, "usable")
    check.status(api.delete(f"{path}/staging"), 200)
    check.status(api.delete(f"{path}/staging"), 200, "once more")
    names = {e["name"] for e in api.read("demo", "web")["environments"]}
    check("staging" not in names, f"unlinked: {names}")


def test_new_project_has_the_requested_environments(api, check):
    answer = api.post(P, {"id": "web", "name": "Web", "environments": ["production"]})
    check.status(answer, 201)
    api.flag("demo", "web")
    names = [e["name"] for e in api.read("demo", "web")["environments"]]
    check.equal(names, ["production"], "environments")


def test_context_fields(api, check):
    path = "/api/admin/context"
    answer = api.get(path)
    if check.status(answer, 200):
        check(isinstance(answer.json, list), "a bare array")
        names = {f["name"] for f in answer.json}
        built_in = {"appName", "currentTime", "environment", "userId", "sessionId"}
        check(built_in <= names, f"built in: {names}")
        keys = {"name", "description", "stickiness", "sortOrder", "legalValues"}
        check(keys <= set(answer.json[0]), f"keys missing: {keys - set(answer.json[0])}")
    body = {
        "name": "region", "description": "Where", "stickiness": True,
        "legalValues": [{"value": "eu", "description": "Europe"}, {"value": "us"}],
    }  # fmt: skip
    answer = api.post(path, body)
    if check.status(answer, 201):
        check.equal(answer.json["name"], "region", "name")
    check.error(api.post(path, body), 409)
    for bad, where in (
        ({}, ""),
        ({"name": ""}, "name"),
        ({"name": 3.5}, "name"),
        ({"name": "x", "legalValues": "eu"}, "legalValues"),
        ({"name": "x", "legalValues": [{}]}, "legalValues"),
        ({"name": "x", "stickiness": "perhaps"}, "stickiness"),
        ({"name": "x", "sortOrder": "last"}, "sortOrder"),
    ):
        check.error(api.post(path, bad), 400, where)
    one = api.get(f"{path}/region")
    if check.status(one, 200):
        check.equal([v["value"] for v in one.json["legalValues"]], ["eu", "us"], "legalValues")
        check.equal(one.json["stickiness"], True, "stickiness")
    check.error(api.get(f"{path}/nothing"), 404)
    change = {"name": "region", "description": "New", "stickiness": False, "legalValues": []}
    check.status(api.put(f"{path}/region", change), 200)
    check.equal(api.get(f"{path}/region").json["description"], "New", "PUT")
    check.error(api.put(f"{path}/nothing", change | {"name": "nothing"}), 404)
    value = {"value": "asia", "description": "A"}
    check.status(api.post(f"{path}/region/legal-values", value), 200)
    values = [v["value"] for v in api.get(f"{path}/region").json["legalValues"]]
    check.equal(values, ["asia"], "a legal value added")
    check.status(api.delete(f"{path}/region/legal-values/asia"), 200)
    check.status(api.post(f"{path}/validate", {"name": "free"}), 200)
    check.error(api.post(f"{path}/validate", {"name": "region"}), 409)
    check.status(api.delete(f"{path}/region"), 200)
    check.error(api.get(f"{path}/region"), 404)


def test_strategy_types(api, check):
    path = "/api/admin/strategies"
    answer = api.get(path)
    if check.status(answer, 200):
        check.equal(answer.json["version"], 1, "version")
        actual = {s["name"]: s for s in answer.json["strategies"]}
        check(set(actual) >= BUILT_IN_STRATEGIES, f"missing: {BUILT_IN_STRATEGIES - set(actual)}")
        rollout = actual.get("flexibleRollout", {})
        keys = {"name", "displayName", "description", "editable", "deprecated", "parameters"}
        check(keys <= set(rollout), f"keys missing: {keys - set(rollout)}")
        names = {p["name"] for p in rollout.get("parameters", [])}
        check.equal(names, {"rollout", "stickiness", "groupId"}, "parameters")
        check.equal(rollout.get("editable"), False, "built-in ones are not editable")
    body = {
        "name": "byCountry", "description": "d",
        "parameters": [{"name": "countries", "type": "list", "required": True}],
    }  # fmt: skip
    check.status(api.post(path, body), 201)
    check.error(api.post(path, body), 409)
    for bad in ({}, {"name": ""}, {"name": "x", "parameters": "y"},
                {"name": "x", "parameters": [{"name": "y", "type": "colour"}]}):  # fmt: skip
        check.error(api.post(path, bad), 400)
    one = api.get(f"{path}/byCountry")
    if check.status(one, 200):
        check.equal(one.json["parameters"][0]["name"], "countries", "parameters")
    check.error(api.get(f"{path}/nothing"), 404)
    check.status(api.put(f"{path}/byCountry", body | {"description": "New"}), 200)
    check.equal(api.get(f"{path}/byCountry").json["description"], "New", "PUT")
    api.flag()
    answer = api.post(f"{api.at('demo')}/strategies", {"name": "byCountry", "parameters": {}})
    check.status(answer, (200, 400), "usable, or asked for its required parameter")
    for name in ("flexibleRollout", "default"):
        answer = api.delete(f"{path}/{name}")
        check(400 <= answer.status_int < 500, f"built-in ones stay: {name} {answer.status}")
    names = {s["name"] for s in api.get(path).json["strategies"]}
    check(names >= BUILT_IN_STRATEGIES, "built-in ones are still there")


def test_flag_types(api, check):
    answer = api.get("/api/admin/feature-types")
    if check.status(answer, 200):
        actual = {t["id"]: t for t in answer.json["types"]}
        expected = {"release", "experiment", "operational", "kill-switch", "permission"}
        check(expected <= set(actual), f"missing: {expected - set(actual)}")
        keys = {"id", "name", "description", "lifetimeDays"}
        check(keys <= set(actual["release"]), f"keys {set(actual['release'])}")


def test_environments_enabled_at_the_start(make_service, check):
    for named, enabled in (
        ("development", {"development"}),
        ("production,default", {"production", "default"}),
        ("nowhere", {"production", "default"}),
        ("development,nowhere", {"development"}),
        ("", {"development"}),
    ):
        api = Api(webtest.TestApp(make_service({}, {"ENABLED_ENVIRONMENTS": named}).app))
        actual = {e["name"] for e in api.get(E).json["environments"] if e["enabled"]}
        check.equal(actual, enabled, f"ENABLED_ENVIRONMENTS={named!r}")
