"""The page of single sign-on: settings, check and trial."""

from __future__ import annotations

import pytest

from tests.conftest import sign_in_by_json
from tests.oidc.conftest import read_code

PAGE = "/admin/sign-in"


def read_rows(page):
    rows = page.html.find("tbody").find_all("tr")
    return {row.find("th").text: row.find("td").text for row in rows}


@pytest.fixture
def admin(site):
    return sign_in_by_json(site.service, "ada")


def test_settings_are_shown_without_the_secret(admin, site):
    page = admin.get(PAGE)
    rows = read_rows(page)
    assert rows["Issuer"] == site.provider.url
    assert rows["Client secret"] == "set"
    assert rows["Redirect URI"] == "http://localhost/auth/oidc/callback"
    assert rows["New users"] == "created as viewer"
    assert "SERVICE_OIDC_ISSUER" in page.text


def test_without_an_issuer_the_page_says_what_to_set(service):
    page = sign_in_by_json(service, "ada").get(PAGE)
    assert "SERVICE_OIDC_ISSUER" in page.text
    assert page.html.find("tbody") is None


def test_check_names_no_problem_of_a_good_provider(admin):
    assert submit_check(admin).html.find(role="status").text == "The provider has no problems."


def test_check_names_the_problems(admin, site):
    site.provider.public_keys.clear()
    assert "no usable key" in submit_check(admin).html.find(role="alert").text


def submit_check(admin):
    page = admin.get(PAGE)
    form = next(form for form in page.forms.values() if form.action.endswith("/check"))
    return form.submit()


def begin_trial(admin, site):
    query = admin.get(PAGE).html.find("a", string="Try sign-in in a new tab")["href"]
    return site.begin(admin, query.removeprefix("/auth/oidc"))


def test_trial_shows_the_user_and_stores_nothing(admin, site):
    before = site.users(), site.events("user-created", "user-identity-linked")
    page = admin.get(begin_trial(admin, site))
    assert "Nothing was saved." in page.text
    assert "eva@example.org" in page.text
    assert (site.users(), site.events("user-created", "user-identity-linked")) == before
    assert admin.get("/api/admin/user").json["user"]["username"] == "ada"


def test_trial_that_would_fail_shows_the_failure(admin, site):
    site.provider.claims["email_verified"] = False
    page = admin.get(begin_trial(admin, site), status=403)
    assert read_code(page) == "oidc-unverified-email"


def test_trial_of_another_session_is_refused(admin, site):
    callback = begin_trial(admin, site)
    admin.post("/logout", status="*")
    assert read_code(admin.get(callback, status=403)) == "oidc-link"
