"""The admin API of strategy types, feature types, tag types and tags."""

from __future__ import annotations

from tests.conftest import ADMIN

STRATEGIES, TAG_TYPES, TAGS = "/api/admin/strategies", "/api/admin/tag-types", "/api/admin/tags"
PARAMETER = {"name": "region", "type": "list", "description": "Where", "required": True}


def post(web, path, body, status=201):
    return web.post_json(path, body, headers=ADMIN, status=status)


def get(web, path, status=200):
    return web.get(path, headers=ADMIN, status=status).json


def newest(web):
    return web.get("/api/admin/events", {"limit": 1}, headers=ADMIN).json["events"][0]


# strategy types


def test_built_in_strategy_types_cannot_be_changed(web):
    answer = get(web, STRATEGIES)
    assert answer["version"] == 1
    by_name = {row["name"]: row for row in answer["strategies"]}
    assert list(by_name)[:2] == ["flexibleRollout", "default"]
    assert len(by_name) == 8
    assert by_name["default"] == {
        "name": "default",
        "displayName": "Everyone",
        "title": "Everyone",
        "description": "Enabled for everyone.",
        "editable": False,
        "deprecated": False,
        "parameters": [],
    }
    assert get(web, f"{STRATEGIES}/default") == by_name["default"]
    assert [p["name"] for p in by_name["flexibleRollout"]["parameters"]] == [
        "rollout",
        "stickiness",
        "groupId",
    ]
    for request in (web.delete, lambda *a, **k: web.put_json(*a, {"parameters": []}, **k)):
        answer = request(f"{STRATEGIES}/flexibleRollout", headers=ADMIN, status=403)
        assert answer.json["name"] == "OperationDeniedError"


def test_a_strategy_type_is_created_updated_deprecated_and_deleted(web, rows):
    body = {"name": "byRegion", "title": "By region", "parameters": [PARAMETER]}
    answer = post(web, STRATEGIES, body)
    assert answer.headers["Location"] == f"{STRATEGIES}/byRegion"
    created = answer.json
    assert created == get(web, f"{STRATEGIES}/byRegion")
    assert (created["displayName"], created["editable"]) == ("By region", True)
    assert created["parameters"] == [PARAMETER]
    assert newest(web)["type"] == "strategy-created"
    post(web, STRATEGIES, body, status=409)

    path = f"{STRATEGIES}/byRegion"
    changed = web.put_json(path, {"parameters": [], "description": "x"}, headers=ADMIN).json
    assert (changed["displayName"], changed["description"]) == ("byRegion", "x")
    assert newest(web)["preData"]["parameters"] == [PARAMETER]

    for how, is_deprecated in (("deprecate", True), ("reactivate", False)):
        for _ in range(2):
            web.post(f"{path}/{how}", headers=ADMIN, status=200)
        assert get(web, path)["deprecated"] is is_deprecated
        assert newest(web)["type"] == f"strategy-{how}d"
    assert rows("SELECT count(*) FROM events WHERE type LIKE 'strategy-%%'") == [(4,)]

    web.delete(path, headers=ADMIN, status=200)
    web.delete(path, headers=ADMIN, status=404)
    web.post(f"{path}/deprecate", headers=ADMIN, status=404)
    web.put_json(path, {"parameters": []}, headers=ADMIN, status=404)
    get(web, path, status=404)
    web.post(f"{STRATEGIES}/userWithId/reactivate", headers=ADMIN, status=200)
    web.post(f"{STRATEGIES}/default/deprecate", headers=ADMIN, status=403)


def test_a_strategy_type_in_use_cannot_be_deleted(web, rows):
    post(web, STRATEGIES, {"name": "own", "parameters": []})
    rows('UPDATE project_environments SET default_strategy = \'{"name": "own"}\'')
    answer = web.delete(f"{STRATEGIES}/own", headers=ADMIN, status=409)
    assert "default" in answer.json["message"]
    rows("UPDATE project_environments SET default_strategy = NULL")
    rows(
        "INSERT INTO features (name, project, type, created_by) "
        "VALUES ('checkout', 'default', 'release', 'ada')"
    )
    rows(
        "INSERT INTO feature_strategies (id, feature, environment, name, sort_order) "
        "VALUES ('1', 'checkout', 'production', 'own', 1)"
    )
    answer = web.delete(f"{STRATEGIES}/own", headers=ADMIN, status=409)
    assert "checkout" in answer.json["message"]
    get(web, f"{STRATEGIES}/own")


