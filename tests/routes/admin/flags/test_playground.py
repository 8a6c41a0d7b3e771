"""POST /api/admin/playground: format, contexts, the frontend API, invalid input."""

from __future__ import annotations

import pytest

from sigservice.routes.admin.flags import playground
from tests.conftest import ADMIN, ADMIN_TOKEN
from tests.delivery.kit import constraint, rollout, variant

PATH = "/api/admin/playground"
FRONTEND = {"Authorization": "*:development.frontend"}
FLAGS = "/api/admin/projects/{}/features"


@pytest.fixture
def service(make_service):
    tokens = (("admin", ADMIN_TOKEN, "*"), ("frontend", FRONTEND["Authorization"], "development"))
    item = [
        {"type": type, "secret": secret, "environment": environment, "project": "*"}
        for type, secret, environment in tokens
    ]
    return make_service({"authentication": {"initApiTokens": item}})


def add(web, name, *strategies, project="default", on=True):
    """Creates a flag in development with these strategies. Returns their IDs."""
    path = FLAGS.format(project)
    web.post_json(path, {"name": name}, headers=ADMIN, status=201)
    path += f"/{name}/environments/development"
    item = [web.post_json(f"{path}/strategies", it, headers=ADMIN).json for it in strategies]
    if on:
        web.post(f"{path}/on", headers=ADMIN)
    return [it["id"] for it in item]


def ask(web, projects="*", environment="development", headers=ADMIN, **context):
    body = {"environment": environment, "projects": projects, "context": context}
    return web.post_json(PATH, body, headers=headers)


def explained(web, name, **context):
    (result,) = [it for it in ask(web, **context).json["features"] if it["name"] == name]
    return result


def test_everything_about_a_flag(web):
    payload = {"type": "string", "value": "#00f"}
    blue = variant("blue", 1000, payload=payload)
    segment = web.post_json(
        "/api/admin/segments",
        {"name": "eu", "constraints": [constraint("region", "IN", "eu")]},
        headers=ADMIN,
    ).json["id"]
    query = constraint("userId", "IN", "7")
    strategy = rollout(
        100, "userId", title="Ours", constraints=[query], segments=[segment], variants=[blue]
    )
    first, second = add(web, "demo", strategy, {"name": "default", "disabled": True})
    add(web, "child", {"name": "default"})
    parent = {"feature": "demo", "enabled": True, "variants": ["green"]}
    web.post_json(f"{FLAGS.format('default')}/child/dependencies", parent, headers=ADMIN)
    answer = ask(web, userId=7, region="eu").json
    assert answer["input"] == {
        "environment": "development",
        "projects": "*",
        "context": {"userId": 7, "region": "eu"},
    }
    child, demo = answer["features"]
    at = "/admin/features/demo/environments/development/strategies"
    variants = demo.pop("variants")
    assert [it["name"] for it in variants] == ["blue"]
    assert demo == {
        "name": "demo",
        "projectId": "default",
        "isEnabled": True,
        "isEnabledInCurrentEnvironment": True,
        "hasUnsatisfiedDependency": False,
        "dependencies": [],
        "byLot": False,
        "strategies": {
            "result": True,
            "data": [
                {
                    "name": "flexibleRollout",
                    "id": first,
                    "title": "Ours",
                    "disabled": False,
                    "parameters": strategy["parameters"],
                    "links": {"edit": f"{at}/{first}"},
                    "result": {"enabled": True, "evaluationStatus": "complete", "byLot": False},
                    "constraints": [query | {"result": True}],
                    "segments": [
                        {
                            "id": segment,
                            "name": "eu",
                            "result": True,
                            "constraints": [constraint("region", "IN", "eu") | {"result": True}],
                        }
                    ],
                },
                {
                    "name": "default",
                    "id": second,
                    "title": None,
                    "disabled": True,
                    "parameters": {},
                    "links": {"edit": f"{at}/{second}"},
                    "result": {
                        "enabled": "unknown",
                        "evaluationStatus": "unevaluated",
                        "byLot": False,
                    },
                    "constraints": [],
                    "segments": [],
                },
            ],
        },
        "variant": {
            "name": "blue",
            "payload": payload,
            "enabled": True,
            "feature_enabled": True,
            "featureEnabled": True,
        },
    }
    assert (child["isEnabled"], child["hasUnsatisfiedDependency"]) == (False, True)
    assert child["dependencies"] == [parent | {"satisfied": False}]
    assert child["variant"] == {"name": "disabled", "enabled": False, "feature_enabled": False}
    demo = explained(web, "demo", userId=8, region="us")
    (strategy, _) = demo["strategies"]["data"]
    assert strategy["result"]["enabled"] is False
    assert [it["result"] for it in strategy["constraints"]] == [False]
    assert [it["result"] for it in strategy["segments"]] == [False]


