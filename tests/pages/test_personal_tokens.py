"""Pages of the user's own personal tokens."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from tests.conftest import Cast
from tests.pages.page_reader import find_error, form_to, notice

PATH = "/profile/tokens"


def create(user, description="laptop", password=Cast.PASSWORD, days=30, status=303):
    form = form_to(user.get(PATH), PATH)
    form["description"], form["password"] = description, password
    form["expiresAt"] = (datetime.now(UTC) + timedelta(days)).date().isoformat()
    return form.submit(status=status).maybe_follow()


def test_a_token_is_shown_once_and_has_the_role_of_its_owner(vera, web):
    secret = create(vera).html.find(id="secret")["value"]
    assert secret not in vera.get(PATH).text
    headers = {"Authorization": secret}
    assert web.get("/api/admin/user", headers=headers).json["user"]["username"] == "vera"
    web.get("/api/admin/signals", headers=headers, status=403)


def test_a_token_needs_the_password(ada):
    page = create(ada, password="Wrong-Horse-8", status=401)
    assert find_error(page, "password")
    page = create(ada, password="", status=400)
    assert find_error(page, "password") == "Enter your password."
    assert "laptop" not in ada.get(PATH).text


def test_a_date_in_the_past_and_a_description_that_exists_are_errors_of_their_fields(ada):
    assert "in the future" in find_error(create(ada, days=-1, status=400), "expiresAt")
    create(ada)
    assert "already exists" in find_error(create(ada, status=409), "description")


def test_a_deleted_token_loses_access(ada, web):
    secret = create(ada).html.find(id="secret")["value"]
    form = form_to(ada.get(PATH), f"{PATH}/delete")
    question = form.submit("token", index=0, status=200)
    page = form_to(question, f"{PATH}/delete").submit(status=303).follow()
    assert notice(page) == "Token deleted."
    web.get("/api/admin/user", headers={"Authorization": secret}, status=401)


def test_the_token_of_another_user_is_not_found(ada, vera):
    create(vera)
    (id,) = [pat["id"] for pat in vera.get("/api/admin/user/tokens").json["pats"]]
    for text in (str(id), "x", "-1", "9" * 30):
        ada.post(f"{PATH}/delete", {"token": text, "csrf": ada.csrf, "confirmed": "on"}, status=404)
    assert "laptop" in vera.get(PATH).text
