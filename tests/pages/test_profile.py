"""The current user: who that is, and a new password."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
import webtest

from tests.conftest import ADMIN, Cast
from tests.pages.page_reader import find_error, form_to, heading, notice, sign_in

NEW = "Other-Horse-8"


def change(web: webtest.TestApp, old: str, new: str, confirm: str | None = None, status: int = 303):
    form = form_to(web.get("/profile"), "/profile/password")
    form["oldPassword"], form["password"] = old, new
    form["confirm"] = new if confirm is None else confirm
    return form.submit(status=status)


@pytest.mark.parametrize(("name", "role"), [("ada", "Admin"), ("ed", "Editor"), ("vera", "Viewer")])
def test_account_shows_name_and_role(cast, name, role):
    page = cast.signed_in(name).get("/profile")
    terms = {row.dt.string: row.dd.string for row in page.html.dl.find_all("div")}
    assert terms == {"Username": name, "Role": role}
    assert heading(page) == "Your account"


def test_account_without_a_username_shows_the_email(web):
    body = {"email": "eva@example.org", "rootRole": "Viewer", "password": Cast.PASSWORD}
    web.post_json("/api/admin/user-admin", body, headers=ADMIN)
    sign_in(web, "eva@example.org")
    page = web.get("/profile")
    assert page.html.find(class_="account").a["title"] == "eva@example.org"


def test_changed_password_works_and_the_old_one_does_not(ada, web, read_api):
    page = change(ada, Cast.PASSWORD, NEW).follow()
    assert notice(page).startswith("Password changed")
    sign_in(web, "ada", Cast.PASSWORD, status=401)
    sign_in(web, "ada", NEW, status=303)
    (event,) = [event for event in read_api("events")["events"] if event["type"] == "user-updated"]
    assert event["createdBy"] == "ada"


def test_change_ends_the_other_sessions_and_keeps_this_one(ada, cast):
    phone, ed = cast.signed_in("ada"), cast.signed_in("ed")
    change(ada, Cast.PASSWORD, NEW)
    ada.get("/profile", status=200)
    phone.get("/profile", status=303)
    ed.get("/profile", status=200)


def test_the_form_offers_to_revoke_the_personal_tokens(ada, database):
    headers = {"X-CSRF-Token": ada.csrf}
    expires_at = (datetime.now(UTC) + timedelta(1)).isoformat()
    body = {"description": "ci", "expiresAt": expires_at, "password": Cast.PASSWORD}
    ada.post_json("/api/admin/user/tokens", body, headers=headers)
    change(ada, Cast.PASSWORD, NEW)
    assert len(ada.get("/api/admin/user/tokens").json["pats"]) == 1
    form = form_to(ada.get("/profile"), "/profile/password")
    form["oldPassword"], form["password"], form["confirm"] = (
        NEW,
        Cast.PASSWORD + "x",
        Cast.PASSWORD + "x",
    )
    form["revoke_tokens"] = True
    assert "your personal API tokens revoked" in notice(form.submit(status=303).follow())
    assert ada.get("/api/admin/user/tokens").json["pats"] == []


def test_viewer_may_change_the_own_password(vera, web):
    change(vera, Cast.PASSWORD, NEW)
    sign_in(web, "vera", NEW)


def test_wrong_current_password_is_reported_at_the_field(ada, web):
    page = change(ada, "wrong", NEW, status=401)
    assert find_error(page, "oldPassword") == "The current password is wrong."
    web.post_json("/auth/simple", {"username": "ada", "password": Cast.PASSWORD}, status=200)


def test_an_error_keeps_the_choice_to_revoke_the_personal_tokens(ada):
    fields = {"csrf": ada.csrf, "oldPassword": "x", "password": NEW, "confirm": NEW}
    for choice in ({"revoke_tokens": "on"}, {}):
        page = ada.post("/profile/password", fields | choice, status=401)
        assert page.html.find(id="revoke_tokens").has_attr("checked") == bool(choice)
        assert NEW not in page.text


def test_different_new_passwords_are_reported_at_the_field(ada, web):
    page = change(ada, Cast.PASSWORD, NEW, "Other-Horse-9", status=400)
    assert find_error(page, "confirm") == "The new passwords must match."
    web.post_json("/auth/simple", {"username": "ada", "password": Cast.PASSWORD}, status=200)


def test_weak_password_reports_the_failed_rule(ada, read_state):
    before = read_state()
    for password, message in (
        ("", "at least 10 characters"),
        ("Short-7", "at least 10 characters"),
        ("A-7" + "xy" * 100, "at most 128 characters"),
        ("Correct-Hooorse-7", "three times in a row"),
        ("CORRECT-HORSE-7", "lower-case"),
        ("correct-horse-7", "upper-case"),
        ("Correct-Horse", "number"),
        ("CorrectHorse7", "symbol"),
        ("\U0001f600" * 3, "at least 10 characters"),
    ):
        page = change(ada, Cast.PASSWORD, password, status=400)
        assert message in find_error(page, "password")
    assert read_state() == before


def test_several_failed_rules_are_listed_separately(ada):
    page = change(ada, Cast.PASSWORD, "aaa", status=400)
    items = page.html.find(role="alert").find_all("li")
    assert len(items) == 5
    assert len({item.get_text() for item in items}) == 5


def test_passwords_are_never_shown_again(ada):
    page = change(ada, "Old-Secret-11", "New-Secret-22", "New-Secret-33", status=400)
    for text in ("Old-Secret-11", "New-Secret-22", "New-Secret-33"):
        assert text not in page.text
    for field in ("oldPassword", "password", "confirm"):
        assert form_to(page, "/profile/password")[field].value == ""


def test_fields_help_password_managers(ada):
    form = ada.get("/profile").html.find("form", action="/profile/password")
    tokens = {tag["name"]: tag.get("autocomplete") for tag in form.find_all("input")}
    assert tokens["oldPassword"] == "current-password"
    assert tokens["password"] == tokens["confirm"] == "new-password"
    assert tokens["username"] == "username"


def test_requirements_are_on_the_page_before_the_first_attempt(ada):
    form = ada.get("/profile").html.find("form", action="/profile/password")
    hint = form.find(id=form.find(id="password")["aria-describedby"]).get_text()
    for rule in ("10 characters", "upper and lower case", "number", "symbol", "three times"):
        assert rule in hint
    assert "No common password, no username" in hint


def sessions_form(web):
    return form_to(web.get("/profile"), "/profile/sessions")


def test_sessions_are_listed_with_a_button_for_each(ada, cast):
    assert len(ada.get("/profile").html.select("#sessions tbody tr")) == 1
    assert "Sign out all other sessions" not in ada.get("/profile")
    cast.signed_in("ada")
    cast.signed_in("ed")
    cards = ada.get("/profile").html.select("#sessions tbody tr")
    assert [bool(card.select_one(".tag")) for card in cards] == [True, False]
    assert cards[0].button.get_text() == "Sign out this session"


def test_hostile_text_of_a_browser_stays_text(cast, service):
    web = webtest.TestApp(service.app, {"HTTP_USER_AGENT": "<script>alert(1)</script>"})
    sign_in(web, "ed")
    page = web.get("/profile")
    assert "<script>alert" not in page.text
    assert page.html.select_one("#sessions tbody th bdi").get_text() == "<script>alert(1)</script>"


def test_one_session_is_signed_out(ada, cast):
    phone, ed = cast.signed_in("ada"), cast.signed_in("ed")
    buttons = ada.get("/profile").html.select("#sessions tbody tr button")
    page = sessions_form(ada).submit("session", value=buttons[1]["value"], status=303).follow()
    assert notice(page) == "Session signed out."
    phone.get("/profile", status=303)
    for web in (ada, ed):
        web.get("/profile", status=200)


def test_all_other_sessions_are_signed_out(ada, cast):
    phone, ed = cast.signed_in("ada"), cast.signed_in("ed")
    sessions_form(ada).submit("session", value="others", status=303)
    phone.get("/profile", status=303)
    for web in (ada, ed):
        web.get("/profile", status=200)


def test_signing_out_of_this_session_leads_to_the_sign_in_page(ada, cast):
    phone = cast.signed_in("ada")
    (button, _) = ada.get("/profile").html.select("#sessions tbody tr button")
    answer = sessions_form(ada).submit("session", value=button["value"], status=303)
    assert answer.headers["Location"].endswith("/sign-in?done=signed-out")
    ada.get("/profile", status=303)
    phone.get("/profile", status=200)


@pytest.mark.parametrize("session", ["", "0", "-1", "x", "9" * 18, "9" * 40, "\u0661"])
def test_an_unknown_session_is_404(ada, session):
    form = {"csrf": ada.csrf, "session": session}
    ada.post("/profile/sessions", form, status=404)
    ada.get("/profile", status=200)


def test_admin_sees_the_change_in_the_events_without_any_password(ada):
    change(ada, Cast.PASSWORD, NEW)
    text = ada.get("/admin/events").text
    assert "user-updated" in text
    assert NEW not in text
    assert Cast.PASSWORD not in text
    assert "$argon2" not in text
