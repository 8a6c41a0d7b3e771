"""A session from its start to its end, its cookie, and the first sign-in of the default admin."""

from __future__ import annotations

import re

import pytest
import webtest

from tests.conftest import ADMIN, ADMIN_TOKEN, Cast
from tests.pages.guards import FORMS, PAGES
from tests.pages.page_reader import alert, form_to, heading, notice, sign_in

NAME = "service-session"
HOUR = 3600
ANYWHERE = dict.fromkeys(("id", "token_id", "signal_id", "project", "environment", "field"), 1)


def session_cookie(answer: webtest.TestResponse, name: str = NAME) -> dict[str, str]:
    """The attributes of the session cookie that an answer sets, `value` among them."""
    (line,) = [c for c in answer.headers.getall("Set-Cookie") if c.startswith(f"{name}=")]
    first, *rest = line.split("; ")
    attributes = {part.partition("=")[0].lower(): part.partition("=")[2] for part in rest}
    return attributes | {"value": first.partition("=")[2]}


def with_cookie(value: str) -> dict[str, str]:
    return {"Cookie": f"{NAME}={value}"}


def sign_in_bearing(web: webtest.TestApp, value: str) -> webtest.TestResponse:
    """Signs Ada in from a browser that has a session cookie with this value already."""
    form = web.get("/sign-in").form
    form["username"], form["password"] = "ada", Cast.PASSWORD
    cookies = f"{NAME}={value}; {NAME}-form={web.cookies[f'{NAME}-form']}"
    return form.submit(status=303, headers={"Cookie": cookies})


@pytest.fixture
def other_browser(service):
    return webtest.TestApp(service.app)


def is_valid(other_browser: webtest.TestApp, value: str) -> bool:
    other_browser.reset()
    answer = other_browser.get("/profile", headers=with_cookie(value), expect_errors=True)
    return answer.status_int == 200


def test_cookie_is_http_only_and_same_site(web):
    cookie = session_cookie(sign_in(web))
    assert len(cookie["value"]) >= 43
    assert "httponly" in cookie
    assert cookie["samesite"].lower() == "lax"
    assert cookie["path"] == "/"
    assert cookie["max-age"] == str(48 * HOUR)
    assert "secure" not in cookie
    assert "domain" not in cookie


@pytest.mark.parametrize(
    "options", [{"secureHeaders": True}, {"server": {"unleashUrl": "https://x.example"}}]
)
def test_cookie_is_for_https_only_behind_https(make_service, options):
    web = webtest.TestApp(make_service(options).app, {"wsgi.url_scheme": "https"})
    form = web.get("/sign-in")
    assert "; secure" in form.headers["Set-Cookie"].lower()
    page = form.form
    page["username"], page["password"] = "ada", Cast.PASSWORD
    name = NAME if "secureHeaders" in options else f"__Host-{NAME}"
    assert "secure" in session_cookie(page.submit(status=303), name)


@pytest.mark.parametrize(
    ("url", "configured", "expected"),
    [
        ("https://x.example", None, f"__Host-{NAME}"),
        ("https://x.example/", None, f"__Host-{NAME}"),
        ("https://x.example/flags", None, f"__Secure-{NAME}"),
        ("http://x.example", None, NAME),
        ("https://x.example", NAME, NAME),
        ("https://x.example", "flags", "flags"),
        ("https://x.example/flags", "flags", "flags"),
        ("https://x.example", "__Secure-flags", "__Secure-flags"),
    ],
)
def test_only_the_default_name_of_cookies_gets_a_prefix(make_service, url, configured, expected):
    base = "/flags" if url.endswith("/flags") else ""
    server = {"unleashUrl": url, "baseUriPath": base}
    session = {} if configured is None else {"cookieName": configured}
    service = make_service({"server": server, "session": session})
    web = webtest.TestApp(service.app, {"wsgi.url_scheme": url.partition(":")[0]})
    form = web.get(f"{base}/sign-in").form
    assert list(web.cookies) == [f"{expected}-form"]
    form["username"], form["password"] = "ada", Cast.PASSWORD
    cookie = session_cookie(form.submit(status=303), expected)
    assert "domain" not in cookie
    assert ("secure" in cookie) is url.startswith("https:")
    assert cookie["path"] == (base or "/")
    assert web.get(f"{base}/api/admin/user").json["user"]["username"] == "ada"


