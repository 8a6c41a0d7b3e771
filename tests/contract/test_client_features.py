"""The document of server-side SDKs: each field, and what the query and the token select."""

from __future__ import annotations

import re

import pytest

from tests.contract.kit import users

FLAG_KEYS = {
    "name", "type", "enabled", "project", "stale", "description", "impressionData", "strategies",
    "variants",
}  # fmt: skip


def test_document_has_version_query_and_meta(api, check):
    empty = api.payload(api.client())
    check.equal(empty["version"], 2, "version")
    check.equal(empty["features"], [], "no flags")
    check.equal(empty["query"].get("environment"), "development", "query.environment")
    check("project" not in empty["query"], f"all projects are not in {empty['query']}")
    meta = empty["meta"]
    check(type(meta.get("revisionId")) is int, f"meta.revisionId: {meta}")
    check(isinstance(meta.get("etag"), str) and meta["etag"], f"meta.etag: {meta}")
    check(isinstance(meta.get("queryHash"), str) and meta["queryHash"], f"meta.queryHash: {meta}")
    answer = api.get("/api/client/features", api.client())
    check.equal(answer.content_type, "application/json", "content type")
    check.equal(answer.headers.get("ETag"), answer.json["meta"]["etag"], "ETag is meta.etag")
    check(re.fullmatch(r'(W/)?"[^"]+"', answer.headers.get("ETag", "")), "ETag is quoted")


def test_a_plain_flag(api, check):
    api.flag("demo", description="A demo", type="experiment", impressionData=True)
    api.flag("bare")
    actual = api.flags(api.client())
    demo, bare = actual["demo"], actual["bare"]
    for flag in (demo, bare):
        check.equal(set(flag), FLAG_KEYS, f"keys of {flag['name']}")
        check.equal(flag["enabled"], False, "off flags are sent too")
        check.equal(flag["project"], "default", "project")
        check.equal(flag["stale"], False, "stale")
        check.equal(flag["strategies"], [], "strategies")
        check.equal(flag["variants"], [], "variants")
    check.equal(demo["description"], "A demo", "description")
    check.equal(demo["type"], "experiment", "type")
    check.equal(demo["impressionData"], True, "impressionData")
    check(bare["description"] in (None, ""), f"no description: {bare['description']!r}")
    check.equal(bare["type"], "release", "default type")
    check.equal(bare["impressionData"], False, "default impressionData")


def test_strategies(api, check):
    api.flag()
    api.strategy("demo", name="default", disabled=True, sortOrder=0)
    api.strategy(
        "demo",
        name="flexibleRollout",
        title="Half of them",
        sortOrder=2,
        parameters={"rollout": "50", "stickiness": "userId", "groupId": "demo"},
        constraints=[
            users("1", "2"),
            {"contextName": "age", "operator": "NUM_GT", "value": "17", "inverted": True},
            {"contextName": "mail", "operator": "STR_ENDS_WITH", "values": ["@x"],
             "caseInsensitive": True},
        ],
        variants=[
            {"name": "red", "weight": 500, "weightType": "variable", "stickiness": "userId",
             "payload": {"type": "string", "value": "r"}},
            {"name": "blue", "weight": 500, "weightType": "variable", "stickiness": "userId"},
        ],
    )  # fmt: skip
    api.strategy("demo", name="userWithId", sortOrder=1, parameters={"userIds": "7,8"})
    api.on("demo")
    api.strategy("demo", "production")

    demo = api.flags(api.client())["demo"]
    check.equal(demo["enabled"], True, "enabled")
    names = [s["name"] for s in demo["strategies"]]
    check.equal(names, ["userWithId", "flexibleRollout"], "by sortOrder, disabled ones left out")
    if len(names) == 2:
        first, second = demo["strategies"]
        for strategy in demo["strategies"]:
            extra = set(strategy) - {"name", "constraints", "parameters", "variants"}
            check.equal(extra, set(), f"keys that are never sent in {strategy['name']}")
            check({"name", "constraints", "parameters"} <= set(strategy), f"keys {set(strategy)}")
        check.equal(first["parameters"], {"userIds": "7,8"}, "parameters")
        check.equal(
            second["parameters"],
            {"rollout": "50", "stickiness": "userId", "groupId": "demo"},
            "parameters",
        )
        one, number, text = second["constraints"]
        check.equal(one["contextName"], "userId", "contextName")
        check.equal(one["operator"], "IN", "operator")
        check.equal(one["values"], ["1", "2"], "values")
        check("value" not in one or one["value"] is None, f"no single value: {one}")
        check.equal(one.get("inverted", False), False, "inverted")
        check.equal(number["value"], "17", "value")
        check.equal(number.get("values", []), [], "values of a single-value operator")
        check.equal(number.get("inverted"), True, "inverted is sent")
        check.equal(text.get("caseInsensitive"), True, "caseInsensitive is sent")
        check.equal(
            second["variants"],
            [
                {"name": "red", "weight": 500, "weightType": "variable", "stickiness": "userId",
                 "payload": {"type": "string", "value": "r"}},
                {"name": "blue", "weight": 500, "weightType": "variable", "stickiness": "userId"},
            ],
            "variants",
        )  # fmt: skip
    check.equal(
        [s["name"] for s in api.flags(api.client("production"))["demo"]["strategies"]],
        ["default"],
        "strategies belong to an environment",
    )


