"""The archive and bulk changes of flags: all or none, each with its event."""

from __future__ import annotations

import pytest

from sigservice.services.flags import features
from tests.routes.kit import FEATURES, PROJECT

ARCHIVE = "/api/admin/archive"


def flags(admin, *names):
    for name in names:
        admin.flag(name)
    return {"features": list(names)}


def items(admin):
    return [feature["name"] for feature in admin.get(FEATURES)["features"]]


def test_an_archived_flag_is_in_no_list_and_off_when_it_comes_back(admin):
    path = admin.flag()
    admin.post(f"{path}/environments/development/on")
    admin.delete(path, 202)
    assert items(admin) == []
    (archived,) = admin.get("/api/admin/search/features?archived=IS:true")["features"]
    assert (archived["name"], archived["archived"]) == ("a", True)
    assert archived["archivedAt"] >= archived["createdAt"]
    admin.delete(path, 202)  # again is no error
    assert admin.types(2) == ["feature-environment-enabled", "feature-archived"]
    admin.post(f"{ARCHIVE}/revive/a")
    assert items(admin) == ["a"]
    flag = admin.get(path)
    assert (flag["archived"], flag["archivedAt"]) == (False, None)
    assert not any(environment["enabled"] for environment in flag["environments"])
    assert flag["environments"][1]["strategies"] != []
    admin.post(f"{ARCHIVE}/revive/a", status=404)


def test_an_archived_flag_is_not_found_as_a_whole_but_its_parts_are(admin):
    path = admin.flag(tags=[{"type": "simple", "value": "one"}])
    strategy = admin.strategy()
    admin.delete(path, 202)
    assert "archived" in admin.ask("GET", path, status=404).json["message"]
    admin.ask("HEAD", path, status=404)
    state = f"{path}/environments/development"
    assert admin.get(state)["strategies"] == [strategy]
    assert admin.get(f"{state}/strategies") == [strategy]
    assert admin.get("/api/admin/features/a/tags")["tags"] != []
    admin.post(f"{ARCHIVE}/revive/a")
    assert admin.get(path)["name"] == "a"


def test_events_have_the_state_before_and_after(admin):
    names = flags(admin, "a", "b")
    admin.post(f"{PROJECT}/archive", names, 202)
    admin.post(f"{PROJECT}/revive", names)
    admin.post(f"{PROJECT}/stale", names | {"stale": True}, 202)
    admin.post(f"{PROJECT}/stale", names | {"stale": True}, 202)  # nothing changes
    admin.post(f"{PROJECT}/stale", names | {"stale": False}, 202)
    admin.post(f"{PROJECT}/archive", names, 202)
    admin.post(f"{PROJECT}/delete", names)
    result = admin.events(12)
    types = ["archived", "revived", "stale-on", "stale-off", "archived", "deleted"]
    assert [event["type"] for event in result] == [f"feature-{t}" for t in types for _ in "ab"]
    assert [event["featureName"] for event in result] == ["a", "b"] * 6
    assert {event["project"] for event in result} == {"default"}
    for field, changes in (
        ("archived", [(False, True), (True, False), *[(False, False)] * 2, (False, True)]),
        ("stale", [*[(False, False)] * 2, (False, True), (True, False), (False, False)]),
    ):
        for event, (before, after) in zip(result[::2], changes, strict=False):
            assert (event["preData"][field], event["data"][field]) == (before, after), event["type"]
    assert (result[10]["data"], result[10]["preData"]["archived"]) == (None, True)


def test_deletion_removes_everything_of_the_flag(admin):
    path = admin.flag(tags=[{"type": "simple", "value": "one"}])
    segment = admin.segment()
    admin.strategy(segments=[segment])
    admin.delete(f"{ARCHIVE}/a", 400)
    admin.delete(path, 202)
    admin.delete(f"/api/admin/segments/{segment}", 409)  # a revived flag would need it
    admin.delete(f"{ARCHIVE}/a")
    admin.get(path, 404)
    admin.delete(f"/api/admin/segments/{segment}", 204)
    admin.delete(f"{ARCHIVE}/a")  # unknown is no error
    for table in ("feature_strategies", "feature_environments", "feature_tags"):
        assert admin.rows(f"SELECT count(*) FROM {table}") == [(0,)]


def test_a_parent_of_flags_that_stay_stays(admin):
    flags(admin, "child", "parent", "other")
    admin.post(f"{FEATURES}/child/dependencies", {"feature": "parent"})
    for method, path, body in (
        ("DELETE", f"{FEATURES}/parent", None),
        ("POST", f"{PROJECT}/archive", {"features": ["parent", "other"]}),
    ):
        before = admin.read_state()
        answer = admin.ask(method, path, body, 403)
        assert "child" in answer.json["message"]
        assert admin.read_state() == before
    admin.post(f"{PROJECT}/archive", {"features": ["parent", "child"]}, 202)
    admin.post(f"{PROJECT}/revive", {"features": ["parent", "child"]})
    assert admin.get(f"{FEATURES}/child")["dependencies"] == []