BAD_STRATEGIES = (
    ({"name": "a b"}, "name"),
    ({"name": ""}, "name"),
    ({"name": "x" * 101}, "name"),
    ({"parameters": [PARAMETER, {"name": "", "type": "list"}]}, "parameters[1].name"),
    ({"parameters": [PARAMETER, PARAMETER]}, "parameters[1].name"),
    ({"parameters": [PARAMETER | {"type": "text"}]}, "parameters[0].type"),
    ({"parameters": [{"name": str(n), "type": "list"} for n in range(101)]}, "parameters"),
    ({"title": "x" * 201}, "title"),
    ({"description": "x" * 1001}, "description"),
)


def test_invalid_strategy_types_are_rejected_with_a_path(web):
    for body, path in BAD_STRATEGIES:
        answer = post(web, STRATEGIES, {"name": "own", "parameters": []} | body, status=400)
        assert answer.json["details"][0]["path"] == path, body
        assert len(get(web, STRATEGIES)["strategies"]) == 8


# feature types


def test_feature_types_are_listed_with_their_lifetime(web):
    answer = get(web, "/api/admin/feature-types")
    assert answer["version"] == 1
    lifetimes = {row["id"]: row["lifetimeDays"] for row in answer["types"]}
    assert lifetimes == {
        "release": 40,
        "experiment": 40,
        "operational": 7,
        "kill-switch": None,
        "permission": None,
    }
    assert all(row["name"] and row["description"] for row in answer["types"])


# tag types and tags


def test_a_tag_type_is_created_updated_and_deleted_with_its_tags(web, service):
    cache = service.context.revision_cache
    simple = {
        "name": "simple",
        "description": "Used to simplify filtering of features",
        "icon": "#",
        "color": None,
    }
    assert get(web, TAG_TYPES) == {"version": 1, "tagTypes": [simple]}
    team = {"name": "team", "description": "Who", "icon": "T", "color": "#1f5fBF"}
    validated = post(web, f"{TAG_TYPES}/validate", team, status=200).json
    assert validated == {"valid": True, "tagType": team}
    answer = post(web, TAG_TYPES, team)
    assert answer.json == team == get(web, f"{TAG_TYPES}/team")
    assert answer.headers["Location"] == f"{TAG_TYPES}/team"
    assert newest(web)["data"] == team
    post(web, TAG_TYPES, team, status=409)
    post(web, f"{TAG_TYPES}/validate", team, status=409)
    post(web, f"{TAG_TYPES}/validate", {"name": "free"}, status=200)

    path = f"{TAG_TYPES}/team"
    changed = web.put_json(path, {"color": None}, headers=ADMIN, status=200).json
    assert changed == team | {"color": None}
    event = newest(web)
    assert (event["type"], event["preData"]["color"]) == ("tag-type-updated", "#1f5fBF")
    web.put_json(path, {}, headers=ADMIN)
    assert newest(web)["id"] == event["id"]
    web.put_json(path, {"color": "red"}, headers=ADMIN, status=400)
    web.put_json(path, {"description": "New"}, headers=ADMIN, status=200)
    assert get(web, path)["description"] == "New"

    post(web, TAGS, {"type": "team", "value": "web"})
    before = cache.read_revisions()
    web.delete(path, headers=ADMIN, status=200)
    assert get(web, TAGS)["tags"] == []
    assert cache.read_revisions().of_environment("production") > before.of_environment("production")
    web.delete(path, headers=ADMIN, status=404)
    web.put_json(path, {}, headers=ADMIN, status=404)
    get(web, path, status=404)
    web.delete(f"{TAG_TYPES}/simple", headers=ADMIN, status=403)


BAD_TAG_TYPES = (
    ({"name": "x"}, "name"),
    ({"name": "x" * 51}, "name"),
    ({"name": "a b"}, "name"),
    ({"name": ""}, "name"),
    ({"color": "#12345"}, "color"),
    ({"color": "#12345678"}, "color"),
    ({"icon": "x" * 101}, "icon"),
    ({"description": "x" * 1001}, "description"),
)


def test_invalid_tag_types_are_rejected_with_a_path(web):
    for body, path in BAD_TAG_TYPES:
        for where in (TAG_TYPES, f"{TAG_TYPES}/validate"):
            answer = post(web, where, {"name": "team"} | body, status=400)
            assert answer.json["details"][0]["path"] == path, body
        get(web, f"{TAG_TYPES}/team", status=404)


def test_all_problems_of_a_tag_type_are_reported_together(web):
    details = post(web, TAG_TYPES, {"name": "x", "color": "red"}, 400).json["details"]
    assert [detail["path"] for detail in details] == ["name", "color"]