def test_parameters_are_strings_always(api, check):
    api.flag()
    api.strategy(
        "demo", name="flexibleRollout", parameters={"rollout": 50, "stickiness": "default"}
    )
    (strategy,) = api.flags(api.client())["demo"]["strategies"]
    check.equal(strategy["parameters"].get("rollout"), "50", "rollout")
    values = strategy["parameters"].values()
    check(all(isinstance(v, str) for v in values), f"all strings: {values}")


def test_segments_are_listed_or_inlined_by_the_clients_version(api, check):
    client = api.client()
    staff = api.segment("staff", [users("1")])
    adults = api.segment("adults", [{"contextName": "age", "operator": "NUM_GT", "value": "17"}])
    api.segment("unused")
    api.flag()
    api.strategy("demo", constraints=[users("9")], segments=[adults, staff])
    api.flag("other")
    api.strategy("other")

    for version in ("4.2.0", "4.2.1", "5.1.7", "6.1.0", "10.0.0"):
        body = api.payload(client, spec=version)
        (strategy,) = next(f for f in body["features"] if f["name"] == "demo")["strategies"]
        check.equal(strategy.get("segments"), [staff, adults], f"{version}: ids, ascending")
        check.equal(len(strategy["constraints"]), 1, f"{version}: own constraints only")
        entries = {s["id"]: s for s in body.get("segments", [])}
        check.equal(sorted(entries), [staff, adults], f"{version}: only those in use")
        check.equal(set(entries.get(staff, {})), {"id", "name", "constraints"}, "segment keys")
        (plain,) = next(f for f in body["features"] if f["name"] == "other")["strategies"]
        check("segments" not in plain, f"{version}: no key without segments: {plain}")
    for version in ("", "3.9.9", "4.1.9", "4.0.0"):
        body = api.payload(client, spec=version)
        (strategy,) = next(f for f in body["features"] if f["name"] == "demo")["strategies"]
        check("segments" not in strategy, f"{version!r}: no ids")
        check("segments" not in body, f"{version!r}: no list")
        operators = [c["operator"] for c in strategy["constraints"]]
        check.equal(sorted(operators), ["IN", "IN", "NUM_GT"], f"{version!r}: inlined")
    bad = ["foo", "v5", "5.1", "5", "5.1.7.1", "-1.0.0"]
    for version in bad:
        answer = api.get("/api/client/features", client | {"Unleash-Client-Spec": version})
        check.error(answer, 400, message=version)
    api.off("demo")
    check.equal(len(api.payload(client)["segments"]), 2, "off flags count as use")


def test_an_empty_list_of_segments(api, check):
    check.equal(api.payload(api.client()).get("segments"), [], "asked for, none in use")


