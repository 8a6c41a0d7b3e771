"""Export and import in the format of Unleash, the playground, and the statistics."""

from __future__ import annotations

from typing import Any

import pytest

from tests.contract.kit import Api, users

X = "/api/admin/features-batch"


@pytest.fixture
def stocked(api: Api) -> Api:
    """Flags with everything that the format supports."""
    segment = api.segment("staff", [users("1", "2")])
    api.done("POST", "/api/admin/tag-types", {"name": "team"})
    api.done("POST", "/api/admin/context", {"name": "region"})
    api.flag("parent")
    api.flag("demo", description="A demo", type="experiment")
    api.strategy(
        "demo",
        name="flexibleRollout",
        title="Half",
        parameters={"rollout": "50", "stickiness": "userId", "groupId": "demo"},
        constraints=[{"contextName": "region", "operator": "IN", "values": ["eu"]}],
        segments=[segment],
        variants=[{"name": "red", "weight": 1000, "weightType": "variable",
                   "stickiness": "userId"}],
    )  # fmt: skip
    api.strategy("demo", disabled=True)
    api.on("demo")
    api.done("POST", "/api/admin/features/demo/tags", {"type": "team", "value": "core"})
    api.done("POST", f"{api.flag_path('demo')}/dependencies", {"feature": "parent"})
    return api


def export(api: Api, **query: Any) -> dict[str, Any]:
    return api.done("POST", f"{X}/export", {"environment": "development"} | query)


def test_export(stocked, check):
    api = stocked
    actual = export(api, features=["demo"])
    keys = {"features", "featureStrategies", "featureEnvironments", "contextFields", "featureTags",
            "segments", "tagTypes", "dependencies"}  # fmt: skip
    check(keys <= set(actual), f"keys missing: {keys - set(actual)}")
    check.equal([f["name"] for f in actual["features"]], ["demo"], "features")
    check.equal(actual["features"][0]["type"], "experiment", "type")
    strategies = {s["name"]: s for s in actual["featureStrategies"]}
    check.equal(set(strategies), {"flexibleRollout", "default"}, "featureStrategies")
    rollout = strategies["flexibleRollout"]
    check.equal(rollout["featureName"], "demo", "featureName")
    check.equal(rollout["parameters"]["rollout"], "50", "parameters")
    check.equal(rollout["constraints"][0]["values"], ["eu"], "constraints")
    check.equal(rollout["variants"][0]["name"], "red", "variants")
    (segment,) = actual["segments"]
    check.equal(segment["name"], "staff", "segments")
    check.equal(rollout["segments"], [segment["id"]], "by id")
    (environment,) = actual["featureEnvironments"]
    check.equal(environment["enabled"], True, "featureEnvironments")
    check.equal(environment.get("featureName"), "demo", "featureEnvironments")
    tags = [(t["featureName"], t.get("tagType", t.get("type")), t.get("tagValue", t.get("value")))
            for t in actual["featureTags"]]  # fmt: skip
    check.equal(tags, [("demo", "team", "core")], "featureTags")
    check.equal([t["name"] for t in actual["tagTypes"]], ["team"], "tagTypes")
    check("region" in [f["name"] for f in actual["contextFields"]], "contextFields")
    (dependency,) = actual["dependencies"]
    check.equal(dependency["feature"], "demo", "dependencies")
    check.equal(dependency["dependencies"][0]["feature"], "parent", "dependencies")

    for query, names in (
        ({"project": "default"}, ["demo", "parent"]),
        ({"tag": "core"}, ["demo"]),
        ({"features": []}, None),
        ({"features": ["nothing"]}, None),
    ):
        answer = api.post(f"{X}/export", {"environment": "development", **query})
        if names is None:
            check(answer.status_int in (200, 400, 404), f"{query}: {answer.status}")
        elif check.status(answer, 200, str(query)):
            check.equal(sorted(f["name"] for f in answer.json["features"]), names, str(query))
    for bad in ({}, {"features": ["demo"]}, {"environment": "development", "features": "demo"},
                {"environment": 3.5, "features": ["demo"]}):  # fmt: skip
        check.error(api.post(f"{X}/export", bad), 400)


def build_body(
    data: dict[str, Any], environment: str = "development", project: str = "default"
) -> Any:
    return {"project": project, "environment": environment, "data": data}


