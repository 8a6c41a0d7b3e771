"""Flags in the admin API: create, show, update, clone, archive, and bulk changes."""

from __future__ import annotations

import webtest

from tests.contract.kit import Api

P = "/api/admin/projects/default"


def test_create(api, check):
    answer = api.post(f"{P}/features", {"name": "demo"})
    if check.status(answer, 201):
        flag = answer.json
        for key, value in {
            "name": "demo", "type": "release", "project": "default", "stale": False,
            "impressionData": False, "archived": False,
        }.items():  # fmt: skip
            check.equal(flag.get(key), value, key)
        check(flag.get("createdAt", "").endswith("Z"), f"createdAt {flag.get('createdAt')}")
        check("description" in flag, "description")
    full = {
        "name": "full", "type": "kill-switch", "description": "Stop", "impressionData": True,
        "tags": [{"type": "simple", "value": "new-value"}],
    }  # fmt: skip
    answer = api.post(f"{P}/features", full)
    if check.status(answer, 201, "a tag with a new value"):
        for key in ("type", "description", "impressionData"):
            check.equal(answer.json.get(key), full[key], key)
        tags = api.get("/api/admin/features/full/tags").json["tags"]
        check.equal([t["value"] for t in tags], ["new-value"], "tags")
    for kind in ("experiment", "operational", "permission", "release"):
        check.status(api.post(f"{P}/features", {"name": kind, "type": kind}), 201, kind)


NAMES_REFUSED = [
    "",
    " ",
    "a b",
    "a/b",
    ".",
    "..",
    "é",
    "😊",
    "a?b",
    "a#b",
    "a%b",
    "a" * 101,
]
NAMES_TAKEN_AS_THEY_ARE = ["a", "A.b-c_d~9", "a" * 100, "0", "...", "true"]


def test_names(api, check):
    for name in NAMES_REFUSED:
        check.error(api.post(f"{P}/features", {"name": name}), 400, "name")
        check.error(api.post("/api/admin/features/validate", {"name": name}), 400, "name")
    check.error(api.post(f"{P}/features", {"name": "a\0b"}), 400)
    for name in NAMES_TAKEN_AS_THEY_ARE:
        check.status(api.post("/api/admin/features/validate", {"name": name}), 200, "free")
        check.status(api.post(f"{P}/features", {"name": name}), 201)
        check.status(api.get(f"{P}/features/{name}"), 200)
        check.error(
            api.post("/api/admin/features/validate", {"name": name}), 409, name="NameExistsError"
        )


def test_bad_flags(api, check):
    rows = [
        ({}, "name"),
        ({"name": 3.5}, "name"),
        ({"name": None}, "name"),
        ({"name": ["x"]}, "name"),
        ({"name": "x", "type": "nonsense"}, "type"),
        ({"name": "x", "type": 1}, "type"),
        ({"name": "x", "impressionData": "perhaps"}, "impressionData"),
        ({"name": "x", "description": {"a": 1}}, "description"),
        ({"name": "x", "tags": "red"}, "tags"),
        ({"name": "x", "tags": [{"type": "simple"}]}, "tags"),
        ({"name": "x", "tags": [{"type": "nonsense", "value": "red"}]}, ""),
    ]
    for body, path in rows:
        check.error(api.post(f"{P}/features", body), (400, 404), "" if body == {} else path)
    for body in (b"{", b"[]", b'"x"', b""):
        check.error(api.post(f"{P}/features", body), 400)
    check.status(api.get(f"{P}/features/x"), 404, "nothing was kept")


def test_names_are_unique_everywhere(api, check):
    api.project("web")
    api.flag("demo")
    api.flag("gone")
    api.done("DELETE", api.flag_path("gone"))
    for project in ("default", "web"):
        for name in ("demo", "gone"):
            check.error(
                api.post(f"/api/admin/projects/{project}/features", {"name": name}),
                409,
                name="NameExistsError",
            )
    check.error(api.post("/api/admin/projects/nowhere/features", {"name": "x"}), 404)


