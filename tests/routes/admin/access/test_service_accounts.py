"""Service accounts: created, changed, deleted, authenticated by token and never by password."""

from __future__ import annotations

import pytest

from tests.conftest import ADMIN

PATH = "/api/admin/service-account"
TOKEN = {"description": "ci", "expiresAt": "2999-01-01"}


def create(web, status=201, **values):
    return web.post_json(PATH, {"username": "robot"} | values, headers=ADMIN, status=status).json


def list_accounts(web):
    return web.get(PATH, headers=ADMIN).json["serviceAccounts"]


def test_an_account_acts_by_its_tokens(web):
    robot = create(web, name="Robot", rootRole="Editor")
    assert (robot["isService"], robot["rootRole"], robot["tokens"]) == (True, 2, [])
    path = f"{PATH}/{robot['id']}"
    token = web.post_json(f"{path}/token", TOKEN, headers=ADMIN, status=201).json
    auth = {"Authorization": token["secret"]}
    me = web.get("/api/admin/user", headers=auth).json
    assert (me["user"]["username"], me["user"]["accountType"]) == ("robot", "Service Account")
    web.get(PATH, headers=auth, status=403)
    changed = web.put_json(path, {"rootRole": 1}, headers=ADMIN).json
    assert (changed["name"], changed["username"], changed["rootRole"]) == ("Robot", "robot", 1)
    web.get(PATH, headers=auth)
    visible = {k: v for k, v in token.items() if k != "secret"}
    assert web.get(f"{path}/token", headers=ADMIN).json == {"pats": [visible]}
    assert list_accounts(web) == [changed]
    assert changed["tokens"] == [visible]
    web.delete(f"{path}/token/{token['id']}", headers=ADMIN)
    web.get(PATH, headers=auth, status=401)
    token = web.post_json(f"{path}/token", TOKEN, headers=ADMIN, status=201).json
    web.delete(path, headers=ADMIN)
    web.get(PATH, headers={"Authorization": token["secret"]}, status=401)
    assert list_accounts(web) == []
    log = web.get("/api/admin/events", headers=ADMIN).json["events"]
    assert [event["type"] for event in log[:6]] == [
        "service-account-deleted", "pat-created", "pat-deleted", "service-account-updated",
        "pat-created", "service-account-created",
    ]  # fmt: skip


def test_an_account_has_no_password_and_is_no_last_admin(web):
    robot = create(web, rootRole="Admin")
    for password in ("", "x"):
        login = {"username": "robot", "password": password}
        web.post_json("/auth/simple/login", login, status=401)
    user = f"/api/admin/user-admin/{robot['id']}"
    web.post_json(
        f"{user}/change-password", {"password": "Good-Pass-77"}, headers=ADMIN, status=404
    )
    web.delete(user, headers=ADMIN, status=404)
    users = web.get("/api/admin/user-admin", headers=ADMIN).json["users"]
    assert [u["username"] for u in users] == ["ada"]
    web.delete(f"/api/admin/user-admin/{users[0]['id']}", headers=ADMIN, status=409)
    count = web.get("/api/admin/user-admin/admin-count", headers=ADMIN).json
    assert count == {"password": 1, "noPassword": 0, "service": 1}


@pytest.mark.parametrize(
    ("values", "path"),
    [
        ({"username": None}, "username"),
        ({"username": " "}, "username"),
        ({"username": "a b"}, "username"),
        ({"username": "ADA"}, "username"),
        ({"name": "x" * 201}, "name"),
        ({"rootRole": "Boss"}, "rootRole"),
        ({"rootRole": None}, "rootRole"),
    ],
    ids=str,
)
def test_what_is_refused(web, values, path):
    assert create(web, 400, **values)["details"][0]["path"] == path
    robot = create(web)
    own = f"{PATH}/{robot['id']}"
    answer = web.put_json(own, values, headers=ADMIN, status=400)
    assert answer.json["details"][0]["path"] == path
    assert list_accounts(web) == [robot]


def test_a_user_is_no_service_account(web):
    (ada,) = web.get("/api/admin/user-admin", headers=ADMIN).json["users"]
    for id in (ada["id"], 999_999):
        path = f"{PATH}/{id}"
        web.put_json(path, {"name": "x"}, headers=ADMIN, status=404)
        web.delete(path, headers=ADMIN, status=404)
        web.get(f"{path}/token", headers=ADMIN, status=404)
        web.post_json(f"{path}/token", TOKEN, headers=ADMIN, status=404)
        web.delete(f"{path}/token/1", headers=ADMIN, status=404)
    robot = create(web)
    web.delete(f"{PATH}/{robot['id']}/token/1", headers=ADMIN, status=404)


def test_accounts_are_for_admins(cast):
    web = cast.signed_in("ed")
    headers = {"X-CSRF-Token": web.csrf}
    web.get(PATH, status=403)
    web.post_json(PATH, {"username": "x"}, headers=headers, status=403)
    web.post_json(f"{PATH}/1/token", TOKEN, headers=headers, status=403)