def test_a_cookie_without_the_prefix_is_ignored(make_service):
    options = {"server": {"unleashUrl": "https://x.example"}}
    web = webtest.TestApp(make_service(options).app, {"wsgi.url_scheme": "https"})
    value = session_cookie(sign_in(web), f"__Host-{NAME}")["value"]
    web.reset()
    web.get("/api/admin/user", headers=with_cookie(value), status=401)
    web.get("/api/admin/user", headers={"Cookie": f"__Host-{NAME}={value}"})


def test_cookie_has_the_configured_name(make_service):
    web = webtest.TestApp(make_service({"session": {"cookieName": "flags"}}).app)
    assert session_cookie(sign_in(web), "flags")["value"]
    web.get("/profile", status=200)


def test_session_id_of_the_browser_is_never_adopted(service, other_browser):
    made_up = "A" * 43
    fresh = session_cookie(sign_in_bearing(webtest.TestApp(service.app), made_up))["value"]
    assert fresh != made_up
    assert is_valid(other_browser, fresh)
    assert not is_valid(other_browser, made_up)


def test_each_sign_in_replaces_the_session_of_the_browser(cast, service, other_browser):
    first = session_cookie(sign_in(webtest.TestApp(service.app), "ed"))["value"]
    elsewhere = session_cookie(sign_in(webtest.TestApp(service.app), "ed"))["value"]
    second = session_cookie(sign_in_bearing(webtest.TestApp(service.app), first))["value"]
    assert len({first, elsewhere, second}) == 3
    assert is_valid(other_browser, second)
    assert not is_valid(other_browser, first)
    assert is_valid(other_browser, elsewhere)


def test_failed_sign_in_leaves_no_cookie(web):
    answer = sign_in(web, password="wrong", status=401)
    assert NAME not in web.cookies
    assert [c.partition("=")[0] for c in answer.headers.getall("Set-Cookie")] == [f"{NAME}-form"]


def test_the_database_stores_the_hash_of_the_session_id(web, database):
    value = session_cookie(sign_in(web))["value"]
    conn = database.connect()
    with conn.cursor() as cursor:
        cursor.execute("SELECT s::text FROM sessions s")
        rows = [row[0] for row in cursor.fetchall()]
    conn.close()
    assert len(rows) == 1
    assert value not in rows[0]
    assert value.encode().hex() not in rows[0]


def test_session_lasts_48_hours(ada, clock):
    clock.advance(48 * HOUR - 1)
    ada.get("/profile", status=200)
    clock.advance(1)
    assert "/sign-in?next=" in ada.get("/profile", status=303).headers["Location"]
    ada.get("/api/admin/user", status=401)


def test_lifetime_is_an_option(make_service, clock):
    web = webtest.TestApp(make_service({"session": {"ttlHours": 2}}).app)
    assert session_cookie(sign_in(web))["max-age"] == str(2 * HOUR)
    clock.advance(2 * HOUR - 1)
    web.get("/profile", status=200)
    clock.advance(1)
    web.get("/profile", status=303)


def test_form_after_the_end_of_the_session_changes_nothing(ada, clock, read_state):
    page = ada.get("/admin/signals/new")
    before = read_state()
    clock.advance(48 * HOUR)
    form = form_to(page, "/admin/signals/new")
    form["name"], form["token"] = "late", "later"
    assert "/sign-in" in form.submit(status=303).headers["Location"]
    assert read_state() == before


def test_sign_out_ends_every_session_of_the_user(ada, cast, service, other_browser):
    phone, other = cast.signed_in("ada"), cast.signed_in("ed")
    value = ada.cookies[NAME]
    answer = form_to(ada.get("/"), "/logout").submit(status=303)
    assert session_cookie(answer)["value"] in ("", '""')
    assert session_cookie(answer)["max-age"] == "0"
    assert session_cookie(answer)["path"] == "/"
    assert notice(answer.follow()) == "You have signed out."
    assert not is_valid(other_browser, value)
    phone.get("/profile", status=303)
    other.get("/profile", status=200)


@pytest.mark.parametrize("clears", [True, False])
def test_sign_out_clears_the_site_data_unless_switched_off(make_service, clears):
    options = {} if clears else {"session": {"clearSiteDataOnLogout": False}}
    web = webtest.TestApp(make_service(options).app)
    sign_in(web)
    answer = form_to(web.get("/"), "/logout").submit(status=303)
    header = answer.headers.get("Clear-Site-Data", "")
    assert ('"cookies"' in header) is clears
    assert session_cookie(answer)["max-age"] == "0"
    web.get("/profile", status=303)


