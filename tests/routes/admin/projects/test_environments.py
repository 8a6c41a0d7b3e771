"""The admin API of environments."""

from __future__ import annotations

import pytest
import webtest

from tests.conftest import ADMIN

PATH = "/api/admin/environments"


def names(web):
    return [row["name"] for row in web.get(PATH, headers=ADMIN).json["environments"]]


def newest(web, count=1):
    return web.get("/api/admin/events", {"limit": count}, headers=ADMIN).json["events"]


def create(web, name="staging", status=201, **more):
    body = {"name": name, "type": "test", **more}
    return web.post_json(PATH, body, headers=ADMIN, status=status)


def add_flag(rows, name, environment="production"):
    rows(
        "INSERT INTO features (name, project, type, created_by) "
        "VALUES (%s, 'default', 'release', 'ada')",
        name,
    )
    rows(
        "INSERT INTO feature_environments (feature, environment, enabled) VALUES (%s, %s, true)",
        name,
        environment,
    )
    rows(
        "INSERT INTO feature_strategies (id, feature, environment, name, sort_order) "
        "VALUES (%s, %s, %s, 'default', 1)",
        name,
        name,
        environment,
    )


def test_a_new_installation_has_three_environments(web):
    answer = web.get(PATH, headers=ADMIN).json
    assert answer["version"] == 1
    assert answer["environments"][-1] == {
        "name": "default",
        "type": "production",
        "sortOrder": 200,
        "enabled": True,
        "protected": True,
        "requiredApprovals": None,
        "projectCount": 1,
        "apiTokenCount": 0,
        "enabledToggleCount": 0,
    }
    assert names(web) == ["production", "development", "default"]
    assert web.get(f"{PATH}/default", headers=ADMIN).json == answer["environments"][-1]


@pytest.mark.parametrize(
    ("variable", "enabled"),
    [
        ("development", {"development"}),
        ("production,default", {"production", "default"}),
        ("nowhere", {"production", "development", "default"}),
        ("development,nowhere", {"development"}),
    ],
)
def test_environments_that_are_enabled_at_the_start(make_service, variable, enabled):
    """Unknown ones are ignored; all, if there is no other."""
    web = webtest.TestApp(make_service({}, {"ENABLED_ENVIRONMENTS": variable}).app)
    environments = web.get(PATH, headers=ADMIN).json["environments"]
    assert {e["name"] for e in environments if e["enabled"]} == enabled


def test_a_new_environment_comes_before_earlier_stages_and_is_in_no_project(web):
    answer = create(web)
    assert answer.json == web.get(f"{PATH}/staging", headers=ADMIN).json
    assert answer.headers["Location"] == f"{PATH}/staging"
    created = answer.json
    assert (created["type"], created["enabled"], created["protected"]) == ("test", True, False)
    assert (created["sortOrder"], created["projectCount"]) == (2, 0)
    (event,) = newest(web)
    assert (event["type"], event["environment"]) == ("environment-created", "staging")
    assert event["data"]["name"] == "staging"
    create(web, "first", sortOrder=-5, enabled=False)
    assert names(web) == ["first", "production", "staging", "development", "default"]
    assert web.get(f"{PATH}/first", headers=ADMIN).json["enabled"] is False


def test_a_new_environment_moves_later_ones_where_their_numbers_leave_no_room(web):
    order = {"production": 1, "development": 2, "default": 7}
    web.put_json(f"{PATH}/sort-order", order, headers=ADMIN, status=200)
    create(web, "qa")
    create(web, "live", type="production")
    rows = web.get(PATH, headers=ADMIN).json["environments"]
    assert [(row["name"], row["sortOrder"]) for row in rows] == [
        ("production", 1),
        ("live", 2),
        ("qa", 3),
        ("development", 4),
        ("default", 7),
    ]
    moved = [e["environment"] for e in newest(web, 3) if e["type"] == "environment-updated"]
    assert sorted(moved) == ["development", "qa"]


BAD = (
    ({"name": "", "type": "test"}, "name"),
    ({"name": "a b", "type": "test"}, "name"),
    ({"name": "a/b", "type": "test"}, "name"),
    ({"name": "..", "type": "test"}, "name"),
    ({"name": "é", "type": "test"}, "name"),
    ({"name": "x" * 101, "type": "test"}, "name"),
    ({"name": "x", "type": "prod"}, "type"),
    ({"name": "x", "type": "test", "sortOrder": 2**31}, "sortOrder"),
)


def test_invalid_bodies_are_rejected(web):
    for body, path in BAD:
        answer = web.post_json(PATH, body, headers=ADMIN, status=400)
        assert answer.json["details"][0].get("path") == path, body
        assert len(names(web)) == 3


def test_all_problems_are_reported_together(web):
    answer = web.post_json(PATH, {"name": "a b", "type": "x"}, headers=ADMIN, status=400)
    assert [detail["path"] for detail in answer.json["details"]] == ["name", "type"]


def test_names_are_unique_and_can_be_validated(web):
    assert create(web, "default", status=409).json["name"] == "NameExistsError"
    validate = f"{PATH}/validate"
    web.post_json(validate, {"name": "default"}, headers=ADMIN, status=409)
    web.post_json(validate, {"name": "new"}, headers=ADMIN, status=200)
    web.post_json(validate, {"name": "a b"}, headers=ADMIN, status=400)
    web.post_json(validate, {}, headers=ADMIN, status=400)


def test_there_are_at_most_fifty_environments(web, rows):
    rows(
        "INSERT INTO environments (name, type, sort_order) "
        "SELECT 'e' || n, 'test', n FROM generate_series(4, 50) AS n"
    )
    assert create(web, status=400).json["name"] == "ExceedsLimitError"
    web.delete(f"{PATH}/e4", headers=ADMIN)
    create(web)


