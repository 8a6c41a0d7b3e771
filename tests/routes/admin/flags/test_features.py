"""Flags of a project: fields, codes, events, patches, clones."""

from __future__ import annotations

import json

import pytest

from tests.conftest import ADMIN
from tests.delivery.test_revision_cache import CLIENT, TOKENS
from tests.routes.kit import FEATURES, OWN_PAGE, PROJECT, Admin, race

NAMES = ["", " ", "a b", "a/b", "ä", "ключ", "x" * 101, "a\n", "a%20b", ".", "..", "../a", "a\\b"]
NAMES += ["a?b", "a#b", "<b>", "'--", "a\u200b", "x" * 100_000]
TYPES = ["release", "experiment", "operational", "kill-switch", "permission"]


def member(admin, name="a"):
    return admin.get(f"{FEATURES}/{name}")


def test_create_answers_the_flag_off_everywhere(admin):
    body = {"name": "a", "type": "experiment", "description": "d", "impressionData": True}
    answer = admin.ask("POST", FEATURES, body, 201)
    flag = answer.json
    assert {key: flag[key] for key in body} == body
    assert (flag["project"], flag["stale"], flag["archived"]) == ("default", False, False)
    assert answer.headers["Location"] == f"{FEATURES}/a"
    read = member(admin)
    assert read.items() >= flag.items()
    assert [e["name"] for e in read["environments"]] == ["production", "development", "default"]
    assert not any(e["enabled"] or e["strategies"] for e in read["environments"])
    assert (read["dependencies"], read["children"], read["tags"]) == ([], [], [])
    (event,) = admin.events(1)
    assert event["type"] == "feature-created"
    assert (event["project"], event["featureName"]) == ("default", "a")
    assert (event["data"], event["preData"]) == (flag, None)


def test_names_are_url_friendly(admin):
    admin.all_refused("POST", FEATURES, [({"name": name}, "name") for name in NAMES])
    admin.all_refused(
        "POST", "/api/admin/features/validate", [({"name": n}, "name") for n in NAMES]
    )
    for name in ("A.b_c~d-9", "...", "x" * 100, "-"):
        admin.post("/api/admin/features/validate", {"name": name})
        admin.flag(name)
        assert member(admin, name)["name"] == name


def test_invalid_bodies_are_rejected(admin):
    admin.all_refused(
        "POST",
        FEATURES,
        [
            ({}, "name"),
            ({"name": None}, "name"),
            ({"name": 1}, "name"),
            ({"name": "a", "type": "x"}, "type"),
            ({"name": "a", "type": None}, "type"),
            ({"name": "a", "type": "x" * 50_000}, "type"),
            ({"name": "a", "description": "é" * 5001}, "description"),
            ({"name": "a", "tags": [{"type": "no", "value": "xx"}]}, "type"),
            ({"name": "a", "tags": [{"type": "simple", "value": "x"}]}, "value"),
            ({"name": "a", "tags": [{"type": "simple", "value": "x" * 51}]}, "value"),
            ({"name": "a b", "type": "x", "description": "x" * 5001}, "description"),
        ],
    )
    admin.flag("a", description="é" * 5000)


@pytest.mark.parametrize("type", TYPES)
def test_every_type(admin, type):
    admin.flag(type=type)
    assert member(admin)["type"] == type


def test_name_of_an_archived_flag_stays_reserved(admin):
    admin.flag()
    answer = admin.ask("POST", FEATURES, {"name": "a"}, 409)
    assert answer.json["name"] == "NameExistsError"
    assert answer.json["details"][0]["path"] == "name"
    admin.delete(f"{FEATURES}/a", 202)
    admin.post(FEATURES, {"name": "a"}, 409)
    admin.post("/api/admin/features/validate", {"name": "a"}, 409)
    admin.delete("/api/admin/archive/a")
    admin.flag()


def test_unknown_flags_are_404(admin):
    admin.flag()
    admin.post("/api/admin/projects/other/features", {"name": "b"}, 404)
    assert admin.get("/api/admin/projects/other/features") == {"version": 2, "features": []}
    before = admin.read_state()
    names = ("b", "..", "%2e%2e", "a%2Fb", "%D0%B0", "x" * 5000, "a;b", "A")
    paths = [f"{FEATURES}/{name}" for name in names] + ["/api/admin/projects/other/features/a"]
    for path in paths:
        for method, body in (
            ("GET", None),
            ("PUT", {"type": "release"}),
            ("PATCH", []),
            ("DELETE", None),
        ):
            assert admin.ask(method, path, body).status_int == 404, (method, path)
        assert admin.ask("POST", f"{path}/clone", {"name": "c"}).status_int == 404
    for name in ("%ff", "a%00"):
        admin.ask("GET", f"{FEATURES}/{name}", status=400)
    assert admin.read_state() == before