def test_custom_strategy_is_incomplete(web):
    web.post_json("/api/admin/strategies", {"name": "mine", "parameters": []}, headers=ADMIN)
    add(web, "demo", {"name": "mine", "constraints": [constraint("userId", "IN", "7")]})
    for id, expected in (("7", "unknown"), ("8", False)):
        result = explained(web, "demo", userId=id)
        (strategy,) = result["strategies"]["data"]
        assert strategy["result"] == {
            "enabled": expected,
            "evaluationStatus": "incomplete",
            "byLot": False,
        }
        assert (result["strategies"]["result"], result["isEnabled"]) == (expected, False)


def test_projects_and_environments(web, cast):
    for id in ("shop", "web"):
        web.post_json("/api/admin/projects", {"id": id, "name": id}, headers=ADMIN)
        add(web, id, project=id)
    add(web, "archived")
    web.delete(f"{FLAGS.format('default')}/archived", headers=ADMIN)

    def names(*fields, **more):
        return [it["name"] for it in ask(web, *fields, **more).json["features"]]

    assert names() == names(["*"]) == ["shop", "web"]
    assert names(["shop"]) == ["shop"]
    assert names(["shop", "web"]) == ["shop", "web"]
    assert names(["default"]) == names([]) == []
    (shop,) = ask(web, ["shop"], "production").json["features"]
    assert (shop["isEnabled"], shop["isEnabledInCurrentEnvironment"]) == (False, False)
    vera = cast.signed_in("vera")
    assert ask(vera, headers={"X-CSRF-Token": vera.csrf}).status_int == 200


def test_playground_agrees_with_the_frontend_api(web):
    add(web, "everyone")
    for field, value in (("userId", "7"), ("remoteAddress", "10.0.0.1"), ("plan", "pro")):
        add(web, field, {"name": "default", "constraints": [constraint(field, "IN", value)]})
    add(web, "half", rollout(50, "userId"), {"name": "userWithId", "parameters": {"userIds": "9"}})
    add(web, "addresses", {"name": "remoteAddress", "parameters": {"IPs": "10.0.0.1"}})
    later = constraint("currentTime", "DATE_AFTER", value="2100-01-01T00:00:00Z")
    add(web, "later", {"name": "default", "constraints": [later]})
    add(web, "off", on=False)
    for fields in (
        {"userId": "7", "remoteAddress": "10.0.0.1"},
        {"userId": "9", "properties": {"plan": "pro"}},
        {"userId": 3, "plan": "pro", "currentTime": "2100-02-01", "appName": "shop"},
    ):
        answer = web.post_json("/api/frontend", {"context": fields}, headers=FRONTEND)
        on = [it["name"] for it in ask(web, **fields).json["features"] if it["isEnabled"]]
        assert on == [toggle["name"] for toggle in answer.json["toggles"]]
        assert "everyone" in on


def test_absent_context_fields_stay_absent(web):
    """The address of the caller says nothing about the user."""
    add(web, "local", {"name": "remoteAddress", "parameters": {"IPs": "127.0.0.1"}})
    assert not explained(web, "local")["isEnabled"]
    assert explained(web, "local", remoteAddress="127.0.0.1")["isEnabled"]


def test_too_many_flags_are_rejected(web, monkeypatch):
    monkeypatch.setattr(playground, "MAX_FLAGS", 1)
    add(web, "a", on=False)
    assert len(ask(web).json["features"]) == 1
    add(web, "b", on=False)
    body = {"environment": "development", "projects": "*", "context": {}}
    answer = web.post_json(PATH, body, headers=ADMIN, status=400)
    assert "these projects have 2" in answer.json["message"]
    assert answer.json["details"][0]["path"] == "projects"


@pytest.mark.parametrize(
    ("invalid", "path"),
    [
        ({"environment": "nowhere"}, "environment"),
        ({"environment": None}, "environment"),
        ({"environment": "{0}\x01"}, "environment"),
        ({"projects": ["default", "none"]}, "projects[1]"),
        ({"projects": "default"}, "projects"),
        ({"projects": [3]}, "projects[0]"),
        ({"projects": None}, "projects"),
        ({"context": []}, "context"),
        ({"context": {"userId": []}}, "context.userId"),
        ({"context": {"properties": "x"}}, "context.properties"),
        ({"context": {"properties": {"a": {}}}}, "context.properties.a"),
        ({"context": {"currentTime": "soon"}}, "context.currentTime"),
    ],
)
def test_bad_input_names_the_path(web, invalid, path):
    body = {"environment": "development", "projects": "*", "context": {}} | invalid
    answer = web.post_json(PATH, body, headers=ADMIN, status=400)
    assert answer.json["details"][0]["path"] == path