@pytest.mark.parametrize("prefix", [PATH, f"{PATH}/update"])
def test_type_and_sort_order_change_separately(web, prefix):
    def change(body):
        return web.put_json(f"{prefix}/development", body, headers=ADMIN).json

    assert change({"type": "preproduction"})["type"] == "preproduction"
    changed = change({"sortOrder": 0})
    assert (changed["type"], changed["sortOrder"]) == ("preproduction", 0)
    assert names(web)[0] == "development"
    event = newest(web)[0]
    assert event["type"] == "environment-updated"
    assert (event["preData"]["sortOrder"], event["data"]["sortOrder"]) == (100, 0)
    change({})  # nothing changes, nothing is recorded
    assert newest(web)[0]["id"] == event["id"]
    web.put_json(f"{prefix}/development", {"type": "x"}, headers=ADMIN, status=400)
    web.put_json(f"{prefix}/nowhere", {"type": "test"}, headers=ADMIN, status=404)


def test_an_environment_is_enabled_and_disabled(web):
    for how, is_enabled in (("off", False), ("off", False), ("on", True)):
        web.post(f"{PATH}/production/{how}", headers=ADMIN, status=204)
        row = web.get(f"{PATH}/production", headers=ADMIN).json
        assert row["enabled"] is is_enabled
    states = [event["data"]["enabled"] for event in newest(web, 2)]
    assert states == [True, False]
    web.post(f"{PATH}/nowhere/on", headers=ADMIN, status=404)


def test_sort_orders_are_set_together(web):
    order = {"production": 3, "default": 2, "development": 100}
    web.put_json(f"{PATH}/sort-order", order, headers=ADMIN, status=200)
    assert names(web) == ["default", "production", "development"]
    assert {event["environment"] for event in newest(web, 2)} == {"production", "default"}
    assert newest(web, 3)[2]["type"] != "environment-updated"
    for body, status in (({"default": "x"}, 400), ({"default": 5, "nowhere": 1}, 404), ([], 400)):
        web.put_json(f"{PATH}/sort-order", body, headers=ADMIN, status=status)
    assert names(web) == ["default", "production", "development"]


def test_deletion_includes_states_and_strategies_of_flags(web, rows, service):
    cache = service.context.revision_cache
    add_flag(rows, "f")
    before = cache.read_revisions()
    assert web.get(f"{PATH}/production", headers=ADMIN).json["enabledToggleCount"] == 1
    web.delete(f"{PATH}/production", headers=ADMIN, status=200)
    web.delete(f"{PATH}/production", headers=ADMIN, status=404)
    assert names(web) == ["development", "default"]
    assert rows("SELECT name FROM features") == [("f",)]
    assert rows("SELECT 1 FROM feature_environments UNION SELECT 2 FROM feature_strategies") == []
    after = cache.read_revisions()
    assert after.of_environment("production") > before.of_environment("production")
    assert after.of_environment("development") == before.of_environment("development")
    assert newest(web)[0]["type"] == "environment-deleted"


def test_the_default_and_environments_with_tokens_cannot_be_deleted(web, rows):
    answer = web.delete(f"{PATH}/default", headers=ADMIN, status=403)
    assert answer.json["name"] == "OperationDeniedError"
    rows(
        "INSERT INTO api_tokens (secret_hash, secret_prefix, token_name, type, environment, "
        "projects) VALUES ('x', 'x', 'sdk', 'client', 'production', ARRAY['default'])"
    )
    answer = web.delete(f"{PATH}/production", headers=ADMIN, status=409)
    assert answer.json["name"] == "ConflictError"
    assert web.get(f"{PATH}/production", headers=ADMIN).json["apiTokenCount"] == 1
    (production, _, _) = web.get(f"{PATH}/project/default", headers=ADMIN).json["environments"]
    assert (production["name"], production["projectApiTokenCount"]) == ("production", 1)


def test_environments_of_a_project_show_which_it_uses(web, rows):
    create(web)
    add_flag(rows, "f")
    answer = web.get(f"{PATH}/project/default", headers=ADMIN).json
    assert answer["version"] == 1
    assert answer["environments"][:2] == [
        {
            "name": name,
            "type": type,
            "sortOrder": order,
            "enabled": True,
            "protected": False,
            "requiredApprovals": None,
            "visible": visible,
            "projectApiTokenCount": 0,
            "projectEnabledToggleCount": on,
        }
        for name, type, order, visible, on in (
            ("production", "production", 1, True, 1),
            ("staging", "test", 2, False, 0),
        )
    ]
    unknown = web.get(f"{PATH}/project/nowhere", headers=ADMIN).json["environments"]
    assert not any(row["visible"] for row in unknown)


def test_only_admins_change_environments(cast):
    web = cast.signed_in("ed")
    csrf = {"X-CSRF-Token": web.csrf}
    assert len(web.get(PATH).json["environments"]) == 3
    web.get(f"{PATH}/project/default")
    web.post_json(PATH, {"name": "x", "type": "test"}, headers=csrf, status=403)
    web.post(f"{PATH}/default/off", headers=csrf, status=403)
    web.put_json(f"{PATH}/sort-order", {"default": 5}, headers=csrf, status=403)
    web.put_json(f"{PATH}/production", {"type": "test"}, headers=csrf, status=403)
    web.delete(f"{PATH}/production", headers=csrf, status=403)


def test_unknown_environments_are_404(web):
    for name in ("nowhere", "%C3%A9", "a%20b", "x" * 2000):
        web.get(f"{PATH}/{name}", headers=ADMIN, status=404)
        web.delete(f"{PATH}/{name}", headers=ADMIN, status=404)
    web.get(f"{PATH}/a%00b", headers=ADMIN, status=400)
