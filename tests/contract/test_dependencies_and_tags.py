"""Dependencies and tags of flags."""

from __future__ import annotations

T = "/api/admin/features/demo/tags"


def test_dependencies(api, check):
    for name in ("child", "parent", "other", "gone"):
        api.flag(name)
    api.done("DELETE", api.flag_path("gone"))
    path = f"{api.flag_path('child')}/dependencies"
    check.status(api.post(path, {"feature": "parent"}), 200)
    (one,) = api.read("child")["dependencies"]
    check.equal(one.get("feature"), "parent", "feature")
    check.equal(one.get("enabled", True), True, "enabled")
    check.equal(api.read("parent")["children"], ["child"], "children")
    check.status(api.post(path, {"feature": "other", "enabled": False}), 200)
    actual = [(d["feature"], d["enabled"]) for d in api.read("child")["dependencies"]]
    check.equal(actual, [("other", False)], "one parent: the second replaces the first")
    check.equal(api.read("parent")["children"], [], "no longer a parent")

    for what, child, parent in (
        ("itself", "child", "child"),
        ("a child as parent", "parent", "child"),
        ("a parent as child", "other", "parent"),
        ("archived", "child", "gone"),
        ("unknown", "child", "nothing"),
    ):
        answer = api.post(f"{api.flag_path(child)}/dependencies", {"feature": parent})
        check.error(answer, 403, message=what)
    check.error(api.post(f"{api.flag_path('nothing')}/dependencies", {"feature": "parent"}), 404)
    for bad in ({}, {"feature": 3.5}, {"feature": "parent", "enabled": "perhaps"},
                {"feature": "parent", "variants": "red"}):  # fmt: skip
        check.error(api.post(path, bad), 400)
    actual = [d["feature"] for d in api.read("child")["dependencies"]]
    check.equal(actual, ["other"], "what was refused changed nothing")

    options = api.get(f"{api.flag_path('child')}/parents")
    if check.status(options, 200):
        check("parent" in options.json, f"possible parents: {options.json}")
        check("child" not in options.json and "gone" not in options.json, "neither itself nor gone")
    check.error(api.delete(api.flag_path("other")), 403, message="a parent is not archived")
    check.status(api.delete(f"{path}/other"), 200)
    check.equal(api.read("child")["dependencies"], [], "removed")
    api.post(path, {"feature": "parent", "variants": ["red"]})
    check.status(api.delete(path), 200, "all of them")
    check.equal(api.read("child")["dependencies"], [], "all removed")
    check.status(api.delete(api.flag_path("parent")), 202, "no longer held")


def test_a_parent_and_its_children_in_bulk(api, check):
    api.flag("child")
    api.flag("parent")
    api.done("POST", f"{api.flag_path('child')}/dependencies", {"feature": "parent"})
    bulk = "/api/admin/projects/default/archive"
    check.error(api.post(bulk, {"features": ["parent"]}), 403, message="a parent alone")
    check.equal(api.read("parent")["archived"], False, "still there")
    check.status(api.post(bulk, {"features": ["parent", "child"]}), 202, "with its children")


def test_tags(api, check):
    api.flag()
    red = {"type": "simple", "value": "red"}
    answer = api.post(T, red)
    if check.status(answer, 201):
        check.equal({k: answer.json.get(k) for k in red}, red, "body")
    check.status(api.post(T, red), 201, "repeated")
    check.status(api.post(T, {"type": "simple", "value": "blå"}), 201, "any letters")
    actual = api.get(T)
    if check.status(actual, 200):
        values = sorted(t["value"] for t in actual.json["tags"])
        check.equal(values, ["blå", "red"], "values")
        check.equal({t["type"] for t in actual.json["tags"]}, {"simple"}, "types")
    rows = [
        ({}, ""),
        ({"type": "simple"}, ""),
        ({"value": "red"}, ""),
        ({"type": "simple", "value": "r"}, "value"),
        ({"type": "simple", "value": ""}, "value"),
        ({"type": "simple", "value": "r" * 51}, "value"),
        ({"type": "simple", "value": 3.5}, "value"),
        ({"type": "simple", "value": ["red"]}, "value"),
    ]
    for body, where in rows:
        check.error(api.post(T, body), 400, where)
    check.error(api.post(T, {"type": "nothing", "value": "red"}), (400, 404))
    check.error(api.post("/api/admin/features/nothing/tags", red), 404)
    check.error(api.get("/api/admin/features/nothing/tags"), 404)

    body = {
        "addedTags": [{"type": "simple", "value": "green"}],
        "removedTags": [red],
    }
    check.status(api.put(T, body), 200)
    values = {t["value"] for t in api.get(T).json["tags"]}
    check("green" in values and "red" not in values, f"PUT adds and removes: {values}")
    for bad in ({}, {"addedTags": "x", "removedTags": []}, {"addedTags": []}):
        check.error(api.put(T, bad), 400)
    check.status(api.delete(f"{T}/simple/green"), 200)
    check.status(api.delete(f"{T}/simple/green"), (200, 404), "again")
    check("green" not in {t["value"] for t in api.get(T).json["tags"]}, "removed")


def test_the_list_of_tags(api, check):
    path = "/api/admin/tags"
    tag = {"type": "simple", "value": "red"}
    check.status(api.post(path, tag), 201)
    check.error(api.post(path, tag), 409)
    check.error(api.post(path, {"type": "simple", "value": "r"}), 400)
    actual = api.get(path)
    if check.status(actual, 200):
        check(("simple", "red") in {(t["type"], t["value"]) for t in actual.json["tags"]}, "listed")
    check.status(api.get(f"{path}/simple"), 200, "by type")
    check.status(api.get(f"{path}/simple/red"), 200, "one")
    check.error(api.get(f"{path}/simple/none"), 404)
    api.flag()
    api.done("POST", T, tag)
    check.status(api.delete(f"{path}/simple/red"), 200)
    check.equal(api.get(T).json["tags"], [], "flags lose it")


def test_tag_types(api, check):
    path = "/api/admin/tag-types"
    answer = api.get(path)
    if check.status(answer, 200):
        check("simple" in [t["name"] for t in answer.json["tagTypes"]], "simple is built in")
    body = {"name": "team", "description": "Who", "icon": "T"}
    answer = api.post(path, body)
    if check.status(answer, 201):
        check.equal(answer.json.get("name"), "team", "name")
    check.error(api.post(path, body), 409)
    check.error(api.post(f"{path}/validate", body), 409)
    check.status(api.post(f"{path}/validate", {"name": "free"}), 200)
    for bad in ({}, {"name": ""}, {"name": "a b"}, {"name": 3.5}, {"name": "x" * 51}):
        check.error(api.post(path, bad), 400, "name" if bad else "")
    one = api.get(f"{path}/team")
    if check.status(one, 200):
        actual = one.json.get("tagType", one.json)
        check.equal((actual["name"], actual["description"]), ("team", "Who"), "one")
    check.error(api.get(f"{path}/nothing"), 404)
    check.status(api.put(f"{path}/team", {"description": "New"}), 200)
    types = {t["name"]: t for t in api.get(path).json["tagTypes"]}
    check.equal(types["team"]["description"], "New", "PUT")
    api.flag()
    check.status(api.post(T, {"type": "team", "value": "core"}), 201, "usable")
    check.status(api.delete(f"{path}/team"), 200)
    check("team" not in {t["name"] for t in api.get(path).json["tagTypes"]}, "deleted")
    check.status(api.delete(f"{path}/team"), (200, 404), "again")