def test_no_other_answer_clears_the_site_data(ada):
    for path in ("/", "/profile", "/admin/signals"):
        assert "Clear-Site-Data" not in ada.get(path).headers


def test_deleted_and_demoted_users_lose_access_immediately(cast, web, read_api):
    ed, second = cast.signed_in("ed"), cast.signed_in("ada")
    ids = {user["username"]: user["id"] for user in read_api("user-admin")["users"]}
    web.delete(f"/api/admin/user-admin/{ids['ed']}", headers=ADMIN)
    ed.get("/", status=303)
    body = {"username": "vera", "rootRole": "Admin"}
    web.put_json(f"/api/admin/user-admin/{ids['vera']}", body, headers=ADMIN)
    body = {"username": "ada", "rootRole": "Viewer"}
    web.put_json(f"/api/admin/user-admin/{ids['ada']}", body, headers=ADMIN)
    second.get("/admin/signals", status=403)
    assert "/admin/signals" not in second.get("/").text


@pytest.fixture
def default_admin(make_service):
    """A browser at a service whose admin is the documented one, signed in as that admin."""
    service = make_service({"authentication": {}}, {"INIT_ADMIN_API_TOKENS": ADMIN_TOKEN})
    web = webtest.TestApp(service.app)
    sign_in(web, "admin", "unleash4all")
    web.csrf = web.get("/api/admin/user").json["csrfToken"]
    return web


def test_default_admin_must_set_a_new_password_first(default_admin):
    for path in PAGES:
        if path == "/profile":
            continue
        path = re.sub(r"{\w+}", "1", path)
        assert default_admin.get(path, status=303).headers["Location"].endswith("/profile"), path
    page = default_admin.get("/profile")
    assert heading(page) == "Set a new password"
    assert not page.html.find("nav")


def test_default_admin_can_change_nothing_else(default_admin):
    def events():
        return default_admin.get("/api/admin/events", headers=ADMIN).json

    before = events()
    for path, fields in FORMS.items():
        if path not in ("/logout", "/profile/password"):
            path = re.sub(r"{\w+}", "1", path)
            answer = default_admin.post(path, fields | {"csrf": default_admin.csrf}, status=303)
            assert answer.headers["Location"].endswith("/profile"), path
    answer = default_admin.get("/api/admin/signal-endpoints", status=403)
    assert answer.json["name"] == "PasswordChangeRequired"
    assert events() == before


def test_default_admin_has_full_access_after_the_change(default_admin):
    form = form_to(default_admin.get("/profile"), "/profile/password")
    form["oldPassword"] = "unleash4all"
    form["password"] = form["confirm"] = "Other-Horse-8"
    page = form.submit(status=303).follow()
    assert notice(page) == "Password set. You are signed in."
    assert (heading(page), alert(page)) == ("Start here", "")
    assert alert(default_admin.get("/admin/signals")) == ""


def test_default_admin_can_not_keep_the_default_password(default_admin):
    form = form_to(default_admin.get("/profile"), "/profile/password")
    form["oldPassword"] = form["password"] = form["confirm"] = "unleash4all"
    assert heading(form.submit(status=400)) == "Set a new password"
    default_admin.get("/", status=303)


def test_default_admin_can_sign_out(default_admin):
    form_to(default_admin.get("/profile"), "/logout").submit(status=303)
    default_admin.get("/profile", status=303)


def test_every_page_warns_while_the_default_password_works(make_service, default_admin):
    body = {"username": "ada", "rootRole": "Admin", "password": Cast.PASSWORD}
    default_admin.post_json("/api/admin/user-admin", body, headers=ADMIN)
    web = webtest.TestApp(default_admin.app)
    sign_in(web)
    for path in ("/", "/admin/signals", "/admin/events", "/profile"):
        page = web.get(path, status=200)
        assert "default admin password still works" in alert(page)
        assert page.html.find(role="alert").a["href"] == "/admin/users"
    body = {"username": "vera", "rootRole": "Viewer", "password": Cast.PASSWORD}
    default_admin.post_json("/api/admin/user-admin", body, headers=ADMIN)
    web.reset()
    sign_in(web, "vera")
    page = web.get("/")
    assert alert(page).endswith("it is public. Tell an admin.")
