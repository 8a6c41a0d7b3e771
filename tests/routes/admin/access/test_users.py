"""Users and the user who asks: creation, roles, passwords, the last admin."""

from __future__ import annotations

import argon2
import pytest
import webtest

from sigservice.services.access import passwords
from tests.conftest import ADMIN, Cast
from tests.routes.kit import race_for_statuses

PATH = "/api/admin/user-admin"
ACCOUNTS = "/api/admin/service-account"
GOOD = "New-Horse-Staple-8"


def test_save_without_a_change_is_no_event(admin):
    user = admin.post(PATH, {"username": "eve"}, 201)
    account = admin.post(ACCOUNTS, {"username": "bot"}, 201)
    admin.put(f"{PATH}/{user['id']}", {"username": "eve", "rootRole": "Viewer"})
    admin.put(f"{ACCOUNTS}/{account['id']}", {"name": None})
    assert admin.types(2) == ["user-created", "service-account-created"]


def test_create_list_read_replace_delete(web):
    body = {"username": "bo", "email": "bo@example.com", "rootRole": "Editor", "password": GOOD}
    answer = web.post_json(PATH, body, headers=ADMIN, status=201)
    user = answer.json
    assert (user["username"], user["email"], user["rootRole"]) == ("bo", "bo@example.com", 2)
    assert "password" not in answer.text
    assert "argon2" not in answer.text
    body = web.get(PATH, headers=ADMIN).json
    assert [u["username"] for u in body["users"]] == ["ada", "bo"]
    assert [r["name"] for r in body["rootRoles"]] == ["Admin", "Editor", "Viewer"]
    path = f"{PATH}/{user['id']}"
    changed = web.put_json(path, {"username": "bob", "rootRole": 3}, headers=ADMIN).json
    assert (changed["username"], changed["rootRole"]) == ("bob", 3)
    assert web.get(path, headers=ADMIN).json == changed
    web.delete(path, headers=ADMIN)
    web.get(path, headers=ADMIN, status=404)


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({}, "username"),
        ({"username": "a b"}, "username"),
        ({"username": "a@b"}, "username"),
        ({"email": "x"}, "email"),
        ({"username": "a", "rootRole": "Boss"}, "rootRole"),
        ({"username": "a", "rootRole": 9}, "rootRole"),
        ({"username": "a", "password": "short"}, "password"),
        ({"username": "ADA"}, "username"),
        ({"username": "a\u0000"}, None),
    ],
)
def test_bad_users_are_400(web, body, path):
    answer = web.post_json(PATH, body, headers=ADMIN, status=400)
    assert answer.json["details"][0].get("path") == path


def test_the_password_policy_names_every_failed_rule(web):
    body = {"username": "bo", "password": "aaa"}
    answer = web.post_json(PATH, body, headers=ADMIN, status=400)
    assert answer.json["name"] == "OwaspValidationError"
    assert len(answer.json["details"][0]["validationErrors"]) == 5
    web.post_json(f"{PATH}/validate-password", {"password": GOOD}, headers=ADMIN)
    web.post_json(f"{PATH}/validate-password", {"password": "x" * 200}, headers=ADMIN, status=400)


def test_the_last_admin_stays(web, cast):
    ada = next(u for u in web.get(PATH, headers=ADMIN).json["users"] if u["username"] == "ada")
    path = f"{PATH}/{ada['id']}"
    assert web.delete(path, headers=ADMIN, status=409).json["name"] == "ConflictError"
    web.put_json(path, {"username": "ada", "rootRole": "Viewer"}, headers=ADMIN, status=409)
    web.post_json(PATH, {"username": "eve", "rootRole": "Admin"}, headers=ADMIN)
    web.delete(path, headers=ADMIN)


def test_a_deleted_user_loses_access_immediately(web, cast):
    ed = cast.signed_in("ed")
    user = next(u for u in web.get(PATH, headers=ADMIN).json["users"] if u["username"] == "ed")
    web.delete(f"{PATH}/{user['id']}", headers=ADMIN)
    ed.get("/api/admin/user", status=401)


def test_a_new_role_counts_at_the_next_request(web, cast):
    ed = cast.signed_in("ed")
    ed.get(PATH, status=403)
    id = ed.get("/api/admin/user").json["user"]["id"]
    web.put_json(f"{PATH}/{id}", {"username": "ed", "rootRole": "Admin"}, headers=ADMIN)
    ed.get(PATH)


def test_an_admin_sets_a_password_and_sessions_end(web, cast):
    ed = cast.signed_in("ed")
    id = ed.get("/api/admin/user").json["user"]["id"]
    web.post_json(f"{PATH}/{id}/change-password", {"password": GOOD}, headers=ADMIN)
    ed.get("/api/admin/user", status=401)
    web.post_json("/auth/simple/login", {"username": "ed", "password": GOOD})


