"""The admin API of projects and their environments."""

from __future__ import annotations

import pytest

from tests.conftest import ADMIN

PATH = "/api/admin/projects"
THREE = [{"environment": name} for name in ("production", "development", "default")]


def create(web, status=201, **body):
    return web.post_json(PATH, {"name": "Web shop", **body}, headers=ADMIN, status=status)


def read(web, id, **more):
    return web.get(f"{PATH}/{id}", headers=ADMIN, **more).json


def newest(web, count=1):
    return web.get("/api/admin/events", {"limit": count}, headers=ADMIN).json["events"]


@pytest.fixture
def flag(rows):
    """`flag(name, project)` adds a flag that is enabled in production with a strategy."""

    def add(name, project, archived=False, type="release"):
        rows(
            "INSERT INTO features (name, project, type, created_by, archived_at) "
            "VALUES (%s, %s, %s, 'ada', CASE WHEN %s THEN now() END)",
            name,
            project,
            type,
            archived,
        )
        rows(
            "INSERT INTO feature_environments (feature, environment, enabled) "
            "VALUES (%s, 'production', true)",
            name,
        )
        rows(
            "INSERT INTO feature_strategies (id, feature, environment, name, sort_order) "
            "VALUES (%s, %s, 'production', 'default', 1)",
            name,
            name,
        )

    return add


def test_a_new_installation_has_one_project(web):
    answer = web.get(PATH, headers=ADMIN).json
    (project,) = answer["projects"]
    assert answer["version"] == 1
    assert project.pop("createdAt") == project.pop("updatedAt")
    assert project == {
        "id": "default",
        "name": "Default",
        "description": "Default project",
        "mode": "open",
        "defaultStickiness": "default",
        "health": 100,
        "technicalDebt": 0,
        "featureCount": 0,
        "staleFeatureCount": 0,
        "memberCount": 1,
        "archivedAt": None,
        "favorite": False,
        "owners": [{"ownerType": "system"}],
    }


def test_a_project_is_created_with_all_members(web):
    body = {
        "id": "Shop_1",
        "name": " Shop ",
        "description": " sells ",
        "mode": "private",
        "defaultStickiness": "userId",
        "environments": ["production"],
    }
    answer = create(web, **body)
    assert answer.headers["Location"] == f"{PATH}/Shop_1"
    created = answer.json
    assert created == read(web, "Shop_1")
    expected = body | {"name": "Shop", "description": "sells"}
    assert created | expected | {"environments": THREE[:1]} == created
    (event,) = newest(web)
    assert (event["type"], event["project"]) == ("project-created", "Shop_1")
    assert event["data"] == expected
    assert [row["id"] for row in web.get(PATH, headers=ADMIN).json["projects"]] == [
        "default",
        "Shop_1",
    ]


def test_id_and_environments_have_defaults(web):
    web.post("/api/admin/environments/development/off", headers=ADMIN)
    assert create(web).json["id"] == "web-shop"
    assert create(web, name="Wéb  Shop!").json["id"] == "w-b-shop"
    assert create(web).json["id"] == "web-shop-2"
    assert create(web, id="", name="日本").json["id"] == "project"
    assert read(web, "web-shop")["environments"] == [THREE[0], THREE[2]]
    assert create(web, id="bare", environments=[]).json["environments"] == []


BAD = (
    ({"name": " "}, ["name"]),
    ({"name": "x" * 201, "mode": "closed"}, ["name", "mode"]),
    ({"description": "x" * 1001}, ["description"]),
    ({"defaultStickiness": ""}, ["defaultStickiness"]),
    ({"id": "a b"}, ["id"]),
    ({"id": "x" * 101}, ["id"]),
    ({"id": ".."}, ["id"]),
    ({"environments": ["nowhere"]}, ["environments"]),
)


def test_invalid_bodies_are_rejected(web):
    for body, paths in BAD:
        answer = create(web, status=400, **body)
        assert [detail["path"] for detail in answer.json["details"]] == paths, body
        assert len(web.get(PATH, headers=ADMIN).json["projects"]) == 1


def test_ids_are_unique_and_can_be_validated(web):
    assert create(web, id="default", status=409).json["name"] == "NameExistsError"
    for id, status in (("default", 409), ("new", 200), ("a b", 400), ("", 400)):
        web.post_json(f"{PATH}/validate", {"id": id}, headers=ADMIN, status=status)


