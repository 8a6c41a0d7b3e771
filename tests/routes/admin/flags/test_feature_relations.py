"""Tags and parents of flags."""

from __future__ import annotations

from tests.routes.kit import FEATURES

TAGS = "/api/admin/features/a/tags"
CHILD = f"{FEATURES}/a/dependencies"


def tag(value, type="simple"):
    return {"type": type, "value": value}


def tags(admin):
    return [t["value"] for t in admin.get(TAGS)["tags"]]


def test_a_tag_with_a_line_break_is_removed(admin):
    admin.flag()
    admin.post("/api/admin/features/a/tags", {"type": "simple", "value": "a\nb"}, 201)
    admin.delete("/api/admin/features/a/tags/simple/a%0Ab")
    assert admin.get("/api/admin/features/a/tags")["tags"] == []
    admin.delete("/api/admin/tags/simple/a%0Ab")
    assert admin.get("/api/admin/tags")["tags"] == []


def test_tags_come_and_go(admin):
    admin.flag()
    assert admin.get(TAGS) == {"version": 1, "tags": []}
    assert admin.post(TAGS, tag("two"), 201) == tag("two")
    before = admin.read_state()
    admin.post(TAGS, tag("two"), 201)  # again changes nothing
    assert admin.read_state() == before
    changed = admin.put(TAGS, {"addedTags": [tag("one")], "removedTags": [tag("two"), tag("no")]})
    assert changed == {"version": 1, "tags": [tag("one")]}
    admin.delete(f"{TAGS}/simple/one")
    assert tags(admin) == []
    before = admin.read_state()
    admin.delete(f"{TAGS}/simple/one")
    assert admin.read_state() == before
    result = admin.events(4)
    assert [e["type"] for e in result] == [
        f"feature-{t}ged" for t in ("tag", "tag", "untag", "untag")
    ]
    assert [e["data"] or e["preData"] for e in result] == [
        tag(v) for v in ("two", "one", "two", "one")
    ]
    assert {(e["project"], e["featureName"]) for e in result} == {("default", "a")}


def test_tag_with_any_value_can_be_removed(admin):
    admin.flag()
    for value, quoted in (
        ("a/b", "a%2Fb"),
        ("a b", "a%20b"),
        ("a%b", "a%25b"),
        ("../x", "..%2Fx"),
        ("ключ", "%D0%BA%D0%BB%D1%8E%D1%87"),
        ("a?b#c", "a%3Fb%23c"),
    ):
        admin.post(TAGS, tag(value), 201)
        assert tags(admin) == [value]
        admin.delete(f"{TAGS}/simple/{quoted}")
        assert tags(admin) == [], value


def test_bad_tags(admin):
    admin.flag()
    bad_lists = [{"addedTags": []}, {"removedTags": []}, {"addedTags": "x", "removedTags": []}]
    admin.refusals("PUT", TAGS, [{}, *bad_lists])
    invalid = [
        (tag("xx", "none"), "type"),
        (tag("xx", ""), "type"),
        (tag("xx", "x" * 50_000), "type"),
        (tag("x"), "value"),
        (tag(" xx"), "value"),
        (tag("xx\n"), "value"),
        (tag("x" * 51), "value"),
        (tag(""), "value"),
    ]
    admin.all_refused("POST", TAGS, invalid)
    admin.post(TAGS, tag("é" * 50), 201)
    admin.post(TAGS, tag("😀😀"), 201)


def test_deleted_tag_is_removed_from_its_flags(admin):
    admin.flag()
    admin.post(TAGS, tag("red"), 201)
    admin.delete("/api/admin/tags/simple/red")
    assert tags(admin) == []


def test_tags_of_no_flag(admin):
    for name in ("none", "..", "x" * 3000):
        path = f"/api/admin/features/{name}/tags"
        admin.get(path, 404)
        admin.refusals("POST", path, [tag("xx")])
        admin.refusals("PUT", path, [{"addedTags": [], "removedTags": []}])
        admin.delete(f"{path}/simple/xx", 404)


def family(admin, *names):
    for name in names:
        admin.flag(name)


def test_parent_is_set_replaced_and_removed(admin):
    family(admin, "a", "b", "c")
    assert admin.get(f"{FEATURES}/a/parents") == ["b", "c"]
    admin.post(CHILD, {"feature": "b", "enabled": False})
    admin.post(CHILD, {"feature": "c", "variants": ["red"]})
    flag, parent = admin.get(f"{FEATURES}/a"), admin.get(f"{FEATURES}/c")
    assert flag["dependencies"] == [{"feature": "c", "enabled": True, "variants": ["red"]}]
    assert (parent["children"], admin.get(f"{FEATURES}/b")["children"]) == (["a"], [])
    assert admin.get(f"{FEATURES}/b/parents") == ["c"]
    admin.delete(f"{CHILD}/b")  # is no longer the parent
    assert admin.get(f"{FEATURES}/a")["dependencies"] != []
    admin.delete(f"{CHILD}/c")
    admin.post(CHILD, {"feature": "b"})
    admin.delete(CHILD)
    before = admin.read_state()
    admin.delete(CHILD)
    assert admin.read_state() == before
    added, replaced, removed, repeated, all_removed = admin.events(5)
    first, second = (
        {"feature": "b", "enabled": False, "variants": []},
        {"feature": "c", "enabled": True, "variants": ["red"]},
    )
    assert added["type"] == replaced["type"] == repeated["type"] == "feature-dependency-added"
    assert (added["preData"], added["data"]) == (None, first)
    assert (replaced["preData"], replaced["data"]) == (first, second)
    assert (removed["type"], removed["preData"]) == ("feature-dependency-removed", second)
    assert all_removed["type"] == "feature-dependencies-removed"
    assert all_removed["preData"]["feature"] == "b"
    assert {(e["project"], e["featureName"]) for e in (added, all_removed)} == {("default", "a")}


def test_flags_that_can_not_be_a_parent(admin):
    family(admin, "a", "b", "c", "gone")
    admin.delete(f"{FEATURES}/gone", 202)
    admin.post(f"{FEATURES}/b/dependencies", {"feature": "c"})
    names = ["a", "b", "none", "gone", "", "..", "x" * 50_000]
    result = admin.refusals("POST", CHILD, [{"feature": name} for name in names])
    assert {status for status, _ in result.values()} == {403}
    ((status, _),) = admin.refusals(
        "POST", f"{FEATURES}/c/dependencies", [{"feature": "a"}]
    ).values()
    assert status == 403  # c is a parent itself
    assert admin.get(f"{FEATURES}/a/parents") == ["c"]
    for path in (f"{FEATURES}/none", "/api/admin/projects/other/features/a"):
        result = admin.refusals("POST", f"{path}/dependencies", [{"feature": "c"}])
        assert {status for status, _ in result.values()} == {404}
        admin.delete(f"{path}/dependencies", 404)
        admin.delete(f"{path}/dependencies/c", 404)
        admin.get(f"{path}/parents", 404)


def test_bad_parents(admin):
    family(admin, "a", "b")
    admin.all_refused(
        "POST",
        CHILD,
        [
            ({"feature": "b", "enabled": False, "variants": ["red"]}, "variants"),
        ],
    )