def test_read(api, check):
    api.flag("demo", description="A demo")
    api.strategy("demo")
    api.on("demo")
    api.flag("parent")
    api.done("POST", f"{api.flag_path('demo')}/dependencies", {"feature": "parent"})
    flag = api.read("demo")
    for key, value in {"name": "demo", "description": "A demo", "project": "default",
                       "archived": False, "stale": False, "type": "release"}.items():  # fmt: skip
        check.equal(flag.get(key), value, key)
    environments = {e["name"]: e for e in flag["environments"]}
    check.equal(set(environments), {"default", "development", "production"}, "environments")
    development = environments["development"]
    check.equal(development["enabled"], True, "enabled")
    check.equal(environments["production"]["enabled"], False, "enabled elsewhere")
    check.equal(len(development["strategies"]), 1, "strategies")
    check({"type", "sortOrder", "lastSeenAt"} <= set(development), f"keys {set(development)}")
    check.equal([d["feature"] for d in flag["dependencies"]], ["parent"], "dependencies")
    check.equal(api.read("parent")["children"], ["demo"], "children")
    check(isinstance(flag.get("createdBy"), dict), f"createdBy {flag.get('createdBy')}")
    api.project("web")
    check.error(api.get(api.flag_path("demo", "web")), 404, message="another project")
    check.error(api.get(api.flag_path("nothing")), 404)
    for path in (f"{api.at('demo', project='web')}", f"{api.at('demo', 'nowhere')}"):
        check.error(api.get(path), 404)
    check.error(api.post(f"{api.at('demo', project='web')}/on"), 404, message="another project")


def test_list(api, check):
    for name in ("a.one", "a.two", "b.one"):
        api.flag(name)
    api.done("POST", "/api/admin/features/a.one/tags", {"type": "simple", "value": "red"})
    api.strategy("b.one")
    answer = api.get(f"{P}/features")
    if check.status(answer, 200):
        check.equal(answer.json["version"], 2, "version")
        actual = {f["name"]: f for f in answer.json["features"]}
        check.equal(sorted(actual), ["a.one", "a.two", "b.one"], "names")
        keys = {"name", "type", "description", "stale", "impressionData", "createdAt", "favorite",
                "environments"}  # fmt: skip
        check(keys <= set(actual["b.one"]), f"keys missing: {keys - set(actual['b.one'])}")
        development = next(e for e in actual["b.one"]["environments"] if e["name"] == "development")
        keys = {"name", "enabled", "type", "sortOrder", "variantCount", "lastSeenAt",
                "hasStrategies", "hasEnabledStrategies"}  # fmt: skip
        check(keys <= set(development), f"keys missing: {keys - set(development)}")
        check.equal(development.get("hasStrategies"), True, "hasStrategies")
        check.equal(development.get("enabled"), False, "enabled")
    for query, names in (
        ("?namePrefix=a.", ["a.one", "a.two"]),
        ("?tag=simple:red", ["a.one"]),
        ("?namePrefix=zzz", []),
    ):
        actual = api.get(f"{P}/features{query}").json["features"]
        check.equal(sorted(f["name"] for f in actual), names, query)
    nowhere = api.get("/api/admin/projects/nowhere/features")
    check.status(nowhere, 200, "unknown project")
    check.equal(nowhere.json.get("features"), [], "unknown project")


def test_search(api, check):
    api.project("web")
    for name, project, kind in (
        ("a.one", "default", "release"),
        ("a.two", "web", "experiment"),
        ("b.one", "web", "release"),
        ("c.old", "default", "release"),
    ):
        api.flag(name, project, type=kind)
    api.done("POST", "/api/admin/features/a.one/tags", {"type": "simple", "value": "red"})
    api.done("DELETE", api.flag_path("c.old"))
    path = "/api/admin/search/features"
    rows = [
        ("", ["a.one", "a.two", "b.one"]),
        ("?query=one", ["a.one", "b.one"]),
        ("?query=A.T", ["a.two"]),
        ("?project=IS:web", ["a.two", "b.one"]),
        ("?project=IS_ANY_OF:web,default", ["a.one", "a.two", "b.one"]),
        ("?type=IS:experiment", ["a.two"]),
        ("?tag=INCLUDE:simple:red", ["a.one"]),
        ("?archived=IS:true", ["c.old"]),
        ("?archived=IS:false", ["a.one", "a.two", "b.one"]),
        ("?query=one&project=IS:web", ["b.one"]),
        ("?query=nothing", []),
        ("?query=%25", []),
    ]
    for query, names in rows:
        answer = api.get(f"{path}{query}")
        if check.status(answer, 200, query):
            check.equal(sorted(f["name"] for f in answer.json["features"]), names, query)
            check.equal(answer.json.get("total"), len(names), f"total of {query}")
    page = api.get(f"{path}?limit=1&offset=1").json
    check.equal((len(page["features"]), page["total"]), (1, 3), "limit, offset and total")
    down = api.get(f"{path}?sortBy=name&sortOrder=desc").json["features"]
    check.equal([f["name"] for f in down], ["b.one", "a.two", "a.one"], "sortOrder")
    for bad in ("?project=web", "?archived=true", "?tag=red", "?limit=x", "?sortOrder=up"):
        answer = api.get(f"{path}{bad}")
        check(answer.status_int in (200, 400), f"{bad}: {answer.status}")