def test_there_are_at_most_500_projects(web, rows):
    rows("INSERT INTO projects (id, name) SELECT n::text, n::text FROM generate_series(2, 500) n")
    assert create(web, status=400).json["name"] == "ExceedsLimitError"


def test_the_overview_counts_types_of_flags(web, flag):
    for name, type in (("a", "release"), ("b", "release"), ("c", "kill-switch")):
        flag(name, "default", type=type)
    flag("gone", "default", archived=True)
    overview = web.get(f"{PATH}/default/overview", headers=ADMIN).json
    assert overview["featureTypeCounts"] == [
        {"type": "kill-switch", "count": 1},
        {"type": "release", "count": 2},
    ]
    assert (overview["version"], overview["name"], overview["members"]) == (1, "Default", 1)
    assert overview["environments"] == THREE
    assert set(overview["stats"].values()) == {0}
    assert read(web, "default")["featureCount"] == 3
    web.get(f"{PATH}/nowhere/overview", headers=ADMIN, status=404)


def test_an_update_keeps_absent_members(web):
    create(web, id="shop", description="old", mode="private", defaultStickiness="random")
    path = f"{PATH}/shop"
    changed = web.put_json(path, {"name": "New"}, headers=ADMIN).json
    assert changed == read(web, "shop")
    expected = ("New", "old", "private", "random")
    names = ("name", "description", "mode", "defaultStickiness")
    assert tuple(changed[name] for name in names) == expected
    event = newest(web)[0]
    assert (event["preData"]["name"], event["data"]["name"]) == ("Web shop", "New")
    web.put_json(path, {"name": "New"}, headers=ADMIN)
    assert newest(web)[0]["id"] == event["id"]
    body = {"name": "New", "description": None, "mode": "open", "defaultStickiness": "default"}
    assert web.put_json(path, body, headers=ADMIN).json["description"] is None
    for body in ({}, {"name": ""}, {"name": "x", "mode": "?"}, {"name": "x", "description": 1}):
        web.put_json(path, body, headers=ADMIN, status=400)
    web.put_json(f"{PATH}/nowhere", {"name": "x"}, headers=ADMIN, status=404)


def test_deletion_includes_archived_flags(web, rows, flag):
    create(web, id="shop")
    flag("old", "shop", archived=True)
    web.delete(f"{PATH}/shop", headers=ADMIN, status=200)
    assert [event["type"] for event in newest(web, 2)] == ["project-deleted", "feature-deleted"]
    assert newest(web, 2)[1]["featureName"] == "old"
    assert rows("SELECT 1 FROM features UNION SELECT 2 FROM feature_strategies") == []
    web.delete(f"{PATH}/shop", headers=ADMIN, status=404)


def test_a_project_in_use_cannot_be_deleted(web, rows, flag):
    answer = web.delete(f"{PATH}/default", headers=ADMIN, status=403)
    assert answer.json["name"] == "OperationDeniedError"
    create(web, id="shop")
    flag("new", "shop")
    web.delete(f"{PATH}/shop", headers=ADMIN, status=409)
    rows("UPDATE features SET archived_at = now()")
    rows("INSERT INTO segments (name, project, created_by) VALUES ('Beta', 'shop', 'ada')")
    answer = web.delete(f"{PATH}/shop", headers=ADMIN, status=409)
    assert "Beta" in answer.json["message"]
    assert rows("SELECT name FROM features") == [("new",)]
    rows("DELETE FROM segments")
    flag("child", "default")
    rows("INSERT INTO feature_dependencies (child, parent) VALUES ('child', 'new')")
    web.delete(f"{PATH}/shop", headers=ADMIN, status=409)


def test_environments_are_added_and_removed(web, rows, flag, service):
    cache = service.context.revision_cache
    create(web, id="shop", environments=[])
    path = f"{PATH}/shop/environments"
    web.post_json(path, {"environment": "production"}, headers=ADMIN, status=200)
    # Ahead of the clock each change counts one.
    for comparison in ("=", "<>"):  # a trigger gives these the numbers of ''
        rows(f"UPDATE revisions SET id = id + 1000000000000 WHERE topic {comparison} ''")
    before = cache.read_revisions()
    assert read(web, "shop")["environments"] == THREE[:1]
    flag("mine", "shop")
    flag("theirs", "default")
    web.post_json(path, {"environment": "production"}, headers=ADMIN, status=409)
    for _ in range(2):
        web.delete(f"{path}/production", headers=ADMIN, status=200)
    assert rows("SELECT feature FROM feature_environments") == [("theirs",)]
    assert rows("SELECT count(*) FROM feature_strategies") == [(2,)]
    assert (
        cache.read_revisions().of_environment("production")
        == before.of_environment("production") + 1
    )
    switched, removed, added = newest(web, 3)
    assert (switched["type"], switched["featureName"], switched["environment"]) == (
        "feature-environment-disabled",
        "mine",
        "production",
    )
    assert switched["data"]["reason"] == "the project no longer uses production"
    assert (removed["type"], added["type"]) == (
        "project-environment-removed",
        "project-environment-added",
    )
    assert (added["project"], added["environment"]) == ("shop", "production")