def test_tags_are_created_listed_and_deleted(web):
    post(web, TAG_TYPES, {"name": "team", "color": "#000000"})
    values = ["web", "a/b", "é ?#", "https://jira/A-1"]
    for value in values:
        answer = post(web, TAGS, {"type": "team", "value": f" {value} "})
        tag = {"type": "team", "value": value, "color": "#000000"}
        assert answer.json == {"version": 1, "tag": tag}
        assert get(web, answer.headers["Location"]) == {"version": 1, "tag": tag}
    post(web, TAGS, {"type": "simple", "value": "web"})
    assert post(web, TAGS, {"type": "team", "value": "web"}, 409).json["name"] == "NameExistsError"
    assert len(get(web, TAGS)["tags"]) == 5
    of_team = get(web, f"{TAGS}/team")
    assert of_team["version"] == 1
    assert sorted(tag["value"] for tag in of_team["tags"]) == sorted(values)
    assert get(web, f"{TAGS}/nothing")["tags"] == []

    web.delete(f"{TAGS}/team/a/b", headers=ADMIN, status=200)
    event = newest(web)
    assert (event["type"], event["preData"]) == ("tag-deleted", {"type": "team", "value": "a/b"})
    web.delete(f"{TAGS}/team/a/b", headers=ADMIN, status=200)
    assert newest(web)["id"] == event["id"]
    get(web, f"{TAGS}/team/a/b", status=404)
    for bad, path in (
        ({"type": "nothing", "value": "web"}, "type"),
        ({"type": "team", "value": " x "}, "value"),
        ({"type": "team", "value": "x" * 51}, "value"),
    ):
        assert post(web, TAGS, bad, 400).json["details"][0]["path"] == path, bad
    assert len(get(web, TAGS)["tags"]) == 4


def test_only_editors_change_types_and_tags(cast):
    for name, is_editor in (("ed", True), ("vera", False)):
        user = cast.signed_in(name)
        csrf = {"X-CSRF-Token": user.csrf}
        created, changed = (201, 200) if is_editor else (403, 403)
        for path in (STRATEGIES, TAG_TYPES, TAGS, "/api/admin/feature-types"):
            user.get(path, status=200)
        body = {"name": "own", "parameters": []}
        user.post_json(STRATEGIES, body, headers=csrf, status=created)
        user.post(f"{STRATEGIES}/own/deprecate", headers=csrf, status=changed)
        user.delete(f"{STRATEGIES}/own", headers=csrf, status=changed)
        user.post_json(TAG_TYPES, {"name": "team"}, headers=csrf, status=created)
        user.post_json(TAGS, {"type": "team", "value": "web"}, headers=csrf, status=created)
        user.delete(f"{TAGS}/team/web", headers=csrf, status=changed)
        user.put_json(f"{TAG_TYPES}/team", {}, headers=csrf, status=changed)
        user.delete(f"{TAG_TYPES}/team", headers=csrf, status=changed)


# flag types


LIFETIME = "/api/admin/feature-types/release/lifetime"


def test_the_lifetime_of_a_flag_type_changes(web):
    body = {"lifetimeDays": 12}
    answer = web.put_json(LIFETIME, body, headers=ADMIN).json
    assert (answer["id"], answer["lifetimeDays"]) == ("release", 12)
    assert answer in get(web, "/api/admin/feature-types")["types"]
    event = newest(web)
    assert event["type"] == "feature-type-updated"
    assert (event["preData"]["lifetimeDays"], event["data"]["lifetimeDays"]) == (40, 12)


def test_a_lifetime_of_none_or_zero_days_is_stored_as_none(web):
    for days in (0, None):
        answer = web.put_json(LIFETIME, {"lifetimeDays": days}, headers=ADMIN).json
        assert answer["lifetimeDays"] is None


def test_the_same_lifetime_is_no_change(web):
    before = newest(web)["id"]
    web.put_json(LIFETIME, {"lifetimeDays": 40}, headers=ADMIN)
    assert newest(web)["id"] == before


def test_invalid_lifetimes_are_rejected(web):
    for days in (-1, 100_001, 1.5, "7", True):
        web.put_json(LIFETIME, {"lifetimeDays": days}, headers=ADMIN, status=400)
    web.put_json(LIFETIME, {}, headers=ADMIN, status=400)


def test_the_lifetime_of_an_unknown_flag_type_is_not_found(web):
    path = "/api/admin/feature-types/nope/lifetime"
    web.put_json(path, {"lifetimeDays": 1}, headers=ADMIN, status=404)
