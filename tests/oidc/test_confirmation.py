"""Users without a password sign in with the provider again before they create a personal token."""

from __future__ import annotations

import pytest

from tests.conftest import Cast
from tests.oidc.conftest import Site, copy_cookie, read_code

PATH = "/api/admin/user/tokens"
BODY = {"description": "ci", "expiresAt": "2027-01-01"}


@pytest.fixture
def web(site: Site):
    web = site.browser()
    site.sign_in(web)
    return web


def create(web, status=201, **more):
    csrf = web.get("/api/admin/user").json["csrfToken"]
    headers = {"X-CSRF-Token": csrf}
    return web.post_json(PATH, BODY | more, headers=headers, status=status).json


def test_fresh_session_creates_a_token(web, clock):
    clock.advance(600)
    assert create(web)["secret"].startswith("user:")


def test_older_session_needs_a_confirmation(site, web, clock):
    clock.advance(601)
    error = create(web, 403)
    assert error["name"] == "ConfirmationRequired"
    location = web.get(error["path"], status=303).headers["Location"]
    assert "prompt=login" in location
    answer = web.get(site.agree(location), status=303)
    assert answer.headers["Location"].endswith("/profile/tokens")
    create(web)


def test_page_asks_for_the_confirmation(site, web, clock):
    assert web.get("/profile/tokens").html.find("button", string="Create token")
    clock.advance(601)
    page = web.get("/profile/tokens")
    assert not page.html.find("button", string="Create token")
    location = page.click("Confirm with Keycloak", verbose=False).headers["Location"]
    page = web.get(site.agree(location), status=303).follow()
    assert page.html.find("button", string="Create token")


def test_another_account_of_the_provider_does_not_confirm(site, web, clock):
    clock.advance(601)
    path = create(web, 403)["path"]
    site.provider.claims |= {"sub": "bo", "email": "bo@example.org"}
    site.provider.userinfo["sub"] = "bo"
    location = web.get(path, status=303).headers["Location"]
    assert read_code(web.get(site.agree(location), status=403)) == "oidc-link"
    create(web, 403)


def test_old_sign_in_at_the_provider_does_not_confirm(site, web, clock):
    clock.advance(601)
    path = create(web, 403)["path"]
    site.provider.claims["auth_time"] = clock.now().timestamp() - 700
    location = web.get(path, status=303).headers["Location"]
    assert read_code(web.get(site.agree(location), status=403)) == "oidc-invalid-token"


def test_confirmation_is_of_one_session(site, web, clock):
    clock.advance(601)
    location = web.get(create(web, 403)["path"], status=303).headers["Location"]
    other = site.browser()
    site.sign_in(other)
    copy_cookie(web, other, "service-session-oidc")
    assert read_code(other.get(site.agree(location), status=403)) == "oidc-link"


def test_user_with_a_password_enters_it(site):
    web = Cast(site.service).signed_in("vera")
    create(web, 400)
    create(web, 401, password="wrong")
    create(web, password=Cast.PASSWORD)
