"""The features API from before projects: its environment, and the option that disables it."""

from __future__ import annotations

import pytest
import webtest

from tests.conftest import ADMIN

PATH = "/api/admin/features"
BODY = {
    "name": "old",
    "description": "d",
    "enabled": True,
    "strategies": [{"name": "default"}, {"name": "userWithId", "parameters": {"userIds": "1,2"}}],
}


@pytest.fixture
def old(web):
    return web.post_json(PATH, BODY, headers=ADMIN, status=201).json


def test_flag_is_created_in_the_default_environment(web, old):
    assert (old["enabled"], old["project"], old["type"]) == (True, "default", "release")
    assert [s["name"] for s in old["strategies"]] == ["default", "userWithId"]
    states = {
        e["name"]: e["enabled"]
        for e in web.get("/api/admin/projects/default/features/old", headers=ADMIN).json[
            "environments"
        ]
    }
    assert states == {"default": True, "development": False, "production": False}
    assert web.get(f"{PATH}/old", headers=ADMIN).json == old
    (items,) = web.get(PATH, headers=ADMIN).json["features"]
    assert items == old


def test_replace(web, old):
    body = {"name": "old", "strategies": [{"name": "flexibleRollout"}], "stale": True}
    answer = web.put_json(f"{PATH}/old", body, headers=ADMIN).json
    assert (answer["description"], answer["stale"], answer["enabled"]) == (None, True, False)
    assert [s["name"] for s in answer["strategies"]] == ["flexibleRollout"]


def test_switches(web, old):
    for path, enabled, stale in (
        ("toggle", False, False),
        ("toggle", True, False),
        ("toggle/off", False, False),
        ("toggle/on", True, False),
        ("stale/on", True, True),
        ("stale/off", True, False),
    ):
        answer = web.post(f"{PATH}/old/{path}", headers=ADMIN).json
        assert (answer["enabled"], answer["stale"]) == (enabled, stale), path


def test_archive(web, old):
    web.delete(f"{PATH}/old", headers=ADMIN)
    web.get(f"{PATH}/old", headers=ADMIN, status=404)
    assert web.get(PATH, headers=ADMIN).json["features"] == []
    web.post(f"{PATH}/old/toggle", headers=ADMIN, status=404)


def test_invalid_input_changes_nothing(web):
    invalid = BODY | {"strategies": [{"name": "default"}, {"name": "nope"}]}
    answer = web.post_json(PATH, invalid, headers=ADMIN, status=400)
    assert answer.json["details"][0]["path"] == "name"
    assert web.get(PATH, headers=ADMIN).json["features"] == []
    web.post_json(PATH, BODY | {"project": "nope"}, headers=ADMIN, status=404)


def test_filters(web, old):
    assert web.get(f"{PATH}?namePrefix=ol&project=default", headers=ADMIN).json["features"]
    assert not web.get(f"{PATH}?namePrefix=x", headers=ADMIN).json["features"]


def test_viewers_look_only(web, cast, old):
    vera = cast.signed_in("vera")
    assert vera.get(f"{PATH}/old").json["name"] == "old"
    vera.post(f"{PATH}/old/toggle", headers={"X-CSRF-Token": vera.csrf}, status=403)


def test_legacy_api_can_be_disabled(make_service):
    web = webtest.TestApp(make_service(environ={"DISABLE_LEGACY_FEATURES_API": "true"}).app)
    web.post_json("/api/admin/projects/default/features", {"name": "f"}, headers=ADMIN)
    assert [flag["name"] for flag in web.get(PATH, headers=ADMIN).json["features"]] == ["f"]
    web.get(f"{PATH}/f", headers=ADMIN, status=404)
    web.post_json(PATH, BODY, headers=ADMIN, status=404)
    web.post(f"{PATH}/f/toggle", headers=ADMIN, status=404)
    web.post_json(f"{PATH}/validate", {"name": "g"}, headers=ADMIN)
    web.get(f"{PATH}/f/tags", headers=ADMIN)


def test_an_enabled_flag_is_not_disabled_in_between(web, old):
    strategies = [{"name": "flexibleRollout", "title": "first"}, *BODY["strategies"]]
    new = web.put_json(f"{PATH}/old", BODY | {"strategies": strategies}, headers=ADMIN).json
    ids = [[strategy["id"] for strategy in flag["strategies"]] for flag in (old, new)]
    assert ids[1][:2] == ids[0]
    names = [(strategy["name"], strategy["title"]) for strategy in new["strategies"]]
    assert names == [("flexibleRollout", "first"), ("default", None), ("userWithId", None)]
    body = BODY | {"strategies": [{"name": "default"}]}
    (last,) = web.put_json(f"{PATH}/old", body, headers=ADMIN).json["strategies"]
    assert (last["name"], last["title"], last["id"]) == ("default", None, ids[0][0])
    events = web.get("/api/admin/events/old", headers=ADMIN).json["events"]
    assert "feature-environment-disabled" not in [event["type"] for event in events]