def test_update(api, check):
    api.flag("demo", description="old")
    path = api.flag_path("demo")
    new = {"description": "new", "type": "experiment", "impressionData": True, "stale": True}
    answer = api.put(path, {"name": "demo", **new})
    check.status(answer, 200)
    flag = api.read("demo")
    for key, value in new.items():
        check.equal(flag[key], value, f"PUT {key}")
    check.error(api.put(path, {"name": "other", "description": "x"}), 400, message="a new name")
    check.error(api.put(path, {"type": "nonsense"}), 400, "type")
    check.error(api.put(api.flag_path("nothing"), new), 404)

    patch = [
        {"op": "replace", "path": "/description", "value": "patched"},
        {"op": "replace", "path": "/stale", "value": False},
    ]
    check.status(api.patch(path, patch), 200)
    flag = api.read("demo")
    check.equal((flag["description"], flag["stale"]), ("patched", False), "PATCH")
    for body in ({}, "x", [1], [{"op": "nonsense", "path": "/description"}], [{"op": "replace"}]):
        check.error(api.patch(path, body), 400)
    kind = [{"op": "replace", "path": "/type", "value": "nonsense"}]
    check.error(api.patch(path, kind), 400)
    variants = [{"op": "add", "path": "/variants/0", "value": {}}]
    check.status(api.patch(path, variants), (400, 403), "flag variants are deprecated")
    check.error(api.patch(api.flag_path("nothing"), patch), 404)
    check.equal(api.read("demo")["description"], "patched", "what was refused changed nothing")


def test_clone(api, check):
    api.flag("demo", description="A demo", type="experiment")
    parameters = {"rollout": "30", "stickiness": "userId", "groupId": "demo"}
    api.strategy("demo", name="flexibleRollout", parameters=parameters)
    api.on("demo")
    answer = api.post(f"{api.flag_path('demo')}/clone", {"name": "twin", "replaceGroupId": True})
    if check.status(answer, 201):
        check.equal(answer.json["name"], "twin", "name")
        twin = api.read("twin")
        check.equal((twin["type"], twin["description"]), ("experiment", "A demo"), "metadata")
        (strategy,) = api.state("twin")["strategies"]
        want = {"rollout": "30", "stickiness": "userId", "groupId": "twin"}
        check.equal(strategy["parameters"], want, "replaced groupId")
        (own,) = api.state("demo")["strategies"]
        check(strategy["id"] != own["id"], "strategies have ids of their own")
    api.done("POST", f"{api.flag_path('demo')}/clone", {"name": "same", "replaceGroupId": False})
    (strategy,) = api.state("same")["strategies"]
    check.equal(strategy["parameters"]["groupId"], "demo", "kept groupId")
    check.error(api.post(f"{api.flag_path('demo')}/clone", {"name": "twin"}), 409)
    check.error(api.post(f"{api.flag_path('demo')}/clone", {"name": "a b"}), 400)
    check.error(api.post(f"{api.flag_path('demo')}/clone", {}), 400)
    check.error(api.post(f"{api.flag_path('nothing')}/clone", {"name": "x"}), 404)


def archived(api: Api) -> list[str]:
    result = api.done("GET", "/api/admin/search/features?archived=IS:true")["features"]
    return sorted(f["name"] for f in result)


