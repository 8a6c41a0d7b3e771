"""The first page: what came in lately and where to go on."""

from __future__ import annotations

import pytest

from tests.conftest import ADMIN
from tests.pages.seen import heading

FOR_ALL = ("/admin/features", "/admin/segments")


def rows(page):
    found = page.html.find("ul", class_="rows")
    return found.find_all("li") if found else []


def test_admin_is_told_how_to_begin(ada):
    page = ada.get("/")
    assert heading(page) == "Home"
    assert page.html.find("main").find("a", href="/admin/signals/new")


def test_viewer_is_told_who_can_begin(vera):
    page = vera.get("/")
    assert "An admin can create one." in page.text
    assert not page.html.find("a", href="/admin/signals/new")


def test_navigation_offers_what_the_role_may_see(cast):
    """The viewer's and the editor's part of what the admin has; each link leads to a page."""
    seen = {}
    for name in ("ada", "ed", "vera"):
        browser = cast.signed_in(name)
        nav = browser.get("/").html.find("nav", attrs={"aria-label": "Main"})
        seen[name] = [link["href"] for link in nav.find_all("a")]
        for path in seen[name]:
            assert browser.get(path, status=200).html.find("h1"), path
    for path in (
        "/admin/integrations",
        "/admin/signals",
        "/admin/events",
        "/admin/api-tokens",
        "/admin/users",
    ):
        assert path in seen["ada"]
        assert path not in seen["ed"]
    assert seen["ed"] == seen["vera"]
    assert set(seen["vera"]) < set(seen["ada"])


def test_navigation_marks_where_one_is(ada, endpoint):
    for path, label in (
        ("/", "Home"),
        ("/admin/features", "Flags"),
        ("/admin/segments/new", "Segments"),
        ("/admin/integrations", "Integrations"),
        ("/admin/signals", "Signals"),
        (f"/admin/signals/{endpoint['id']}", "Signals"),
        ("/admin/applications", "Applications"),
        ("/admin/events", "Events"),
    ):
        (current,) = ada.get(path).html.find("nav").find_all(attrs={"aria-current": True})
        assert current.get_text() == label
    assert not ada.get("/profile").html.find("nav").find(attrs={"aria-current": True})


def test_endpoint_without_signals_has_no_rows(ada, endpoint):
    page = ada.get("/")
    assert "No signal has come in yet." in page.text
    assert page.html.find("main").find("a", href="/admin/signals").string == "1 signal endpoint"


@pytest.mark.parametrize("name", ["vera", "ed"])
def test_signals_are_shown_to_admins_only(cast, endpoint, token, send, name):
    send(endpoint, token, {"secret": "hunter2"})
    page = cast.signed_in(name).get("/")
    for text in ("hunter2", "Latest signals", endpoint["name"], token["name"]):
        assert text not in page.text


def test_ten_newest_signals_are_shown_newest_first(ada, endpoint, token, send):
    for n in range(12):
        send(endpoint, token, {"n": n})
    found = rows(ada.get("/"))
    assert [row.find("code").get_text() for row in found] == [
        f'{{"n": {n}}}' for n in range(11, 1, -1)
    ]
    assert found[0].find("a").get_text() == "deploys"
    assert "ci" in found[0].get_text()
    assert found[0].find("time")["datetime"].endswith("Z")


def test_signal_of_a_deleted_token_says_so(ada, web, endpoint, token, send):
    send(endpoint, token, {})
    path = f"/api/admin/signal-endpoints/{endpoint['id']}/tokens/{token['id']}"
    web.delete(path, headers=ADMIN)
    assert "deleted token" in rows(ada.get("/"))[0].get_text()


def test_signals_of_a_deleted_endpoint_are_gone(ada, web, make, endpoint, token, send):
    send(endpoint, token, {"secret": 1})
    make.endpoint("other")
    web.delete(f"/api/admin/signal-endpoints/{endpoint['id']}", headers=ADMIN)
    assert rows(ada.get("/")) == []


def test_long_payload_is_cut(ada, endpoint, token, send):
    send(endpoint, token, {"text": "x" * 50_000})
    page = ada.get("/")
    assert len(page.text) < 10_000


def test_flags_are_counted(vera, flags):
    assert "An editor can make one." in vera.get("/").text
    flags.flag()
    link = vera.get("/").html.find("main").find("a", href="/admin/features")
    assert link.string == "1 flag"
