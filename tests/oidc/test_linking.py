"""Users connect the provider, disconnect it, and are disconnected by admins."""

from __future__ import annotations

import contextlib
import threading

import pytest
import webtest

from sigservice.commands import oidc
from tests.conftest import ADMIN, Cast
from tests.oidc.conftest import Site, copy_cookie, find_login, read_code
from tests.repository.kit import run
from tests.services.flags.test_feature_switches import locks_waited_for
from tests.waiting import until

PASSWORD = Cast.PASSWORD
OWN = "/api/admin/user/identities"


def sign_in_by_password(site: Site, login: str = "ada") -> webtest.TestApp:
    web = site.browser()
    web.post_json("/auth/simple", {"username": login, "password": PASSWORD})
    return web


def find_link(web: webtest.TestApp) -> str:
    return web.get("/profile").html.find("a", string="Connect Keycloak")["href"]


def connect(site: Site, web: webtest.TestApp, status: int = 303):
    location = web.get(find_link(web), status=303).headers["Location"]
    return web.get(site.agree(location), status=status)


def list_own(web: webtest.TestApp):
    return web.get(OWN).json["identities"]


def test_admin_connects_on_the_profile_page_and_signs_in_with_the_provider(site):
    web = sign_in_by_password(site)
    session = web.cookies["service-session"]
    location = web.get(find_link(web), status=303).headers["Location"]
    assert "prompt=login" in location
    page = web.get(site.agree(location), status=303).follow()
    assert "Your account is connected." in page.text
    assert page.html.find("a", string="Disconnect")
    assert web.cookies["service-session"] == session
    other = site.browser()
    site.sign_in(other)
    assert find_login(other) == "eva@example.org"  # the verified address was adopted
    assert site.users()["eva@example.org"]["role"] == "Admin"
    profile = other.get("/profile")
    assert "Signed in with Keycloak." in profile.text
    event = site.events("user-identity-linked")[-1]
    assert (event["data"]["how"], event["createdBy"]) == ("profile", "ada")


def test_prompt_of_the_settings_is_overridden(make_site):
    site = make_site(SERVICE_OIDC_AUTHORIZATION_PARAMETERS="prompt=select_account")
    web = sign_in_by_password(site)
    location = web.get(find_link(web), status=303).headers["Location"]
    assert location.count("prompt=") == 1
    assert "prompt=login" in location


def test_link_needs_the_token_of_the_session(site):
    web, other = sign_in_by_password(site), sign_in_by_password(site)
    for address in ("/auth/oidc?link=x", "/auth/oidc?link=", find_link(other)):
        assert read_code(web.get(address, status=403)) == "oidc-link"
    assert read_code(site.browser().get(find_link(web), status=403)) == "oidc-link"


def test_flow_of_one_session_cannot_end_in_another(site):
    web = sign_in_by_password(site)
    location = web.get(find_link(web), status=303).headers["Location"]
    callback = site.agree(location)
    other = Cast(site.service).signed_in("ed")
    copy_cookie(web, other, "service-session-oidc")
    assert read_code(other.get(callback, status=403)) == "oidc-link"
    web.post("/logout", {"csrf": web.get("/api/admin/user").json["csrfToken"]}, status=303)
    callback = site.agree(location)
    assert read_code(web.get(callback, status=403)) == "oidc-link"


def test_identity_of_another_user_is_refused(site):
    site.sign_in()
    page = connect(site, sign_in_by_password(site), 403)
    assert read_code(page) == "oidc-identity-taken"
    assert page.html.find("a", string="Try again")["href"] == "/auth/oidc?next=%2Fprofile"


def test_user_who_is_connected_already_is_refused(site):
    web = sign_in_by_password(site)
    link = find_link(web)
    connect(site, web)
    site.provider.claims["sub"] = site.provider.userinfo["sub"] = "eva-2"
    location = web.get(link, status=303).headers["Location"]
    assert read_code(web.get(site.agree(location), status=403)) == "oidc-account-linked"
    assert len(list_own(web)) == 1


def test_break_glass_user_has_no_link(make_site):
    site = make_site(SERVICE_BREAK_GLASS_USERS="ada")
    web = sign_in_by_password(site)
    assert not web.get("/profile").html.find("a", string="Connect Keycloak")


def test_old_sign_in_at_the_provider_is_refused(site, clock):
    site.provider.claims["auth_time"] = clock.now().timestamp() - 601
    page = connect(site, sign_in_by_password(site), 403)
    assert read_code(page) == "oidc-invalid-token"
    assert "auth_time" in page.text


def test_user_disconnects_with_the_password_and_sessions_of_the_provider_end(site):
    web, other = sign_in_by_password(site), site.browser()
    connect(site, web)
    site.sign_in(other)
    page = web.get("/profile/provider")
    form = next(form for form in page.forms.values() if "identity" in form.fields)
    form["password"] = "wrong"
    assert "The password is wrong." in form.submit(status=401).text
    (event,) = site.events("user-identity-unlink-failed", "pat-creation-failed")
    assert event["type"] == "user-identity-unlink-failed"
    form["password"] = PASSWORD
    page = form.submit(status=303).follow()
    assert "Your account is disconnected." in page.text
    assert list_own(web) == []
    assert find_login(other) is None
    assert find_login(web)
    (event,) = site.events("user-identity-unlinked")
    assert event["data"]["how"] == "profile"


