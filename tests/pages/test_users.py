"""Users and service accounts in a browser."""

from __future__ import annotations

import webtest

from tests.conftest import ADMIN
from tests.pages.page_reader import alert, find_error, form_to, heading, notice, sign_in

PATH = "/admin/users"
ACCOUNTS = "/admin/service-accounts"
GOOD = "New-Horse-Staple-8"


def list_users(web):
    rows = web.get("/api/admin/user-admin", headers=ADMIN).json["users"]
    return {user["username"]: user for user in rows}


def accounts(web):
    return web.get("/api/admin/service-account", headers=ADMIN).json["serviceAccounts"]


def submit(page, path, status=303, **values):
    form = form_to(page, path)
    for name, value in values.items():
        form[name] = value
    return form.submit(status=status)


def test_a_user_is_created_changed_and_deleted(ada, web, service):
    new = f"{PATH}/new"
    values = {"username": "bo", "email": "bo@x", "rootRole": "Editor", "password": GOOD}
    page = submit(ada.get(new), new, **values).follow()
    assert notice(page) == "User created."
    bo = list_users(web)["bo"]
    assert (bo["email"], bo["rootRole"]) == ("bo@x", 2)
    other = webtest.TestApp(service.app)
    sign_in(other, "bo", GOOD)
    path = f"{PATH}/{bo['id']}"
    page = submit(ada.get(path), path, name="Bo B.", email="", rootRole="Viewer").follow()
    assert notice(page) == "User saved."
    after = list_users(web)["bo"]
    assert (after["name"], after["email"], after["rootRole"]) == ("Bo B.", None, 3)
    page = submit(ada.get(path), f"{path}/password", password=GOOD + "x").follow()
    assert "Password set." in notice(page)
    other.get("/profile", status=303)
    sign_in(other, "bo", GOOD + "x")
    page = ada.get(f"{path}/delete")
    assert heading(page) == "Delete user bo?"
    page = submit(page, f"{path}/delete").follow()
    assert notice(page) == "User deleted."
    assert list(list_users(web)) == ["ada"]
    other.get("/profile", status=303)
    ada.get(path, status=404)
    ada.post(f"{path}/password", {"csrf": ada.csrf, "password": GOOD}, status=404)


def test_problems_of_a_user_form_are_reported_and_values_kept(ada, web):
    new = f"{PATH}/new"
    page = submit(ada.get(new), new, 400, username="a b", email="x", name="Ann", password=GOOD)
    assert find_error(page, "username")
    assert find_error(page, "email")
    assert form_to(page, new)["name"].value == "Ann"
    assert GOOD not in page.text
    page = submit(ada.get(new), new, 400, username="ann", password="aaa")
    assert find_error(page, "password").count("The password must") == 5
    page = submit(ada.get(new), new, 400, username="ADA", password=GOOD)
    assert "already exists" in find_error(page, "username")
    assert list(list_users(web)) == ["ada"]
    path = f"{PATH}/{list_users(web)['ada']['id']}"
    page = submit(ada.get(path), f"{path}/password", 400, password="x")
    assert find_error(page, "password")
    assert notice(submit(page, path, name="Ada").follow()) == "User saved."
    assert ada.get(f"{path}/password", status=303).location.endswith(path)


def test_the_last_admin_stays(ada, web):
    id = list_users(web)["ada"]["id"]
    path = f"{PATH}/{id}"
    page = submit(ada.get(path), path, 409, rootRole="Viewer")
    assert "last admin" in alert(page)
    page = submit(ada.get(f"{path}/delete"), f"{path}/delete", 409)
    assert "last admin" in alert(page)
    assert list_users(web)["ada"]["rootRole"] == 1


def test_admin_who_sets_the_own_password_stays_signed_in(ada, web):
    path = f"{PATH}/{list_users(web)['ada']['id']}"
    submit(ada.get(path), f"{path}/password", password=GOOD).follow(status=200)


def test_a_service_account_is_created_with_a_token_and_deleted(ada, web):
    new = f"{ACCOUNTS}/new"
    page = submit(ada.get(new), new, username="robot", rootRole="Editor").follow()
    assert "Create a token" in notice(page)
    (robot,) = accounts(web)
    path = f"{ACCOUNTS}/{robot['id']}"
    tokens = f"{path}/tokens"
    page = submit(page, tokens, description="ci", expiresAt="2999-01-01").follow()
    auth = {"Authorization": page.html.find(id="secret")["value"]}
    me = web.get("/api/admin/user", headers=auth).json
    assert (me["user"]["username"], me["user"]["rootRole"]) == ("robot", 2)
    assert auth["Authorization"] not in ada.get(path).text
    assert "1 token" in ada.get(ACCOUNTS).html.find(id="service-accounts").get_text()
    page = submit(ada.get(path), path, name="Robot").follow()
    assert accounts(web)[0]["name"] == "Robot"
    gone = f"{tokens}/{accounts(web)[0]['tokens'][0]['id']}/delete"
    page = submit(ada.get(gone), gone).follow()
    assert "no longer valid" in notice(page)
    web.get("/api/admin/user", headers=auth, status=401)
    page = submit(ada.get(f"{path}/delete"), f"{path}/delete").follow()
    assert notice(page) == "Service account deleted."
    assert accounts(web) == []
    for address in (path, f"{path}/delete", gone):
        ada.get(address, status=404)
    ada.post(tokens, {"csrf": ada.csrf, "description": "x", "expiresAt": "2999-01-01"}, status=404)


def test_the_deletion_of_a_service_account_names_its_action_sets(ada, sets):
    path = f"{ACCOUNTS}/{sets.account}/delete"
    assert "action sets" not in ada.get(path).html.main.get_text()
    id = sets.set("kill checkout")
    link = ada.get(path).html.main.find("a", string="kill checkout")
    assert link["href"] == f"/admin/projects/default/actions/{id}"


def test_problems_of_a_service_account_form_are_reported_and_values_kept(ada, web):
    new = f"{ACCOUNTS}/new"
    page = submit(ada.get(new), new, 400, username="ada", name="Ann")
    assert "already exists" in find_error(page, "username")
    assert form_to(page, new)["name"].value == "Ann"
    page = submit(ada.get(new), new, username="robot").follow()
    (robot,) = accounts(web)
    path = f"{ACCOUNTS}/{robot['id']}"
    assert find_error(submit(page, path, 400, username=""), "username")
    error_page = submit(page, f"{path}/tokens", 400, description="", expiresAt="2001-01-01")
    assert find_error(error_page, "description")
    assert "future" in find_error(error_page, "expiresAt")
    assert notice(submit(error_page, path, name="Rob").follow()) == "Service account saved."
    for status in (303, 409):
        values = {"description": "ci", "expiresAt": "2999-01-01"}
        answer = submit(page, f"{path}/tokens", status, **values)
    assert find_error(answer, "description")
    assert ada.get(f"{path}/tokens", status=303).location.endswith(f"{path}#tokens")
    assert accounts(web)[0]["username"] == "robot"
