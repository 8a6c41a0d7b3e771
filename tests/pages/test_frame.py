"""The frame of every page: the menu, the lists of its sections, the switch of the project."""

from __future__ import annotations

import pytest

from tests.conftest import ADMIN
from tests.pages.page_reader import form_to

MENU = {
    "Home": "/",
    "Flags": "/admin/features",
    "Releases": "/admin/releases",
    "Automation": "/admin/automation",
    "Alerts": "/admin/alerts",
    "Applications": "/admin/applications",
    "Audit log": "/admin/events",
    "Settings": "/admin/settings",
}


def read_links(page, name):
    nav = page.html.find("nav", attrs={"aria-label": name})
    return {link.get_text(): link["href"] for link in nav.find_all("a")} if nav else {}


@pytest.fixture
def shop(web, flags):
    web.post_json("/api/admin/projects", {"id": "shop", "name": "Web shop"}, headers=ADMIN)
    path = "/api/admin/projects/shop/features"
    web.post_json(path, {"name": "checkout"}, headers=ADMIN)
    flags.create_flag("other")


@pytest.mark.parametrize("name", ["ada", "ed", "vera"])
def test_the_menu_has_eight_links_that_each_role_can_open(cast, name):
    browser = cast.signed_in(name)
    page = browser.get("/")
    assert read_links(page, "Main") == MENU
    for path in MENU.values():
        page = browser.get(path)
        page = page.follow() if page.status_int == 303 else page
        assert page.html.find("h1"), path
        for section in ("Flags", "Alerts", "Settings"):
            for link in read_links(page, section).values():
                browser.get(link, status=200)


@pytest.mark.parametrize(
    ("path", "item", "part"),
    [
        ("/", "Home", ""),
        ("/admin/features", "Flags", "Flags"),
        ("/admin/segments", "Flags", "Segments"),
        ("/admin/segments/new", "Flags", ""),
        ("/admin/signals", "Alerts", "Signals"),
        ("/admin/alert-rules/new", "Alerts", ""),
        ("/admin/automation", "Automation", ""),
        ("/admin/projects/default/edit", "Settings", "Projects"),
        ("/admin/integrations/metrics/new", "Settings", "Metric sources"),
        ("/profile", "Settings", "Your account"),
    ],
)
def test_the_frame_marks_where_the_page_is(ada, path, item, part):
    page = ada.get(path).html
    (current,) = page.find("header").find_all(attrs={"aria-current": "page"})
    assert current.get_text() == item
    parts = page.select("main nav.tabs [aria-current], main nav.parts [aria-current]")
    assert [link.get_text() for link in parts] == ([part] if part else [])


def test_the_links_of_a_section_follow_its_heading(ada, vera):
    page = ada.get("/admin/alert-rules")
    assert [*read_links(page, "Alerts")] == ["Alerts", "Rules", "Signals"]
    assert page.html.h1.find_next("nav")["aria-label"] == "Alerts"
    assert [*read_links(vera.get("/admin/alert-rules"), "Alerts")] == ["Alerts", "Rules"]


def test_settings_list_what_the_role_can_open(ada, vera):
    page = ada.get("/admin/settings", status=303).follow()
    assert [*read_links(page, "Settings")] == [
        "Projects", "Environments", "Context fields", "Types", "Integrations", "Metric sources",
        "Users", "Sign-in", "API tokens", "Service accounts", "Your account",
    ]  # fmt: skip
    assert [*read_links(vera.get("/admin/types"), "Settings")] == [
        "Projects", "Environments", "Context fields", "Types", "Integrations", "Your account",
    ]  # fmt: skip


def test_lists_follow_the_project_that_was_chosen(ada, shop):
    form = form_to(ada.get("/admin/features"), "/project")
    assert form["back"].value == "/admin/features"
    page = form.submit("project", value="shop", status=303).follow()
    assert ("checkout" in page.text, ">other<" in page.text) == (True, False)
    assert page.html.select_one(".projects summary").get_text(strip=True) == "Web shop"
    page = ada.get("/admin/features?project=default")  # an address says what its sender saw
    assert ("checkout" in page.text, ">other<" in page.text) == (False, True)
    form_to(page, "/project").submit("project", value="", status=303)
    page = ada.get("/admin/features")
    assert ("checkout" in page.text, ">other<" in page.text) == (True, True)


def test_the_cookie_of_the_project_lasts_a_year(ada, shop):
    form = form_to(ada.get("/"), "/project")
    cookie = form.submit("project", value="shop").headers["Set-Cookie"]
    assert "-project=shop;" in cookie
    assert "Max-Age=31536000" in cookie
    form = form_to(ada.get("/"), "/project")
    form["back"].force_value("https://elsewhere.example/")
    assert form.submit("project", value="a b\r\n").headers["Location"] == "/"


def test_one_project_needs_no_switch(ada):
    assert not ada.get("/").html.select(".projects")


def test_the_list_of_action_sets_moved(ada):
    assert ada.get("/admin/actions", status=301).headers["Location"] == "/admin/automation"