def test_changing_the_own_password_keeps_this_session_only(cast):
    here, there = cast.signed_in("ed"), cast.signed_in("ed")
    body = {"oldPassword": Cast.PASSWORD, "password": GOOD, "confirmPassword": GOOD}
    headers = {"X-CSRF-Token": here.csrf}
    path = "/api/admin/user/change-password"
    here.post_json(path, body | {"oldPassword": "x"}, headers=headers, status=401)
    here.post_json(path, body | {"confirmPassword": "x"}, headers=headers, status=400)
    weak = {"password": "weak", "confirmPassword": "weak"}
    here.post_json(path, body | weak, headers=headers, status=400)
    here.post_json(path, body, headers=headers)
    here.get("/api/admin/user")
    there.get("/api/admin/user", status=401)


def test_the_current_user(cast, web):
    ed = cast.signed_in("ed").get("/api/admin/user").json
    assert ed["user"]["username"] == "ed"
    assert ed["permissions"] == [{"permission": "EDIT"}, {"permission": "VIEW"}]
    token = web.get("/api/admin/user", headers=ADMIN).json
    assert (token["user"]["id"], token["user"]["isAPI"], token["csrfToken"]) == (-42, True, None)


def test_the_current_user_has_all_fields(cast, web):
    vera = cast.signed_in("vera")
    me = vera.get("/api/admin/user").json
    assert (me["feedback"], me["splash"], me["user"]["rootRole"]) == ([], {}, 3)
    assert me["user"]["seenAt"]
    profile = vera.get("/api/admin/user/profile").json
    assert (profile["rootRole"]["name"], profile["canChangePassword"]) == ("Viewer", True)
    profile = web.get("/api/admin/user/profile", headers=ADMIN).json
    assert (profile["rootRole"]["id"], profile["canChangePassword"]) == (1, False)
    roles = vera.get("/api/admin/roles").json
    assert roles["version"] == 1
    assert [(r["id"], r["type"], r["name"]) for r in roles["roles"]] == [
        (1, "root", "Admin"),
        (2, "root", "Editor"),
        (3, "root", "Viewer"),
    ]


def test_absent_fields_do_not_change(web):
    body = {"username": "bo", "email": "bo@x", "name": "Bo", "rootRole": 2, "password": GOOD}
    answer = web.post_json(PATH, body, headers=ADMIN, status=201)
    path = answer.headers["Location"]
    user = web.get(path, headers=ADMIN).json
    assert web.put_json(path, {}, headers=ADMIN).json == user
    assert web.put_json(path, {"name": "Bob"}, headers=ADMIN).json == user | {"name": "Bob"}
    bare = user | {"name": None, "username": None}
    assert web.put_json(path, {"name": None, "username": ""}, headers=ADMIN).json == bare
    web.put_json(path, {"email": None}, headers=ADMIN, status=400)
    assert web.get(path, headers=ADMIN).json == bare


def test_users_are_searched_and_counted(cast, web):
    def search(query):
        return [u["username"] for u in web.get(f"{PATH}/search{query}", headers=ADMIN).json]

    assert [search(q) for q in ("?q=ER", "?q=e", "?q=%25%25", "?q=", "")] == [
        ["vera"],
        [],
        [],
        [],
        [],
    ]
    access = web.get(f"{PATH}/access", headers=ADMIN).json
    assert [u["username"] for u in access["users"]] == ["ada", "ed", "vera"]
    count = web.get(f"{PATH}/admin-count", headers=ADMIN).json
    assert count == {"password": 1, "noPassword": 0, "service": 0}
    vera = cast.signed_in("vera")
    for path in ("search?q=ed", "access", "admin-count"):
        vera.get(f"{PATH}/{path}", status=403)


def test_an_old_hash_is_renewed_at_sign_in(web, database):
    login = {"username": "ada", "password": Cast.PASSWORD}
    conn = database.connect()

    def read_hash():
        with conn.cursor() as cursor:
            cursor.execute("SELECT password_hash FROM users")
            return cursor.fetchone()[0]

    old = argon2.PasswordHasher(time_cost=2, memory_cost=64, parallelism=1).hash(Cast.PASSWORD)
    with conn.cursor() as cursor:
        cursor.execute("UPDATE users SET password_hash = %s", [old])
    web.post_json("/auth/simple/login", login | {"password": "x"}, status=401)
    assert read_hash() == old
    web.post_json("/auth/simple/login", login)
    new = read_hash()
    assert "t=1," in new
    web.post_json("/auth/simple/login", login)
    assert read_hash() == new
    conn.close()


def test_a_token_has_no_password_to_change(web):
    body = {"oldPassword": "x", "password": GOOD, "confirmPassword": GOOD}
    web.post_json("/api/admin/user/change-password", body, headers=ADMIN, status=403)