def test_an_archived_child_gives_its_parent_free(admin):
    flags(admin, "child", "parent")
    admin.post(f"{FEATURES}/child/dependencies", {"feature": "parent"})
    admin.delete(f"{FEATURES}/child", 202)
    assert admin.types(2) == ["feature-dependencies-removed", "feature-archived"]
    assert admin.events(2)[0]["preData"]["feature"] == "parent"
    before = admin.read_state()
    admin.post(f"{FEATURES}/child/dependencies", {"feature": "parent"}, 403)
    assert admin.read_state() == before
    admin.delete(f"{FEATURES}/parent", 202)
    admin.delete(f"{ARCHIVE}/parent")


@pytest.mark.parametrize(
    ("method", "path", "more"),
    [
        ("POST", "archive", {}),
        ("POST", "revive", {}),
        ("POST", "delete", {}),
        ("POST", "stale", {"stale": True}),
        ("PUT", "tags", {"tags": {"addedTags": [], "removedTags": []}}),
        ("POST", "bulk_features/environments/development/on", {}),
        ("POST", "bulk_features/environments/development/off", {}),
    ],
)
def test_one_wrong_name_stops_all(admin, method, path, more):
    flags(admin, "a", "b")
    admin.post(f"{FEATURES}/a/environments/development/on")
    if path in ("revive", "delete"):
        admin.delete(f"{FEATURES}/a", 202)
    url = f"{PROJECT}/{path}"
    names = [["a", "c"], ["..", "a"], ["a", "x" * 50_000], [f"n{n}" for n in range(9000)]]
    result = admin.refusals(method, url, [{"features": list_} | more for list_ in names])
    assert {status for status, _ in result.values()} == {404}
    result = admin.refusals(
        method, f"/api/admin/projects/other/{path}", [{"features": ["a"]} | more]
    )
    assert {status for status, _ in result.values()} == {404}
    admin.ask(method, url, {"features": ["a", "a"]} | more)  # twice is once
    admin.ask(method, url, {"features": []} | more)


def test_living_and_archived_ones_are_not_mixed(admin):
    flags(admin, "a", "b")
    admin.delete(f"{FEATURES}/a", 202)
    both = {"features": ["a", "b"]}
    assert admin.refusals("POST", f"{PROJECT}/delete", [both]) == {
        '{"features": ["a", "b"]}': (400, [None])
    }
    assert admin.refusals("POST", f"{PROJECT}/revive", [both]) == {
        '{"features": ["a", "b"]}': (404, [None])
    }
    for way in ("on", "off"):
        path = f"{PROJECT}/bulk_features/environments/development/{way}"
        ((status, _),) = admin.refusals("POST", path, [both]).values()
        assert status == 400


def test_stale_is_said_as_true_or_false(admin):
    flags(admin, "a")
    rows = [({"features": ["a"]} | more, "stale") for more in ({}, {"stale": "true"}, {"stale": 1})]
    admin.all_refused("POST", f"{PROJECT}/stale", rows)


def test_tags_of_many(admin):
    names = flags(admin, "a", "b")
    one, two = {"type": "simple", "value": "one"}, {"type": "simple", "value": "two"}
    path = f"{PROJECT}/tags"
    admin.put(path, names | {"tags": {"addedTags": [one, two, one], "removedTags": []}})
    admin.put(path, names | {"tags": {"addedTags": [one], "removedTags": [two]}})
    for name in "ab":
        assert admin.get(f"/api/admin/features/{name}/tags")["tags"] == [one]
    result = admin.events(6)
    assert [event["type"] for event in result].count("feature-tagged") == 4
    assert [(event["type"], event["preData"]) for event in result[4:]] == [
        ("feature-untagged", two)
    ] * 2
    invalid = {"type": "none", "value": "one"}
    rows = [(names | {"tags": {"addedTags": [invalid], "removedTags": []}}, "type")]
    rows += [(names | {"tags": {"addedTags": []}}, "tags.removedTags"), (names, "tags")]
    admin.all_refused("PUT", path, rows)


def test_the_archive_is_no_way_around_the_limit(admin, monkeypatch):
    flags(admin, "a", "b")
    admin.post(f"{PROJECT}/archive", {"features": ["a", "b"]}, 202)
    monkeypatch.setattr(features, "MAX_FEATURES", 2)
    flags(admin, "c")
    answer = admin.ask("POST", f"{PROJECT}/revive", {"features": ["a", "b"]}, 400)
    assert answer.json["name"] == "ExceedsLimitError"
    admin.post(f"{ARCHIVE}/revive/a")
    admin.post(f"{ARCHIVE}/revive/b", status=400)
    answer = admin.ask("POST", FEATURES, {"name": "d"}, 400)
    assert answer.json["name"] == "ExceedsLimitError"
    admin.delete(f"{FEATURES}/c", 202)
    admin.flag("d")