def test_flag_is_archived_revived_and_deleted(api, check):
    api.on(api.flag("demo"))
    check.status(api.delete(api.flag_path("demo")), 202, "archive")
    check.equal(archived(api), ["demo"], "in the archive")
    check.status(api.delete(api.flag_path("demo")), 202, "archive again")
    check.error(api.delete(api.flag_path("nothing")), 404)
    check.error(api.post(f"{api.at('demo')}/on"), (400, 404), message="archived flags stay off")
    entries = api.get(f"{P}/features").json["features"]
    check.equal(entries, [], "not in the list")

    check.status(api.post("/api/admin/archive/revive/demo"), 200, "revive")
    enabled = [e["enabled"] for e in api.read("demo")["environments"]]
    check.equal(enabled, [False] * 3, "comes back off everywhere")
    check.equal(api.read("demo")["archived"], False, "archived")
    check.error(api.post("/api/admin/archive/revive/nothing"), 404)

    api.done("DELETE", api.flag_path("demo"))
    check.status(api.delete("/api/admin/archive/demo"), 200, "permanently")
    check.status(api.delete("/api/admin/archive/demo"), 200, "unknown is fine")
    check.error(api.post("/api/admin/archive/revive/demo"), 404)
    check.status(api.post(f"{P}/features", {"name": "demo"}), 201, "the name is free again")
    check.equal(api.state("demo")["strategies"], [], "nothing came along")


def test_several_at_once(api, check):
    names = ["a", "b", "c"]
    for name in names:
        api.flag(name)
    two = {"features": ["a", "b"]}
    bulk = f"{P}/bulk_features/environments/development"

    check.status(api.post(f"{bulk}/on", two), 200)
    check.equal([api.state(n)["enabled"] for n in names], [True, True, False], "on")
    check.status(api.post(f"{bulk}/off", {"features": ["a"]}), 200)
    check.equal([api.state(n)["enabled"] for n in names], [False, True, False], "off")
    nowhere = f"{P}/bulk_features/environments/nowhere/on"
    check.error(api.post(nowhere, two), 404, message="unknown environment")
    check.error(api.post(f"{bulk}/on", {}), 400)
    check.error(api.post(f"{bulk}/on", {"features": "a"}), 400)

    check.status(api.post(f"{P}/stale", two | {"stale": True}), 202)
    check.equal([api.read(n)["stale"] for n in names], [True, True, False], "stale")
    check.status(api.post(f"{P}/stale", {"features": ["a"], "stale": False}), 202)
    check.equal(api.read("a")["stale"], False, "no longer stale")
    check.error(api.post(f"{P}/stale", two), 400)

    check.status(api.post(f"{P}/archive", two), 202)
    check.equal(archived(api), ["a", "b"], "archived")
    check.status(api.post(f"{P}/revive", {"features": ["a"]}), 200)
    check.equal(archived(api), ["b"], "revived")
    check.status(api.post(f"{P}/delete", {"features": ["b"]}), 200)
    check.equal(archived(api), [], "deleted")
    check.status(api.post(f"{P}/features", {"name": "b"}), 201, "the name is free")
    for action in ("archive", "revive", "delete"):
        check.error(api.post(f"{P}/{action}", {}), 400)
        check.error(api.post(f"{P}/{action}", {"features": [1]}), 400)


def test_a_project_can_only_touch_its_own(api, check):
    api.project("web")
    api.flag("theirs", "web")
    api.flag("ours")
    for action, more in (("archive", {}), ("stale", {"stale": True}), ("delete", {})):
        api.post(f"{P}/{action}", {"features": ["theirs"], **more})
    flag = api.read("theirs", "web")
    check.equal((flag["archived"], flag["stale"]), (False, False), "through another project")
    for method, path in (
        ("DELETE", api.flag_path("theirs")),
        ("POST", f"{api.at('theirs')}/on"),
        ("POST", f"{api.at('theirs')}/off"),
        ("GET", f"{api.at('theirs')}/strategies"),
    ):
        check.error(api.ask(method, path), 404)
    check.error(api.put(api.flag_path("theirs"), {"description": "x"}), 404)
    check.error(api.post(f"{api.at('theirs')}/strategies", {"name": "default"}), 404)


def test_the_legacy_list(make_service, check):
    off = Api(webtest.TestApp(make_service({"disableLegacyFeaturesApi": True}).app))
    off.flag()
    names = [flag["name"] for flag in off.get("/api/admin/features").json["features"]]
    check.equal(names, ["demo"], "the list stays")
    check.status(off.get("/api/admin/features/demo"), 404, "disabled")
    check.status(off.post("/api/admin/features/validate", {"name": "x"}), 200, "validate stays")
    check.status(off.get("/api/admin/features/demo/tags"), 200, "tags stay")
    on = Api(webtest.TestApp(make_service().app))
    answer = on.get("/api/admin/features")
    check(answer.status_int in (200, 404), f"enabled: {answer.status}")
    if answer.status_int == 200:
        check.equal([f["name"] for f in answer.json["features"]], ["demo"], "names")