def test_dependencies(api, check):
    for name in ("parent", "plain", "variants", "off"):
        api.flag(name)
    for child, body in (
        ("plain", {"feature": "parent"}),
        ("variants", {"feature": "parent", "variants": ["red"]}),
        ("off", {"feature": "parent", "enabled": False}),
    ):
        api.done("POST", f"{api.flag_path(child)}/dependencies", body)
    actual = api.flags(api.client())
    check("dependencies" not in actual["parent"], "no key without dependencies")
    (plain,) = actual["plain"].get("dependencies", [{}])
    check.equal(plain.get("feature"), "parent", "feature")
    check.equal(plain.get("enabled"), True, "enabled")
    check(not plain.get("variants"), f"no variants: {plain}")
    check.equal(
        actual["variants"].get("dependencies"),
        [{"feature": "parent", "enabled": True, "variants": ["red"]}],
        "with variants",
    )
    check.equal(
        actual["off"].get("dependencies"),
        [{"feature": "parent", "enabled": False}],
        "must be off: no variants",
    )


def test_stale_and_archived(api, check):
    for name in ("old", "gone"):
        api.flag(name)
    api.done("POST", "/api/admin/projects/default/stale", {"features": ["old"], "stale": True})
    api.done("DELETE", api.flag_path("gone"))
    actual = api.flags(api.client())
    check.equal(sorted(actual), ["old"], "archived flags are not sent")
    check.equal(actual["old"]["stale"], True, "stale")


def test_one_flag_by_its_exact_name(api, check):
    client = api.client()
    api.on(api.flag("demo"))
    api.flag("demo.two")
    answer = api.get("/api/client/features/demo", client)
    if check.status(answer, 200):
        check.equal(answer.json, api.flags(client)["demo"], "the bare flag")
    for unknown in ("dem", "demo.", "Demo", "%25", "_emo"):
        answer = api.get(f"/api/client/features/{unknown}", client)
        check.error(answer, 404, name="NotFoundError")
    api.done("DELETE", api.flag_path("demo"))
    check.status(api.get("/api/client/features/demo", client), 404, "archived")
    scoped = api.client(projects=[api.project()])
    check.status(api.get("/api/client/features/demo.two", scoped), 404, "out of scope")


@pytest.fixture
def three_projects(api):
    api.project("web")
    api.project("app")
    for project in ("default", "web", "app"):
        api.flag(f"{project}.one", project)
    return api


def test_the_tokens_projects_are_the_scope(three_projects, check):
    api = three_projects
    web = api.client(projects=["web"])
    two = api.client(projects=["web", "app"])
    every = api.client(projects=["*"])
    check.equal(sorted(api.flags(web)), ["web.one"], "one project")
    check.equal(api.payload(web)["query"].get("project"), ["web"], "query.project")
    check.equal(sorted(api.flags(two)), ["app.one", "web.one"], "two projects")
    check.equal(sorted(api.payload(two)["query"].get("project", [])), ["app", "web"], "both")
    for query in ("?project=default", "?project=*", "?project=web&project=default"):
        check.equal(sorted(api.flags(web, query)), ["web.one"], f"{query} can't widen")
    check.equal(len(api.flags(every)), 3, "all projects")
    check.equal(sorted(api.flags(every, "?project=app")), ["app.one"], "filter")
    check.equal(
        sorted(api.flags(every, "?project=app&project=default")),
        ["app.one", "default.one"],
        "two filters",
    )
    check.equal(api.payload(every, "?project=app")["query"].get("project"), ["app"], "in query")
    check.equal(api.flags(every, "?project=nowhere"), {}, "unknown project")


def test_the_tokens_environment_is_the_environment(api, check):
    api.on(api.flag(), "production")
    for query in ("", "?environment=development", "?environment=default"):
        actual = api.payload(api.client("production"), query)
        check.equal(actual["features"][0]["enabled"], True, f"production{query}")
        check.equal(actual["query"]["environment"], "production", f"query of production{query}")
        check.equal(api.flags(api.client(), query)["demo"]["enabled"], False, f"dev{query}")