def test_the_list_has_states_and_tags_and_is_narrowed(admin):
    admin.flag("ab", tags=[{"type": "simple", "value": "one"}])
    admin.flag("a_c", tags=[{"type": "simple", "value": "two"}])
    admin.flag("abc")
    admin.post(f"{FEATURES}/abc/environments/development/on")

    def result(query=""):
        features = admin.get(FEATURES + query)["features"]
        return [feature["name"] for feature in features]

    assert result() == ["a_c", "ab", "abc"]
    assert result("?namePrefix=a_") == ["a_c"]
    assert result("?namePrefix=a%25") == []
    assert result("?tag=simple:one&tag=simple:two") == ["a_c", "ab"]
    assert result("?tag=simple:none") == []
    entries = {feature["name"]: feature for feature in admin.get(FEATURES)["features"]}
    assert entries["ab"]["tags"] == [{"type": "simple", "value": "one"}]
    states = {e["name"]: e for e in entries["abc"]["environments"]}
    assert states["development"]["enabled"] is states["development"]["hasStrategies"] is True
    assert states["production"]["enabled"] is states["production"]["hasStrategies"] is False
    admin.ask("GET", f"{FEATURES}?tag=%ff", status=400)
    admin.ask("GET", f"{FEATURES}?namePrefix=%00", status=400)


def test_replace_keeps_what_is_absent(admin):
    path = admin.flag(description="d", type="permission", impressionData=True)
    before = admin.events(1)[0]["data"]
    after = admin.put(path, {"stale": True})
    assert after == before | {"stale": True}
    assert admin.put(path, {"description": None, "name": "a"})["description"] is None
    first, second = admin.events(2)
    assert first["type"] == second["type"] == "feature-metadata-updated"
    assert (first["preData"], first["data"], second["preData"]) == (before, after, after)
    assert admin.put(path, after)["stale"]
    rows = [({"project": "web"}, "project"), ({"archived": True}, "archived")]
    rows += [({"name": "b"}, "name"), ({"type": "x"}, "type"), ({"type": None}, "type")]
    rows += [({"stale": 1}, "stale"), ({"description": "x" * 5001}, "description")]
    admin.all_refused("PUT", path, rows)


def step(op, path, **more):
    return {"op": op, "path": path, **{key.rstrip("_"): value for key, value in more.items()}}


def test_patches(admin):
    path = admin.flag(description="d")
    changed = admin.patch(
        path,
        [
            step("test", "/description", value="d"),
            step("replace", "/description", value="e"),
            step("add", "/impressionData", value=True),
            step("copy", "/type", from_="/type"),
            step("replace", "/stale", value=True),
        ],
    )
    assert (changed["description"], changed["impressionData"], changed["stale"]) == (
        "e",
        True,
        True,
    )
    event = admin.events(1)[0]
    assert event["preData"]["description"] == "d"
    assert event["data"] == changed
    assert admin.patch(path, [step("remove", "/description")])["description"] is None
    admin.patch(path, [])


def test_patches_that_fail_change_nothing(admin):
    path = admin.flag(description="d")
    grow = [step("replace", "", value={"x": [1]})]
    bodies = [
        {},
        [1],
        [{}],
        [step("merge", "/type")],
        [step("replace", "/type")],
        [step("replace", "type", value="release")],
        [step("replace", "/~2", value=1)],
        [step("replace", "/nothing", value=1)],
        [step("replace", "/name/0", value="x")],
        [step("replace", "/type", value=5)],
        [step("replace", "/type", value=10**30)],
        [step("replace", "/stale", value=True), step("test", "/type", value="x")],
        [step("replace", "/name", value="b")],
        [step("replace", "/archived", value=True)],
        [step("replace", "/project", value="web")],
        [step("replace", "", value=[])],
        [step("replace", "", value=5), step("add", "/a", value=1)],
        [step("remove", "")],
        [step("move", "/a")],
        [step("move", "/createdBy/x", from_="/createdBy")],
        [step("add", "/x", value=[1]), step("add", "/x/" + "9" * 5000, value=1)],
        [step("add", "/x", value=[1]), step("remove", "/x/-")],
        [*grow, *[step("copy", "/x/-", from_="/x")] * 40],
        [step("replace", "", value={}), *[step("copy", "/a", from_="")] * 1500],
        [step("add", "/description", value="x" * 5001)],
    ]
    result = admin.refusals("PATCH", path, bodies)
    assert {status for status, _ in result.values()} == {400}
    answer = admin.ask("PATCH", path, [step("replace", "/variants", value=[])], 403)
    assert answer.json["name"] == "ForbiddenError"