def test_creation_is_limited_to_20_a_minute_and_counts_by_address(web, clock):
    statuses = [
        web.post_json(PATH, {"username": f"u{n}"}, headers=ADMIN, expect_errors=True).status_int
        for n in range(22)
    ]
    assert statuses == [201] * 20 + [429] * 2
    elsewhere = {"REMOTE_ADDR": "10.0.0.9"}
    web.post_json(PATH, {"username": "x"}, headers=ADMIN, extra_environ=elsewhere, status=201)
    forged = ADMIN | {"X-Forwarded-For": "10.0.0.7"}
    web.post_json(PATH, {"username": "y"}, headers=forged, status=429)
    clock.advance(3)
    web.post_json(PATH, {"username": "y"}, headers=ADMIN, status=201)


def test_forbidden_creation_uses_up_no_limit(cast, web):
    vera = cast.signed_in("vera")
    for _ in range(25):
        vera.post_json(PATH, {"username": "x"}, headers={"X-CSRF-Token": vera.csrf}, status=403)
    web.post_json(PATH, {"username": "x"}, headers=ADMIN, status=201)


def test_two_admins_who_delete_each_other_at_once_leave_one(service, web):

    web.post_json(PATH, {"username": "eve", "rootRole": "Admin"}, headers=ADMIN)
    ids = [user["id"] for user in web.get(PATH, headers=ADMIN).json["users"]]

    def ask(racer, n):
        return racer.delete(f"{PATH}/{ids[n]}", headers=ADMIN, expect_errors=True)

    assert race_for_statuses(service, 2, ask) == [200, 409]


def test_sign_in_by_json(web: webtest.TestApp):
    good = {"username": "ada", "password": Cast.PASSWORD}
    for path in ("/auth/simple", "/auth/simple/login"):
        answer = web.post_json(path, good)
        assert answer.json["username"] == "ada"
        assert answer.json["csrfToken"] == web.get("/api/admin/user").json["csrfToken"]
    cookie = answer.headers["Set-Cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    assert "Path=/" in cookie
    assert "Secure" not in cookie


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"username": "ada", "password": "x"}, 401),
        ({"username": "nobody", "password": "x"}, 401),
        ({"username": "ada"}, 400),
        ({}, 400),
        ([], 400),
        ({"username": "x" * 10_000, "password": "y"}, 401),
        ({"username": "ada", "password": "y" * 10_000}, 401),
    ],
)
def test_refused_sign_ins(web, body, status):
    answer = web.post_json("/auth/simple/login", body, status=status)
    assert "Set-Cookie" not in answer.headers
    if status == 401:
        assert answer.json["name"] == "PasswordMismatch"


def test_sign_in_is_limited_to_10_a_minute_over_all_its_paths(web):
    body = {"username": "ada", "password": "x"}
    paths = ["/auth/simple", "/auth/simple/login"]
    answers = [web.post_json(paths[n % 2], body, expect_errors=True) for n in range(11)]
    assert [a.status_int for a in answers] == [401] * 10 + [429]
    assert answers[0].headers["RateLimit-Policy"] == "10;w=60"
    assert answers[10].headers["Retry-After"] == "6"
    assert answers[10].json["name"] == "RateLimitError"


def by_creating(web, ed, id):
    body = {"username": "bo.king", "email": "horse@x", "password": "Bo.King-Staple-7"}
    return web.post_json(PATH, body, headers=ADMIN, status=400)


def by_an_admin(web, ed, id):
    body = {"password": "Horse-Editor-77"}
    return web.post_json(f"{PATH}/{id}/change-password", body, headers=ADMIN, status=400)


def by_link(web, ed, id):
    link = web.post_json(f"{PATH}/reset-password", {"id": id}, headers=ADMIN).json
    token = link["resetPasswordUrl"].partition("?token=")[2]
    body = {"token": token, "password": "Horse-Editor-77"}
    return web.post_json("/auth/reset/password", body, status=400)


def by_the_user(web, ed, id):
    new = "Horse-Editor-77"
    body = {"oldPassword": Cast.PASSWORD, "password": new, "confirmPassword": new}
    headers = {"X-CSRF-Token": ed.csrf}
    path = "/api/admin/user/change-password"
    return ed.post_json(path, body, headers=headers, status=400)


@pytest.mark.parametrize("choose", [by_creating, by_an_admin, by_link, by_the_user])
def test_a_password_with_the_users_name_is_refused(web, cast, choose):
    ed = cast.signed_in("ed")
    id = ed.get("/api/admin/user").json["user"]["id"]
    web.put_json(f"{PATH}/{id}", {"email": "editor@example.com"}, headers=ADMIN)
    (detail,) = choose(web, ed, id).json["details"]
    assert detail["validationErrors"] == [passwords.NAMELESS]


@pytest.mark.parametrize("path", [f"{PATH}/validate-password", "/auth/reset/validate-password"])
def test_a_common_password_is_refused(web, path):
    answer = web.post_json(path, {"password": "Password-123"}, headers=ADMIN, status=400)
    assert answer.json["details"][0]["validationErrors"] == [passwords.UNCOMMON]