def test_filters(api, check):
    client = api.client()
    for name in ("a.one", "a.two", "b.one", "a_one", "a-one"):
        api.flag(name)
    for name, value in (("a.one", "red"), ("a.two", "blue"), ("b.one", "red")):
        api.done("POST", f"/api/admin/features/{name}/tags", {"type": "simple", "value": value})

    rows = [
        ("?namePrefix=a.", ["a.one", "a.two"]),
        ("?namePrefix=a_", ["a_one"]),
        ("?namePrefix=%25", []),
        ("?namePrefix=b.one", ["b.one"]),
        ("?namePrefix=zzz", []),
        ("?tag=simple:red", ["a.one", "b.one"]),
        ("?tag=simple:red&tag=simple:blue", ["a.one", "a.two", "b.one"]),
        ("?tag=simple:red&namePrefix=a", ["a.one"]),
        ("?tag=simple:nothing", []),
        ("?tag=nothing:red", []),
        ("?tag=simple:red&project=default", ["a.one", "b.one"]),
        ("?foo=bar", ["a-one", "a.one", "a.two", "a_one", "b.one"]),
    ]
    for query, names in rows:
        check.equal(sorted(api.flags(client, query)), names, query)
    query = api.payload(client, "?tag=simple:red&namePrefix=a")["query"]
    check.equal(query.get("namePrefix"), "a", "query.namePrefix")
    check.equal(query.get("tag"), [["simple", "red"]], "query.tag")
    for bad in (
        "?tag=red",
        "?tag=simple:red&tag=red",
        "?namePrefix=",
        "?namePrefix=a&namePrefix=b",
    ):
        check.error(api.get(f"/api/client/features{bad}", client), 400)


def test_a_project_without_the_environment(api, check):
    """A flag without a row for the environment is disabled, not absent."""
    api.project("web")
    api.on(api.flag("theirs", "web"), "production", "web")
    check.status(api.delete("/api/admin/projects/web/environments/production"), 200, "unlink")
    actual = api.flags(api.client("production"))
    if "theirs" in actual:
        check.equal(actual["theirs"]["enabled"], False, "off")


def test_registration(api, check):
    client = api.client()
    started = "2024-01-01T00:00:00.000Z"
    full = {"appName": "shop", "interval": 10, "started": started, "strategies": ["default"]}
    rows = [
        ({}, 202),
        ({"instanceId": ""}, 202),
        ({"instanceId": None}, 202),
        ({"started": 1704067200000}, 202),
        ({"interval": 0}, 202),
        ({"sdkVersion": "unleash-client-python:6.9.1", "platformName": "CPython"}, 202),
        ({"unknown": {"a": 1}, "environment": "production"}, 202),
        ({"connectionId": "b0b0", "yggdrasilVersion": None, "specVersion": "6.1.0"}, 202),
        ({"appName": ""}, 400),
        ({"appName": 3.5, "strategies": "default"}, 400),
        ({"interval": -1}, 400),
        ({"strategies": "default"}, 400),
        ({"started": "yesterday"}, 400),
    ]
    for change, status in rows:
        answer = api.post("/api/client/register", full | change, client)
        check.status(answer, status, str(change))
        if status == 202:
            check.equal(answer.body, b"", "empty body")
    for key in full:
        less = {k: v for k, v in full.items() if k != key}
        check.error(api.post("/api/client/register", less, client), 400, message=f"no {key}")
    for body in (b"{", b"", b"[]", b"null"):
        check.error(api.post("/api/client/register", body, client), 400)
    plain = client | {"Content-Type": "text/plain"}
    check.error(api.post("/api/client/register", b"{}", plain), 415)
    big = b'{"appName":"' + b"a" * 102_401 + b'"}'
    check.error(api.post("/api/client/register", big, client), 413)

    entries = api.get("/api/admin/metrics/applications")
    if check.status(entries, 200):
        names = [a["appName"] for a in entries.json["applications"]]
        check.equal(names, ["shop"], "registered")
    one = api.get("/api/admin/metrics/applications/shop")
    if check.status(one, 200):
        check.equal(one.json["appName"], "shop", "appName")
    check.status(api.get("/api/admin/metrics/applications/nobody"), 404)
    results = api.get("/api/admin/metrics/instances/shop/environment/development")
    if check.status(results, 200):
        sdks = {i.get("sdkVersion") for i in results.json["instances"]}
        check("unleash-client-python:6.9.1" in sdks, f"sdkVersion of the instance: {sdks}")
    other = api.get("/api/admin/metrics/instances/shop/environment/production")
    check(other.status_int == 404 or other.json["instances"] == [], "the token's environment only")
    check.status(api.delete("/api/admin/metrics/applications/shop"), 200)
    check.status(api.get("/api/admin/metrics/applications/shop"), 404, "deleted")