def test_kill_switches_and_permissions_are_permanent_by_default(admin):
    for type, is_permanent in (("kill-switch", True), ("permission", True), ("release", False)):
        admin.flag(type, type=type)
        assert member(admin, type)["permanent"] is is_permanent
    path = admin.flag("other", type="permission", permanent=False)
    assert member(admin, "other")["permanent"] is False
    admin.put(path, {"type": "kill-switch"})
    assert member(admin, "other")["permanent"] is False


def test_a_flag_that_becomes_permanent_is_not_stale(admin):
    path = admin.flag()
    admin.put(path, {"stale": True})
    assert admin.put(path, {"permanent": True})["stale"] is False
    admin.put(path, {"stale": True})
    assert (member(admin)["permanent"], member(admin)["stale"]) == (True, True)
    admin.ask("PATCH", path, [step("replace", "/permanent", value=False)])
    assert member(admin)["permanent"] is False


def test_patches_at_once_lose_nothing(service, admin):
    path = admin.flag()
    fields = [("stale", True), ("impressionData", True), ("type", "permission")]
    fields += [("description", "d")]

    def change(racer, n):
        field, value = fields[n % 4]
        return racer.ask("PATCH", path, [step("replace", f"/{field}", value=value)]).status_int

    for _ in range(3):
        admin.put(path, dict.fromkeys(["stale", "impressionData"], False) | {"description": None})
        admin.put(path, {"type": "release"})
        assert race(service, 8, change) == [200] * 8
        flag = member(admin)
        assert {name: flag[name] for name, _ in fields} == dict(fields)


def test_partial_replacements_at_once_lose_nothing(service, admin):
    path = admin.flag()
    fields = [{"stale": True}, {"impressionData": True}, {"description": "d"}]
    for _ in range(3):
        admin.put(path, {"stale": False, "impressionData": False, "description": None})
        race(service, 9, lambda racer, n: racer.put(path, fields[n % 3]))
        flag = member(admin)
        assert (flag["stale"], flag["impressionData"], flag["description"]) == (True, True, "d")


def test_a_clone_is_off_with_the_same_strategies(admin):
    path = admin.flag(description="d", type="permission", impressionData=True)
    segment = admin.segment()
    for title in ("one", "two", "three", "four"):  # all of one order: the oldest comes first
        admin.strategy(title=title, sortOrder=0, segments=[segment])
    admin.strategy(environment="production", parameters={"rollout": 5})
    admin.post(f"{path}/environments/development/on")
    answer = admin.ask("POST", f"{path}/clone", {"name": "b"}, 201)
    assert answer.headers["Location"] == f"{FEATURES}/b"
    model, clone = member(admin), member(admin, "b")
    same = ("description", "type", "impressionData", "stale", "project")
    assert [clone[key] for key in same] == [model[key] for key in same]
    for old, new in zip(model["environments"], clone["environments"], strict=True):
        assert new["enabled"] is False
        for before, after in zip(old["strategies"], new["strategies"], strict=True):
            assert before.pop("id") != after.pop("id")
            assert after["parameters"].pop("groupId") == "b"
            assert before["parameters"].pop("groupId") == "a"
            assert before == after
    admin.post(f"{path}/clone", {"name": "c", "replaceGroupId": False}, 201)
    strategies = member(admin, "c")["environments"][1]["strategies"]
    assert strategies[0]["parameters"]["groupId"] == "a"
    assert admin.events(1)[0]["featureName"] == "c"
    admin.all_refused("POST", f"{path}/clone", [({"name": name}, "name") for name in NAMES])
    admin.refusals("POST", f"{path}/clone", [{"name": "a"}, {"name": "b"}])


def test_names_are_checked_before_they_are_used(admin):
    admin.flag()
    path = "/api/admin/features/validate"
    assert admin.ask("POST", path, {"name": "b", "projectId": "default"}).status_int == 200
    assert admin.refusals("POST", path, [{"name": "a"}])['{"name": "a"}'] == (409, ["name"])
    admin.refusals("POST", path, [{}])