def test_api_lists_and_deletes_own_identities(site):
    web = sign_in_by_password(site)
    connect(site, web)
    (row,) = list_own(web)
    assert (row["issuer"], row["subject"]) == (site.provider.url, "eva-1")
    assert set(row) == {"id", "issuer", "subject", "createdAt", "lastSignInAt"}
    path = f"{OWN}/{row['id']}"
    web.delete(path, status=400)  # no password
    web.delete_json(path, {"password": 5}, status=400)
    web.delete_json(path, [], status=400)
    web.delete_json(path, {"password": "wrong"}, status=401)
    web.delete_json(f"{OWN}/999", {"password": PASSWORD}, status=404)
    web.delete_json(path, {"password": PASSWORD}, status=200)
    assert list_own(web) == []
    connect(site, web)
    web.delete_json(OWN, {"password": PASSWORD}, status=200)
    web.delete_json(OWN, {"password": PASSWORD}, status=404)


def test_fresh_session_of_the_provider_disconnects_without_the_password(site, clock):
    web, other = sign_in_by_password(site), site.browser()
    connect(site, web)
    site.sign_in(other)
    path = f"{OWN}/{list_own(other)[0]['id']}"
    clock.advance(601)
    other.delete(path, status=400)
    fresh = site.browser()
    site.sign_in(fresh)
    fresh.delete(path, status=200)


def test_user_without_a_password_keeps_the_only_way_in(site):
    web = site.browser()
    site.sign_in(web)
    (row,) = list_own(web)
    assert web.delete(f"{OWN}/{row['id']}", status=409).json["name"] == "ConflictError"
    assert not web.get("/profile").html.find("a", string="Disconnect")


def test_token_cannot_disconnect(site):
    web = sign_in_by_password(site)
    connect(site, web)
    web.delete(f"{OWN}/{list_own(web)[0]['id']}", headers=ADMIN, status=403)


def test_admin_disconnects_a_user(site):
    web = site.browser()
    site.sign_in(web)
    id = site.users()["eva@example.org"]["id"]
    path = f"/api/admin/user-admin/{id}/identities"
    (row,) = site.web.get(path, headers=ADMIN).json["identities"]
    assert row["lastSignInAt"]
    site.web.delete(f"{path}/{row['id'] + 1}", headers=ADMIN, status=404)
    site.web.delete(f"{path}/{row['id']}", headers=ADMIN)
    assert find_login(web) is None
    assert site.web.get(path, headers=ADMIN).json == {"identities": []}
    site.web.get("/api/admin/user-admin/999/identities", headers=ADMIN, status=404)


def test_only_admins_see_identities_of_others(site):
    cast = Cast(site.service)
    for name in ("ed", "vera"):
        web = cast.signed_in(name)
        web.get("/api/admin/user-admin/1/identities", status=403)
        web.get(OWN, status=200)


def test_admin_disconnects_a_user_on_the_page(site):
    site.sign_in()
    id = site.users()["eva@example.org"]["id"]
    ada = sign_in_by_password(site)
    rows = ada.get("/admin/users").html.find(id="users").tbody.find_all("tr")
    assert [bool(row.find(class_="tag", string="connected")) for row in rows] == [False, True]
    page = ada.get(f"/admin/users/{id}")
    form = next(f for f in page.forms.values() if f.action.endswith("/identities"))
    page = form.submit("identity", status=303).follow()
    assert "User disconnected." in page.text


def test_command_disconnects_one_user_or_all(site):
    site.sign_in()
    site.provider.claims |= {"sub": "bo", "email": "bo@example.org"}
    site.provider.userinfo["sub"] = "bo"
    site.sign_in()
    assert oidc.unlink("eva@example.org", site.service.context) == 0
    assert [e["data"]["username"] for e in site.events("user-identity-unlinked")] == [
        "eva@example.org"
    ]
    oidc.unlink("", site.service.context)
    assert len(site.events("user-identity-unlinked")) == 2


@pytest.mark.parametrize("path", [OWN, "/api/admin/user-admin/1/identities", "/profile/provider"])
def test_without_an_issuer_there_are_no_routes(web, path):
    web.get(path, headers=ADMIN, status=404)


def test_sign_in_during_the_disconnection_is_refused(site, database):
    site.sign_in()
    web, answers = site.browser(), []
    callback = site.begin(web)
    with (
        contextlib.closing(database.connect()) as other,
        contextlib.closing(database.connect()) as observer,
    ):
        run(other, "BEGIN")
        run(other, "DELETE FROM user_identities")
        ending = threading.Thread(
            target=lambda: answers.append(web.get(callback, status="*").status_int)
        )
        ending.start()
        until(lambda: locks_waited_for(observer), "the sign-in waits for the identity")
        run(other, "COMMIT")
        ending.join()
    assert answers == [403]
    assert find_login(web) is None