def strip(strategies: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Without the fields that change with every import."""
    keys = ("name", "title", "parameters", "segments", "variants", "disabled")
    return [
        {key: strategy.get(key) for key in keys}
        | {"constraints": [c["values"] for c in strategy["constraints"]]}
        for strategy in strategies
    ]


def test_import_restores_an_export(stocked, person, check):
    api = stocked
    data = export(api, project="default")
    before = strip(api.state("demo")["strategies"])
    for name in ("demo", "parent"):
        api.done("DELETE", api.flag_path(name))
        api.done("DELETE", f"/api/admin/archive/{name}")
    for turn in ("first", "second"):
        answer = api.post(f"{X}/import", build_body(data), person)
        check.status(answer, 200, f"{turn} import")
        state = api.state("demo")
        check.equal(strip(state["strategies"]), before, f"{turn} import: strategies")
        check.equal(state["enabled"], True, f"{turn} import: enabled")
    flag = api.read("demo")
    check.equal((flag["type"], flag["description"]), ("experiment", "A demo"), "metadata")
    check.equal([d["feature"] for d in flag["dependencies"]], ["parent"], "dependencies")
    tags = [t["value"] for t in api.get("/api/admin/features/demo/tags").json["tags"]]
    check.equal(tags, ["core"], "tags")

    check.status(api.post(f"{X}/import", build_body(data, "production"), person), 200, "production")
    check.equal(strip(api.state("demo", "production")["strategies"]), before, "production")
    client = api.flags(api.client("production"))
    check.equal(client["demo"]["enabled"], True, "clients see it")


def test_an_import_that_cannot_be(stocked, person, check):
    api = stocked
    data = export(api, features=["demo"])
    valid = api.post(f"{X}/validate", build_body(data), person)
    if check.status(valid, 200):
        check.equal(valid.json.get("errors"), [], "no errors")
        check("warnings" in valid.json, "warnings")
    api.project("web")
    unknown = data | {"segments": [{"id": 77, "name": "nobody"}]}
    custom = data | {
        "featureStrategies": [{"name": "neverHeardOf", "featureName": "demo", "parameters": {},
                               "constraints": [], "segments": []}],
        "segments": [],
    }  # fmt: skip
    for what, body in (
        ("a flag of another project", build_body(data, project="web")),
        ("an unknown segment", build_body(unknown)),
        ("an unknown strategy", build_body(custom)),
    ):
        answer = api.post(f"{X}/validate", body, person)
        if check.status(answer, 200, what):
            check(answer.json["errors"], f"{what}: errors")
        check.error(api.post(f"{X}/import", body, person), 400, message=what)
    for body in ({}, build_body({}), build_body("x"), build_body(data) | {"environment": "nowhere"},
                 build_body(data) | {"project": "nowhere"}, b"{", []):  # fmt: skip
        answer = api.post(f"{X}/import", body, person)
        check.error(answer, (400, 404), message=str(body)[:60])
    check.equal(api.read("demo")["project"], "default", "nothing moved")


def test_an_import_by_a_bare_admin_token(stocked, check):
    data = export(stocked, features=["demo"])
    answer = stocked.post(f"{X}/import", build_body(data))
    check(answer.status_int in (200, 400), f"{answer.status}: {answer.text[:200]}")


def test_the_playground(api, check):
    api.project("web")
    for name in ("demo", "off"):
        api.flag(name)
    api.strategy("demo", constraints=[users("7")])
    api.on("demo")
    api.on(api.flag("theirs", "web"), project="web")
    path = "/api/admin/playground"
    body = {"environment": "development", "projects": "*", "context": {"userId": "7",
            "appName": "playground"}}  # fmt: skip
    answer = api.post(path, body)
    if check.status(answer, 200):
        check("input" in answer.json, "input")
        actual = {f["name"]: f for f in answer.json["features"]}
        check.equal(sorted(actual), ["demo", "off", "theirs"], "disabled flags are explained too")
        keys = {"name", "projectId", "isEnabled", "isEnabledInCurrentEnvironment", "strategies",
                "variant"}  # fmt: skip
        check(keys <= set(actual["demo"]), f"keys missing: {keys - set(actual['demo'])}")
        check.equal(actual["demo"]["isEnabled"], True, "on for user 7")
        check.equal(actual["off"]["isEnabled"], False, "off")
        check.equal(actual["off"]["isEnabledInCurrentEnvironment"], False, "off here")
        result = actual["demo"]["strategies"]
        check("result" in result and "data" in result, f"strategies: {result}")
        (strategy,) = result["data"]
        check.equal(strategy["name"], "default", "strategy")
        (constraint,) = strategy["constraints"]
        check.equal(constraint["result"], True, "the constraint's own result")
    other = api.post(path, body | {"context": {"userId": "8", "appName": "playground"}})
    actual = {f["name"]: f for f in other.json["features"]}
    check.equal(actual["demo"]["isEnabled"], False, "off for user 8")
    check.equal(actual["demo"]["isEnabledInCurrentEnvironment"], True, "though on here")
    (strategy,) = actual["demo"]["strategies"]["data"]
    check.equal(strategy["constraints"][0]["result"], False, "the constraint's own result")
    web = api.post(path, body | {"projects": ["web"]}).json["features"]
    check.equal([f["name"] for f in web], ["theirs"], "projects")
    for bad in ({}, {"environment": "development"}, body | {"context": "x"}, b"{",
                body | {"projects": 3.5}):  # fmt: skip
        check.error(api.post(path, bad), 400)
    check.error(api.post(path, body | {"environment": "nowhere"}), (400, 404))


def test_statistics(api, check):
    api.on(api.flag())
    api.segment()
    api.client()
    api.frontend()
    path = "/api/admin/instance-admin/statistics"
    answer = api.get(path)
    if check.status(answer, 200):
        actual = answer.json
        for key, value in {"featureToggles": 1, "projects": 1, "environments": 3, "segments": 1,
                           "users": 1}.items():  # fmt: skip
            check.equal(actual.get(key), value, key)
        check(isinstance(actual.get("instanceId"), str) and actual["instanceId"], "instanceId")
        tokens = actual.get("apiTokens", {})
        counts = (tokens.get("admin"), tokens.get("client"), tokens.get("frontend"))
        check.equal(counts, (1, 1, 1), "apiTokens")
        check({"versionOSS", "clientApps", "contextFields", "strategies"} <= set(actual), "keys")
        check.equal(api.get(path).json["instanceId"], actual["instanceId"], "instanceId stays")
    sheet = api.get(f"{path}/csv")
    if check.status(sheet, 200):
        check("csv" in sheet.content_type or sheet.content_type.startswith("text/"), "csv")
        check("featureToggles" in sheet.text, "a column")
