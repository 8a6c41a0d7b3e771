"""Pages name what was deleted, and link only what exists."""

from __future__ import annotations

import pytest

from tests.conftest import ADMIN
from tests.pages.test_viewers import Incident, read_run
from tests.repository.kit import run

ADMIN_API = "/api/admin"
BANNER = "/admin/features/banner"


@pytest.fixture
def incident(service, clock):
    """With an event of each kind of object that a page links."""
    incident = Incident(service, clock)
    post = incident.kit.post
    post(f"{ADMIN_API}/segments", {"name": "beta", "constraints": []}, 201)
    post(f"{ADMIN_API}/user-admin", {"username": "bob", "rootRole": "Viewer"}, 201)
    post(f"{ADMIN_API}/projects", {"id": "shop", "name": "Shop"}, 201)
    post(f"{ADMIN_API}/addons", {
        "provider": "webhook", "enabled": False, "events": ["feature-created"],
        "parameters": {"url": "https://h.example/"},
    }, 201)  # fmt: skip
    return incident


def delete_everything(incident):
    web, set_id = incident.web, incident.set_id
    web.delete(f"{ADMIN_API}/projects/default/actions/{set_id}", headers=ADMIN)
    web.delete(f"{ADMIN_API}/signal-endpoints/{incident.endpoint['id']}", headers=ADMIN)
    for path, key in (("segments", "segments"), ("addons", "addons"), ("user-admin", "users")):
        for row in web.get(f"{ADMIN_API}/{path}", headers=ADMIN).json[key]:
            if row.get("username") in (None, "bob"):
                web.delete(f"{ADMIN_API}/{path}/{row['id']}", headers=ADMIN)
    web.delete(f"{ADMIN_API}/projects/shop", headers=ADMIN)
    for name in ("banner", "checkout"):
        path = f"{ADMIN_API}/projects/default/features/{name}"
        web.delete(path, headers=ADMIN)
        web.delete(f"{ADMIN_API}/archive/{name}", headers=ADMIN)


def list_links(user, pages):
    """The links of the pages' main parts."""
    links = {}
    for page in pages:
        main = user.get(page, status=200).html.find("main")
        links |= {link["href"]: page for link in main.select("a[href^='/']")}
    return {
        path: page for path, page in links.items() if not path.endswith(("format=csv", "ndjson"))
    }


def list_dead(user, pages):
    """(page, link) of each link that leads to no page."""
    return [
        (page, path)
        for path, page in list_links(user, pages).items()
        if user.get(path, expect_errors=True).status_int not in (200, 303)
    ]


def test_pages_link_what_exists(incident, ada):
    run_page = f"{incident.runs}/{read_run(incident)['id']}"
    pages = ["/", "/admin/events", "/admin/projects/default/overview", BANNER, run_page]
    links = list_links(ada, pages)
    for name in ("features/banner", "users/", "integrations/", "releases/", "/runs/", "/log/"):
        assert [path for path in links if name in path], name
    assert list_dead(ada, pages) == []


def test_pages_name_what_was_deleted_without_a_link(incident, ada):
    run_page = f"{incident.runs}/{read_run(incident)['id']}"
    delete_everything(incident)
    assert (
        list_dead(ada, ["/", "/admin/events", "/admin/projects/default/overview", run_page]) == []
    )
    text = ada.get("/admin/events").html.find("main").get_text(" ")
    for name in ("banner", "bob", "beta", "Banner off"):
        assert name in text


def test_runs_and_signals_that_have_expired_have_no_link(incident, service, ada):
    incident.signal("resolved", "a")
    runs = incident.web.get(incident.events, headers=ADMIN).json["actionSetEvents"]
    with service.context.database.transaction() as conn:
        run(conn, f"DELETE FROM action_runs WHERE id <> {runs[0]['id']} RETURNING id")
        run(conn, "DELETE FROM signals RETURNING id")
    pages = ["/", "/admin/events", BANNER, incident.runs, f"{incident.runs}/{runs[0]['id']}"]
    assert list_dead(ada, pages) == []
    text = ada.get(pages[-1]).html.find("main").get_text(" ")
    assert "its signal has expired" in text
