"""Forgotten passwords and invitations in a browser, through the mailed link."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest
import webtest

from sigservice.jobs import mails as job
from tests.conftest import ADMIN, Cast
from tests.mail_server import mail_server
from tests.pages.accessibility import RULES
from tests.pages.page_reader import alert, find_error, follow, form_to, heading, notice, sign_in

USERS = "/admin/users"
GOOD = "New-Horse-Staple-8"


@pytest.fixture
def mails():
    with mail_server() as one:
        yield one


@pytest.fixture
def service(make_service, mails):
    """With a mail server."""
    environ = {
        "EMAIL_HOST": "127.0.0.1",
        "EMAIL_PORT": str(mails.port),
        "SERVICE_URL": "http://flags.example",
    }
    return make_service(environ=environ)


@pytest.fixture
def bo(web):
    body = {"username": "bo", "email": "bo@example.com", "password": Cast.PASSWORD}
    return web.post_json("/api/admin/user-admin", body | {"sendEmail": False}, headers=ADMIN).json


def path_of(link):
    """As a reverse proxy hands it on."""
    parts = urlsplit(link)
    assert parts[:2] == ("http", "flags.example")
    return f"{parts.path.removeprefix('/sub')}?{parts.query}"


def fill(page, path, status=303, **values):
    form = form_to(page, path)
    for name, value in values.items():
        form[name] = value
    return form.submit(status=status)


def keeps_the_rules(page):
    return {
        name: violations for name in RULES if (violations := list(RULES[name](page.html)))
    } == {}


def test_a_forgotten_password(service, mails, bo):
    web, other = webtest.TestApp(service.app), webtest.TestApp(service.app)
    sign_in(other, "bo")
    page = follow(web.get("/sign-in"), "Forgot your password?")
    assert keeps_the_rules(page)
    page = fill(page, "/forgot-password", email=" bo@example.com").follow()
    assert "on its way" in page.html.find(role="status").get_text()
    assert keeps_the_rules(page)
    assert job.run_once(service.context) == 1
    path = path_of(mails.got[0].link)
    for _ in range(2):  # a scanner of links uses nothing up
        page = web.get(path)
    assert keeps_the_rules(page)
    assert page.headers["Referrer-Policy"] == "no-referrer"
    assert page.headers["Cache-Control"] == "no-store"
    assert "At least 10 characters" in page.text
    page = fill(page, "/reset-password", 400, password="aaa", confirm="aaa")
    assert find_error(page, "password").count("The password must") == 5
    page = fill(page, "/reset-password", 400, password=GOOD, confirm="x")
    assert find_error(page, "confirm") == "The passwords must match."
    page = fill(page, "/reset-password", 400, password=Cast.PASSWORD, confirm=Cast.PASSWORD)
    assert "last 5 passwords" in find_error(page, "password")
    assert GOOD not in page.text
    page = fill(page, "/reset-password", password=GOOD, confirm=GOOD).follow()
    assert notice(page) == "Password set. You are signed in."
    assert page.html.find(class_="account").a["title"] == "bo"
    other.get("/profile", status=303)
    sign_in(other, "bo", GOOD)
    page = web.get(path, status=403)
    assert "has already been used" in alert(page)
    assert keeps_the_rules(page)
    follow(page, "Request a new link")


def test_invalid_links_show_no_form(service, clock):
    web = webtest.TestApp(service.app)
    for path in ("/reset-password", "/new-user", "/reset-password?token=x"):
        page = web.get(path, status=401)
        assert "invalid or has expired" in alert(page)
        assert not page.html.find("form")
    assert web.get("/reset-password?token=%ff", status=400)
    assert "session" not in web.cookies
    page = fill(web.get("/forgot-password"), "/forgot-password", 400, email="bo")
    assert find_error(page, "email") == "Enter a valid email address."
    clock.advance(60)
    for path in ("/forgot-password", "/reset-password", "/new-user"):
        assert heading(web.post(path, {"token": "x"}, status=403)).startswith("403")
        clock.advance(60)
        headers = {"Sec-Fetch-Site": "cross-site"}
        web.post(path, {"token": "x"}, headers=headers, status=403)
        clock.advance(60)


def test_an_admin_invites(service, ada, mails, web):
    new = f"{USERS}/new"
    page = ada.get(new)
    assert form_to(page, new)["sendEmail"].checked
    values = {"username": "cy", "email": "cy@example.com", "name": "<b>Cy</b>"}
    page = fill(page, new, **values).follow()
    assert keeps_the_rules(page)
    link = page.html.find(id="link")["value"]
    assert "with its own link is on its way to cy@example.com" in page.html.get_text()
    job.run_once(service.context)
    (got,) = mails.got
    assert got.text.startswith("Hello b Cy b,")
    assert got.link != link
    page = webtest.TestApp(service.app).get(path_of(got.link))
    assert heading(page) == "Welcome - set your password"
    page = fill(page, "/new-user", password=GOOD, confirm=GOOD).follow()
    assert notice(page) == "Password set. You are signed in."
    assert page.html.find(class_="account").a["title"] == "cy"
    web.get(path_of(link), status=401)
    sign_in(web, "cy", GOOD)
    id = service_id(web, "cy")
    page = ada.get(f"{USERS}/{id}")
    assert "Last email: welcome, sent," in " ".join(page.html.get_text().split())


def service_id(web, name):
    users = web.get("/api/admin/user-admin", headers=ADMIN).json["users"]
    return next(user["id"] for user in users if user["username"] == name)


def test_an_admin_invites_without_an_email_or_sets_the_password(ada, mails, service, web):
    new = f"{USERS}/new"
    page = fill(ada.get(new), new, username="cy", email="cy@example.com", sendEmail=False).follow()
    assert "No email was sent" in page.html.get_text()
    page = fill(ada.get(new), new, username="di").follow()  # has no address
    assert "No email was sent" in page.html.get_text()
    page = fill(ada.get(new), new, username="ed", email="ed@example.com", password=GOOD).follow()
    assert notice(page) == "User created."
    assert job.run_once(service.context) == 1
    assert mails.got[0].recipients == ["ed@example.com"]
    page = fill(ada.get(new), new, 400, username="a b", sendEmail=False)
    assert not form_to(page, new)["sendEmail"].checked


def test_an_admin_creates_a_reset_link(service, ada, bo, web):
    path = f"{USERS}/{bo['id']}/link"
    page = fill(ada.get(f"{USERS}/{bo['id']}"), path).follow()
    assert keeps_the_rules(page)
    assert heading(page) == "Reset link for bo"
    link = page.html.find(id="link")["value"]
    assert link.startswith("http://flags.example/reset-password?token=")
    assert link.partition("=")[2] not in ada.get(f"{USERS}/{bo['id']}").text
    assert ada.get(path, status=303).location.endswith(f"{USERS}/{bo['id']}")
    other = webtest.TestApp(service.app)
    fill(other.get(path_of(link)), "/reset-password", password=GOOD, confirm=GOOD)
    sign_in(web, "bo", GOOD)
    ada.post(f"{USERS}/999/link", {"csrf": ada.csrf}, status=404)


def test_without_a_mail_server_the_pages_say_so(make_service):
    service = make_service()
    web = webtest.TestApp(service.app)
    page = web.get("/forgot-password")
    assert "Email isn't configured. Ask an admin" in page.html.get_text()
    assert not page.html.find("form")
    assert "Ask an admin" in web.get("/new-user?token=x", status=401).html.get_text()
    sign_in(web)
    page = web.get(f"{USERS}/new")
    assert "share the link yourself" in page.html.get_text()
    page = fill(page, f"{USERS}/new", username="cy", email="cy@example.com").follow()
    assert "No email was sent - share the link yourself." in page.html.get_text()
    assert page.html.find(id="link")["value"].startswith("http://localhost:80/new-user?token=")
