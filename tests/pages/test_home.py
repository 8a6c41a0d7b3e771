"""The home page: recent signals and first steps."""

from __future__ import annotations

import pytest

from tests.conftest import ADMIN
from tests.pages.page_reader import heading


def rows(page):
    items = page.html.find("ul", class_="rows")
    return items.find_all("li") if items else []


def test_an_admin_can_create_an_endpoint(ada):
    page = ada.get("/")
    assert heading(page) == "Home"
    assert page.html.find("main").find("a", href="/admin/signals/new")


def test_a_viewer_is_referred_to_an_admin(vera):
    page = vera.get("/")
    assert "Ask an admin to create one." in page.text
    assert not page.html.find("a", href="/admin/signals/new")


def test_the_navigation_depends_on_the_role(cast):
    """Viewers and editors have fewer links than admins, and each link opens a page."""
    paths = {}
    for name in ("ada", "ed", "vera"):
        browser = cast.signed_in(name)
        nav = browser.get("/").html.find("nav", attrs={"aria-label": "Main"})
        paths[name] = [link["href"] for link in nav.find_all("a")]
        for path in paths[name]:
            assert browser.get(path, status=200).html.find("h1"), path
    for path in (
        "/admin/integrations",
        "/admin/signals",
        "/admin/events",
        "/admin/api-tokens",
        "/admin/users",
    ):
        assert path in paths["ada"]
        assert path not in paths["ed"]
    assert paths["ed"] == paths["vera"]
    assert set(paths["vera"]) < set(paths["ada"])


def test_the_navigation_marks_the_current_page(ada, endpoint):
    for path, label in (
        ("/", "sigservice"),
        ("/admin/features", "Flags"),
        ("/admin/segments/new", "Segments"),
        ("/admin/integrations", "Integrations"),
        ("/admin/signals", "Signals"),
        (f"/admin/signals/{endpoint['id']}", "Signals"),
        ("/admin/applications", "Applications"),
        ("/admin/events", "Audit log"),
        ("/admin/projects/default/actions", "Actions"),
        ("/admin/projects/default/edit", "Projects"),
        ("/admin/signals/none", "Signals"),
    ):
        page = ada.get(path, expect_errors=True)
        (current,) = page.html.find("header").find_all(attrs={"aria-current": True})
        assert current.get_text().strip() == label
    assert not ada.get("/profile").html.find("header").find(attrs={"aria-current": True})


def test_endpoint_without_signals_has_no_rows(ada, endpoint):
    page = ada.get("/")
    assert "No signals yet." in page.text
    assert page.html.find("main").find("a", href="/admin/signals").string == "1 signal endpoint"


@pytest.mark.parametrize("name", ["vera", "ed"])
def test_signals_are_shown_to_admins_only(cast, endpoint, token, send, name):
    send(endpoint, token, {"secret": "hunter2"})
    page = cast.signed_in(name).get("/")
    for text in ("hunter2", "Recent signals", endpoint["name"], token["name"]):
        assert text not in page.html.find("main").get_text()


def test_the_ten_newest_signals_are_listed(ada, endpoint, token, send):
    for n in range(12):
        send(endpoint, token, {"n": n})
    items = rows(ada.get("/"))
    assert [row.find(class_="preview").get_text().strip() for row in items] == [
        f"n: {n}" for n in range(11, 1, -1)
    ]
    assert items[0].find("a").get_text() == "deploys"
    assert "ci" in items[0].get_text()
    assert items[0].find("time")["datetime"].endswith("Z")


def test_a_signal_shows_that_its_token_was_deleted(ada, web, endpoint, token, send):
    send(endpoint, token, {})
    path = f"/api/admin/signal-endpoints/{endpoint['id']}/tokens/{token['id']}"
    web.delete(path, headers=ADMIN)
    assert "deleted token" in rows(ada.get("/"))[0].get_text()


def test_signals_of_a_deleted_endpoint_are_gone(ada, web, make, endpoint, token, send):
    send(endpoint, token, {"secret": 1})
    make.endpoint("other")
    web.delete(f"/api/admin/signal-endpoints/{endpoint['id']}", headers=ADMIN)
    assert rows(ada.get("/")) == []


def test_a_long_payload_is_shortened(ada, endpoint, token, send):
    send(endpoint, token, {"text": "x" * 50_000})
    page = ada.get("/")
    assert len(page.text) < 10_000


def test_flags_are_counted(vera, flags):
    assert "Ask an editor to create one." in vera.get("/").text
    flags.create_flag()
    link = vera.get("/").html.find("main").find("a", href="/admin/features")
    assert link.string == "1 feature flag"
