"""All flags and one flag of the frontend API, and the same under the paths of the proxy."""

from __future__ import annotations

import pytest

from tests.routes.kit import Admin
from tests.routes.sdk import AUTHENTICATION, FRONTEND

ORIGIN = {"Origin": "https://shop.example"}
BASES = pytest.mark.parametrize("base", ["/api/frontend", "/api/proxy"])


@pytest.fixture
def admin(make_service):
    """The flags `all`, `user` (7 only) and `none`, and `elsewhere` of the project `web`, which is
    enabled in production."""
    admin = Admin(make_service({"authentication": AUTHENTICATION}))
    admin.post("/api/admin/projects", {"id": "web", "name": "Web"}, 201)
    for name in ("all", "user"):
        rule = {"contextName": "userId", "operator": "IN", "values": ["7"]}
        path = admin.flag(name)
        admin.strategy(name, constraints=[rule] if name == "user" else [])
        admin.post(f"{path}/environments/development/on")
    admin.flag("none")
    features = "/api/admin/projects/web/features"
    admin.post(features, {"name": "elsewhere", "impressionData": True}, 201)
    admin.post(f"{features}/elsewhere/environments/production/on")
    return admin


def ask_both_ways(admin, path, headers=FRONTEND):
    """The answers for user 7 to a GET and a POST request."""
    body = {"context": {"userId": "7"}}
    return [
        admin.web.get(f"{path}?userId=7", headers=headers, status=200),
        admin.web.post_json(path, body, headers=headers, status=200),
    ]


@pytest.fixture
def scoped(admin):
    """The headers of a frontend token of the project `web`."""
    body = {"tokenName": "web", "type": "frontend", "environment": "development"}
    body |= {"projects": ["web"]}
    return {"Authorization": admin.post("/api/admin/api-tokens", body, 201)["secret"]}


@BASES
def test_all_flags_with_disabled_ones(admin, scoped, base):
    for answer in ask_both_ways(admin, f"{base}/all"):
        toggles = {toggle["name"]: toggle for toggle in answer.json["toggles"]}
        assert len(answer.json["toggles"]) == len(toggles) == 4
        assert {name for name, toggle in toggles.items() if toggle["enabled"]} == {"all", "user"}
        off = {"name": "disabled", "enabled": False, "feature_enabled": False}
        off |= {"featureEnabled": False}
        expected = {"name": "elsewhere", "enabled": False, "impressionData": True, "variant": off}
        assert toggles["elsewhere"] == expected
    answer = admin.web.get(f"{base}/all", headers=scoped)
    assert [toggle["name"] for toggle in answer.json["toggles"]] == ["elsewhere"]


@BASES
def test_one_flag_by_name(admin, scoped, base):
    answer = admin.web.get(f"{base}?userId=7", headers=FRONTEND)
    enabled = {toggle["name"]: toggle for toggle in answer.json["toggles"]}
    for name in ("all", "user", "none"):
        for answer in ask_both_ways(admin, f"{base}/features/{name}"):
            assert (answer.json["name"], answer.json["enabled"]) == (name, name in enabled)
            assert name == "none" or answer.json == enabled[name]
    path = f"{base}/features/all"
    etag = admin.web.get(path, headers=FRONTEND).headers["ETag"]
    admin.web.get(path, headers=FRONTEND | {"If-None-Match": etag}, status=304)
    admin.web.get(f"{base}/features/nothing", headers=FRONTEND, status=404)
    admin.web.get(path, headers=scoped, status=404)


def test_the_paths_of_the_proxy_are_names_of_the_frontend_api(admin):
    for theirs, ours in zip(
        ask_both_ways(admin, "/api/proxy", FRONTEND | ORIGIN),
        ask_both_ways(admin, "/api/frontend", FRONTEND | ORIGIN),
        strict=True,
    ):
        assert theirs.json == ours.json
        for name in ("ETag", "Access-Control-Allow-Origin", "Access-Control-Expose-Headers"):
            assert theirs.headers[name] == ours.headers[name]
    preflight = ORIGIN | {"Access-Control-Request-Method": "GET"}
    path = "/api/proxy/client/metrics"
    admin.web.request(path, method="OPTIONS", headers=preflight, status=204)


def test_a_setting_turns_the_paths_of_the_proxy_off(make_service):
    options = {"authentication": AUTHENTICATION}
    admin = Admin(make_service(options, {"SERVICE_PROXY_PATHS": "false"}))
    admin.flag("demo")
    for path in ("", "/all", "/features/demo"):
        admin.web.get(f"/api/proxy{path}", headers=FRONTEND, status=404)
        admin.web.get(f"/api/frontend{path}", headers=FRONTEND, status=200)
    for path in ("metrics", "register"):
        body = {"appName": "a"}
        admin.web.post_json(f"/api/proxy/client/{path}", body, headers=FRONTEND, status=404)


def test_a_parent_in_another_project_still_counts(admin, scoped):
    """The scope of a token limits the response, not the evaluation."""
    path = "/api/admin/projects/web/features/elsewhere"
    admin.post(f"{path}/environments/development/on")
    admin.post("/api/admin/projects/web/features", {"name": "parent"}, 201)
    admin.post(f"{path}/dependencies", {"feature": "parent"})

    def list_enabled():
        answer = admin.web.get("/api/frontend", headers=scoped)
        return [toggle["name"] for toggle in answer.json["toggles"]]

    assert list_enabled() == []
    admin.post("/api/admin/projects/web/features/parent/environments/development/on")
    assert sorted(list_enabled()) == ["elsewhere", "parent"]
