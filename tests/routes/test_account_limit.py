"""Wrong passwords by account: guessing is slowed down, the owner gets in all the same."""

from __future__ import annotations

from itertools import count

import pytest
import webtest

from tests.conftest import ADMIN, Cast
from tests.pages.page_reader import form_to, sign_in

HOME = {"REMOTE_ADDR": "192.0.2.1"}
_numbers = count(1)


def elsewhere():
    """An address that nobody has used yet."""
    n = next(_numbers)
    return {"REMOTE_ADDR": f"198.51.{n // 250}.{n % 250 + 1}"}


def attempt(web, name="ada", password="wrong", place=None):
    body = {"username": name, "password": password}
    environ = place or elsewhere()
    return web.post_json("/auth/simple", body, extra_environ=environ, expect_errors=True)


def guess(web, name="ada", times=10):
    return [attempt(web, name).status_int for _ in range(times)]


@pytest.fixture
def other_browser(service):
    """A browser without a session."""
    return webtest.TestApp(service.app)


@pytest.mark.parametrize("name", ["ada", "nobody", "ada@example.org"])
def test_after_ten_wrong_passwords_an_account_is_429_from_everywhere(web, name):
    assert guess(web, name) == [401] * 10
    refused = attempt(web, name)
    assert refused.status_int == 429
    assert refused.json["name"] == "RateLimitError"
    assert int(refused.headers["Retry-After"]) >= 1


def test_the_right_password_is_refused_too_from_a_new_address(web):
    guess(web)
    assert attempt(web, password=Cast.PASSWORD).status_int == 429


def test_guesses_continue_at_a_slow_rate(web, clock):
    guess(web)
    clock.advance(6)
    assert guess(web, times=2) == [401, 429]


def test_another_account_is_not_slowed_down(web):
    guess(web)
    assert attempt(web, "nobody").status_int == 401


@pytest.mark.parametrize("name", ["ADA", "Ada", "a\u0308da", "\uff41da"])
def test_spellings_of_a_name_share_a_limit(web, name):
    guess(web)
    assert attempt(web, name).status_int == 429


def test_right_passwords_use_nothing_up(web):
    for _ in range(12):
        assert attempt(web, password=Cast.PASSWORD).status_int == 200


def test_an_address_that_signed_in_recently_is_not_limited(web, other_browser):
    attempt(web, password=Cast.PASSWORD, place=HOME)
    guess(other_browser, times=20)
    assert attempt(other_browser, password=Cast.PASSWORD, place=HOME).status_int == 200


def test_that_address_has_a_limit_of_its_own(make_service):
    web = webtest.TestApp(make_service(environ={"SIMPLE_LOGIN_LIMIT_PER_MINUTE": "100"}).app)
    attempt(web, password=Cast.PASSWORD, place=HOME)
    web.reset()
    answers = [attempt(web, place=HOME).status_int for _ in range(11)]
    assert answers == [401] * 10 + [429]


def test_the_address_counts_under_both_names_of_the_user(web, other_browser):
    body = {"username": "eve", "email": "eve@example.org", "password": Cast.PASSWORD}
    web.post_json("/api/admin/user-admin", body, headers=ADMIN)
    attempt(other_browser, "eve", Cast.PASSWORD, HOME)
    guess(web, "eve@example.org", times=20)
    other_browser.reset()
    assert attempt(other_browser, "eve@example.org", Cast.PASSWORD, HOME).status_int == 200


def test_a_browser_with_a_session_is_not_limited_anywhere(web, other_browser):
    attempt(web, password=Cast.PASSWORD, place=HOME)
    guess(other_browser, times=20)
    assert attempt(web, password=Cast.PASSWORD).status_int == 200


def test_a_session_of_another_user_does_not_count(cast, other_browser):
    guess(other_browser)
    assert attempt(cast.signed_in("ed"), password=Cast.PASSWORD).status_int == 429


def test_guesses_with_a_session_are_limited_too(web, other_browser):
    attempt(web, password=Cast.PASSWORD, place=HOME)
    guess(other_browser)
    assert guess(web, times=11) == [401] * 10 + [429]


def test_an_address_where_a_reset_link_was_used_is_not_limited(web, other_browser):
    path = "/api/admin/user-admin/reset-password"
    link = web.post_json(path, {"id": "ada"}, headers=ADMIN).json["resetPasswordUrl"]
    guess(other_browser)
    body = {"token": link.partition("=")[2], "password": "Better-Horse-8"}
    other_browser.post_json("/auth/reset/password", body, extra_environ=HOME)
    assert attempt(other_browser, password="Better-Horse-8", place=HOME).status_int == 200


def test_the_form_counts_and_answers_with_a_page(web, other_browser):
    guess(other_browser)
    page = sign_in(web, status=429)
    assert page.content_type == "text/html"


def test_the_limit_is_a_variable(make_service):
    environ = {"SERVICE_LOGIN_LIMIT_PER_ACCOUNT_PER_MINUTE": "3"}
    web = webtest.TestApp(make_service(environ=environ).app)
    assert guess(web, times=4) == [401] * 3 + [429]


def change(web, old="wrong", place=HOME, status=None):
    new = "Better-Horse-8"
    body = {"oldPassword": old, "password": new, "confirmPassword": new}
    answer = web.post_json(
        "/api/admin/user/change-password",
        body,
        headers={"X-CSRF-Token": web.csrf},
        extra_environ=place,
        expect_errors=True,
    )
    return answer.status_int


def test_wrong_old_passwords_count_by_account(cast):
    thief = cast.signed_in("ed")
    answers = [change(thief, place=elsewhere()) for _ in range(11)]
    assert answers == [401] * 10 + [429]
    assert change(thief, Cast.PASSWORD, elsewhere()) == 429


def test_the_profile_form_counts_with_them(cast):
    thief = cast.signed_in("ed")
    form = form_to(thief.get("/profile"), "/profile/password")
    form["oldPassword"], form["password"], form["confirm"] = (
        "wrong",
        "Better-Horse-8",
        "Better-Horse-8",
    )
    for _ in range(10):
        form.submit(status=401, extra_environ=HOME)
    form.submit(status=429, extra_environ=HOME)
    assert change(thief) == 429


def test_wrong_old_passwords_do_not_limit_sign_in(cast, other_browser):
    thief = cast.signed_in("ed")
    for _ in range(11):
        change(thief)
    assert attempt(other_browser, "ed", Cast.PASSWORD).status_int == 200


def test_the_owner_changes_the_password_where_the_sign_in_was(cast, other_browser):
    thief = cast.signed_in("ed")
    for _ in range(11):
        change(thief)
    home = {"REMOTE_ADDR": "192.0.2.7"}
    other_browser.csrf = attempt(other_browser, "ed", Cast.PASSWORD, home).json["csrfToken"]
    assert change(other_browser, Cast.PASSWORD, home) == 200


def test_a_refused_new_password_is_no_wrong_old_one(cast):
    ed = cast.signed_in("ed")
    body = {"oldPassword": Cast.PASSWORD, "password": "weak", "confirmPassword": "weak"}
    for _ in range(12):
        headers = {"X-CSRF-Token": ed.csrf}
        ed.post_json("/api/admin/user/change-password", body, headers=headers, status=400)