CHANGES = [
    ("POST", FEATURES, {"name": "b"}),
    ("PUT", f"{FEATURES}/a", {"stale": True}),
    ("PATCH", f"{FEATURES}/a", [step("replace", "/stale", value=True)]),
    ("DELETE", f"{FEATURES}/a", None),
    ("POST", f"{FEATURES}/a/clone", {"name": "b"}),
    ("POST", "/api/admin/features/validate", {"name": "b"}),
    ("POST", "/api/admin/archive/revive/a", None),
    ("DELETE", "/api/admin/archive/a", None),
    ("POST", f"{PROJECT}/archive", {"features": ["a"]}),
    ("POST", f"{PROJECT}/revive", {"features": ["a"]}),
    ("POST", f"{PROJECT}/delete", {"features": ["a"]}),
    ("POST", f"{PROJECT}/stale", {"features": ["a"], "stale": True}),
    ("PUT", f"{PROJECT}/tags", {"features": ["a"], "tags": {"addedTags": [], "removedTags": []}}),
    ("POST", f"{FEATURES}/a/environments/development/on", None),
    ("POST", f"{FEATURES}/a/environments/development/off", None),
    ("POST", f"{PROJECT}/bulk_features/environments/development/on", {"features": ["a"]}),
    ("POST", f"{PROJECT}/bulk_features/environments/development/off", {"features": ["a"]}),
    ("POST", f"{FEATURES}/a/environments/development/strategies", {"name": "default"}),
    ("POST", f"{FEATURES}/a/environments/development/strategies/set-sort-order", []),
    ("PUT", f"{FEATURES}/a/environments/development/strategies/x", {"name": "default"}),
    ("PATCH", f"{FEATURES}/a/environments/development/strategies/x", []),
    ("DELETE", f"{FEATURES}/a/environments/development/strategies/x", None),
    ("POST", "/api/admin/features/a/tags", {"type": "simple", "value": "xx"}),
    ("PUT", "/api/admin/features/a/tags", {"addedTags": [], "removedTags": []}),
    ("DELETE", "/api/admin/features/a/tags/simple/xx", None),
    ("POST", f"{FEATURES}/a/dependencies", {"feature": "b"}),
    ("DELETE", f"{FEATURES}/a/dependencies", None),
    ("DELETE", f"{FEATURES}/a/dependencies/b", None),
    ("POST", "/api/admin/segments", {"name": "s", "constraints": []}),
    ("POST", "/api/admin/segments/validate", {"name": "s"}),
    ("PUT", "/api/admin/segments/1", {"name": "s", "constraints": []}),
    ("DELETE", "/api/admin/segments/1", None),
    ("POST", "/api/admin/segments/strategies", {}),
]
READS = [
    FEATURES,
    f"{FEATURES}/a",
    f"{FEATURES}/a/parents",
    f"{FEATURES}/a/environments/development",
    f"{FEATURES}/a/environments/development/variants",
    f"{FEATURES}/a/environments/development/strategies",
    "/api/admin/features/a/tags",
    "/api/admin/segments",
]


def test_viewers_look_and_editors_change(cast, admin):
    admin.flag()
    vera, ed = cast.signed_in("vera"), cast.signed_in("ed")
    before = admin.read_state()
    for method, path, body in CHANGES:
        headers = {"X-CSRF-Token": vera.csrf, "Content-Type": "application/json"}
        more = {} if body is None else {"body": json.dumps(body).encode()}
        answer = vera.request(path, method=method, headers=headers, expect_errors=True, **more)
        assert answer.status_int == 403, (method, path)
        assert answer.json["permissions"] == ["EDIT"], (method, path)
    for path in READS:
        vera.get(path, status=200)
        ed.get(path, status=200)
    assert admin.read_state() == before
    ed.post_json(FEATURES, {"name": "c"}, headers={"X-CSRF-Token": ed.csrf}, status=201)
    assert admin.events(1)[0]["createdBy"] == "ed"
    ed.post_json(FEATURES, {"name": "d"}, headers=OWN_PAGE, status=403)  # without the form token


def test_other_tokens_and_unauthenticated_callers_are_rejected(make_service):
    service = make_service(TOKENS)
    admin = Admin(service)
    admin.flag()
    before = admin.read_state()
    for headers, status in (
        ({"Authorization": CLIENT}, 403),
        ({"Authorization": "*:development.f"}, 403),
        ({}, 401),
        ({"Authorization": ADMIN["Authorization"] + "x"}, 401),
    ):
        anonymous = Admin(service, headers)
        for method, path, body in CHANGES:
            assert anonymous.ask(method, path, body).status_int == status, (method, path)
        for path in READS:
            anonymous.get(path, status)
    assert admin.read_state() == before