def test_invalid_environments_are_rejected(web):
    path = f"{PATH}/default/environments"
    for body in ({"environment": "nowhere"}, {}, {"environment": 5}):
        web.post_json(path, body, headers=ADMIN, status=400)
    nowhere = f"{PATH}/nowhere/environments"
    web.post_json(nowhere, {"environment": "production"}, headers=ADMIN, status=404)
    web.delete(f"{nowhere}/production", headers=ADMIN, status=404)
    web.delete(f"{path}/nowhere", headers=ADMIN, status=200)


def test_the_default_strategy_is_stored_and_validated(web):
    path = f"{PATH}/default/environments/production/default-strategy"
    body = {"name": "flexibleRollout", "parameters": {"rollout": 50, "stickiness": "userId"}}
    strategy = web.post_json(path, body, headers=ADMIN).json
    assert strategy["parameters"] == {"rollout": "50", "stickiness": "userId"}
    assert read(web, "default")["environments"][0]["defaultStrategy"] == strategy
    rows = web.get("/api/admin/environments/project/default", headers=ADMIN).json["environments"]
    assert rows[0]["defaultStrategy"] == strategy
    web.post_json(path, {"name": "default"}, headers=ADMIN)
    event = newest(web)[0]
    assert (event["type"], event["environment"]) == ("default-strategy-updated", "production")
    assert event["preData"] == strategy
    web.post_json(PATH, {"id": "other", "name": "Other"}, headers=ADMIN)
    foreign = {"name": "theirs", "project": "other", "constraints": []}
    segment = web.post_json("/api/admin/segments", foreign, headers=ADMIN).json["id"]
    bad = ({}, {"name": "nothing"}, body | {"parameters": []}, body | {"segments": ["x"]})
    for invalid in (*bad, body | {"constraints": {}}, body | {"segments": [segment]}):
        web.post_json(path, invalid, headers=ADMIN, status=400)
    web.post_json(path.replace("production", "nowhere"), body, headers=ADMIN, status=404)
    web.post_json(path.replace("/default/", "/nowhere/", 1), body, headers=ADMIN, status=404)


def test_editors_update_projects_and_viewers_read(cast):
    ed, vera = cast.signed_in("ed"), cast.signed_in("vera")
    for user, status in ((ed, 200), (vera, 403)):
        csrf = {"X-CSRF-Token": user.csrf}
        user.get(f"{PATH}/default/overview", status=200)
        user.put_json(f"{PATH}/default", {"name": "D"}, headers=csrf, status=status)
        links = f"{PATH}/default/environments"
        user.delete(f"{links}/development", headers=csrf, status=status)
        user.post_json(links, {"environment": "development"}, headers=csrf, status=status)
        user.post_json(PATH, {"name": "x"}, headers=csrf, status=403)
        user.delete(f"{PATH}/default", headers=csrf, status=403)


def test_tokens_lose_access_to_a_deleted_project(web):
    web.post_json("/api/admin/projects", {"name": "Shop", "id": "shop"}, headers=ADMIN)
    body = {"tokenName": "t", "type": "client", "environment": "development"}
    single, double = (
        web.post_json("/api/admin/api-tokens", body | {"projects": names}, headers=ADMIN).json
        for names in (["shop"], ["shop", "default"])
    )
    web.delete("/api/admin/projects/shop", headers=ADMIN)
    web.get("/api/client/features", headers={"Authorization": single["secret"]}, status=401)
    answer = web.get("/api/client/features", headers={"Authorization": double["secret"]})
    assert answer.json["query"]["project"] == ["default"]
    (token,) = [
        token
        for token in web.get("/api/admin/api-tokens", headers=ADMIN).json["tokens"]
        if token["id"] == double["id"]
    ]
    assert token["projects"] == ["default"]
