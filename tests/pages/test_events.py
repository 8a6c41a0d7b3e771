"""The audit log: who changed what, and nothing secret."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest

from tests.conftest import ADMIN
from tests.jobs.release_kit import Releases
from tests.pages.page_reader import heading, is_page


def rows(page):
    log = page.html.find("ol", class_="log")
    return log.find_all("li") if log else []


def types(page):
    return [row.details.code.string for row in rows(page)]


def sentences(page):
    """Who did what, without the time."""
    texts = [" ".join(row.span.get_text(" ").split()) for row in rows(page)]
    return [text.replace("only ", "", 1) for text in texts]


def test_an_event_has_an_author_and_both_states(ada, endpoint):
    description = "What the platform team ships"
    fields = {"csrf": ada.csrf, "name": "ships", "description": description, "enabled": "on"}
    ada.post(f"/admin/signals/{endpoint['id']}/settings", fields)
    page = ada.get("/admin/events")
    assert heading(page) == "Audit log"
    row = rows(page)[0]
    assert types(page)[0] == "signal-endpoint-updated"
    assert sentences(page)[0] == "ada changed the signal endpoint ships"
    lines = {
        mark: [line.string[1:].strip() for line in row.find_all(class_=mark)]
        for mark in ("removed", "added")
    }
    assert lines == {"removed": ['"name": "deploys",'], "added": ['"name": "ships",']}
    assert row.time["datetime"].endswith("Z")


def test_the_newest_event_is_first(ada, make):
    for name in ("one", "two", "three"):
        make.endpoint(name)
    names = [sentence.split()[-1] for sentence in sentences(ada.get("/admin/events"))]
    assert names[:3] == ["three", "two", "one"]


def test_the_type_filter_limits_the_list(ada, endpoint, token):
    form = ada.get("/admin/events").forms[1]
    values = [option[0] for option in form["type"].options]
    assert values[0] == ""
    assert {"signal-endpoint-created", "signal-endpoint-token-created"} <= set(values)
    form["type"] = "signal-endpoint-created"
    page = form.submit(status=200)
    assert set(types(page)) == {"signal-endpoint-created"}
    selected = page.html.find(id="type").find("option", selected=True)
    assert (selected["value"], selected.string) == (types(page)[0], "Signal endpoint created")


def test_a_page_has_thirty_events_and_links_to_the_others(ada, web, endpoint):
    path = f"/api/admin/signal-endpoints/{endpoint['id']}"
    for n in range(60):
        web.post(f"{path}/{'off' if n % 2 == 0 else 'on'}", headers=ADMIN)
    page = ada.get("/admin/events?type=signal-endpoint-updated")
    assert len(rows(page)) == 30
    page = page.goto(page.html.find("a", string="Older →")["href"])
    assert len(rows(page)) == 30
    assert set(types(page)) == {"signal-endpoint-updated"}
    assert not page.html.find("a", string="Older →")
    page = page.goto(page.html.find("a", string="← Newest")["href"])
    assert len(rows(page)) == 30


def test_a_search_continues_with_older_events(ada, make, monkeypatch):
    for name in ("needle", "two", "three"):
        make.endpoint(name)
    form = ada.get("/admin/events").forms[1]
    form["query"] = "NEEDLE"
    page = form.submit(status=200)
    assert [sentence.split()[-1] for sentence in sentences(page)] == ["needle"]
    assert not page.html.find("a", string="Search older events →")
    monkeypatch.setattr("sigservice.repository.system.events.SEARCH_ROWS", 2)
    page = form.submit(status=200)
    assert rows(page) == []
    page = page.goto(page.html.find("a", string="Search older events →")["href"])
    assert [sentence.split()[-1] for sentence in sentences(page)] == ["needle"]
    assert page.html.find(id="query")["value"] == "NEEDLE"


def test_an_unknown_type_matches_no_event(ada):
    for type in ("nothing", "<script>", "' OR 1=1 --", "\U0001f600"):
        page = ada.get("/admin/events", {"type": type}, status=200)
        assert rows(page) == [], type
        assert "No events match." in page.text


def test_wrong_query_is_a_400_page(ada):
    for query in (
        "before=x",
        "before=0",
        "before=-1",
        "type=%FF",
        "type=%00",
        "from=x",
        "to=2026-02-31",
    ):
        assert is_page(ada.get(f"/admin/events?{query}", status=400)), query


def test_no_event_shows_a_password_or_a_secret(ada, web, token):
    body = {"username": "new", "rootRole": "Viewer", "password": "Very-Secret-9"}
    web.post_json("/api/admin/user-admin", body, headers=ADMIN)
    text = ada.get("/admin/events").text
    for secret in ("Very-Secret-9", "$argon2", token["token"], "test-admin-token"):
        assert secret not in text


FILTERS = {
    "project": "default",
    "environment": "production",
    "user": "admin",
    "feature": "checkout",
    "from": "2020-01-01",
}


@pytest.mark.parametrize("name", FILTERS)
def test_a_filter_limits_the_list_and_its_chip_removes_it(ada, flags, name):
    flags.create_flag()
    flags.switch()
    flags.switch(to="off")
    form = ada.get("/admin/events").forms[1]
    form[name] = FILTERS[name]
    page = form.submit(status=200)
    matching = sentences(page)
    assert "API token admin turned checkout off in production" in matching
    assert sentences(ada.get("/admin/events", {name: "2999-01-01"})) == []
    everything = ada.get("/admin/events" + page.html.select_one(".tags a")["href"])
    assert len(sentences(everything)) >= len(matching)
    assert not everything.html.select_one(".tags a")


def test_the_export_has_the_filters_of_the_page(ada, flags):
    flags.create_flag()
    flags.create_flag("other")
    page = ada.get("/admin/events?feature=other&user=admin&type=feature-created")
    (event,) = page.click("NDJSON").text.splitlines()
    assert json.loads(event)["featureName"] == "other"


def list_links(page, sentence):
    """The links of the newest event with this sentence, but for the one of its author."""
    row = next(
        row for row, text in zip(rows(page), sentences(page), strict=True) if text == sentence
    )
    links = [link["href"] for link in row.find_all("a")]
    return [link for link in links if not link.startswith("?")]


def test_an_event_links_to_its_object(ada, endpoint, sets, flags):
    set_id = sets.set("kill")
    flags.create_segment("beta")
    page = ada.get("/admin/events")
    cases = {
        "created the signal endpoint deploys": f"/admin/signals/{endpoint['id']}/log",
        "created the automation kill": f"/admin/projects/default/actions/{set_id}",
        "created the segment beta": "/admin/segments",
        "turned checkout on in production": "/admin/features/checkout",
        "created the flag checkout": "/admin/features/checkout",
    }
    for sentence, path in cases.items():
        assert list_links(page, f"API token admin {sentence}") == [path], sentence
        assert ada.get(path).html.find("h1")


def test_an_event_of_a_release_links_to_it(service, clock, ada):
    kit = Releases(service, clock)
    release = kit.create()
    page = ada.get("/admin/events?type=release-created")
    path = f"/admin/features/checkout/environments/production/releases/{release['id']}"
    assert rows(page)[0].find_all("a")[-1]["href"] == path


def test_the_person_is_a_link_that_filters(ada, flags):
    flags.create_flag()
    flags.switch()
    (row,) = rows(ada.get("/admin/events?kind=switches"))
    assert row.a["href"] == "?kind=switches&user=admin"
    assert sentences(ada.get(f"/admin/events{row.a['href']}"))


def test_links_filter_by_time_environment_and_kind(ada, flags, clock):
    flags.create_flag()
    flags.switch()
    page = ada.get("/admin/events?kind=switches")
    assert sentences(page) == ["API token admin turned checkout on in production"]
    links = {a.get_text(): a for a in page.html.find("nav", attrs={"aria-label": "Filters"})("a")}
    week = (clock.now() - timedelta(6)).date()
    assert links["7 days"]["href"] == f"?kind=switches&from={week}"
    assert links["development"]["href"] == "?kind=switches&environment=development"
    assert links["Switches"]["aria-current"] == "true"
    assert links["Switches"]["href"] == "?"
    assert "Releases" not in links  # none is in the log
    assert sentences(page.goto("?kind=releases")) == []
    (event,) = page.click("NDJSON").text.splitlines()
    assert json.loads(event)["type"] == "feature-environment-enabled"


def test_an_object_that_was_deleted_is_not_a_link(ada, web, endpoint):
    web.delete(f"/api/admin/signal-endpoints/{endpoint['id']}", headers=ADMIN)
    sentence = "API token admin deleted the signal endpoint deploys"
    assert list_links(ada.get("/admin/events"), sentence) == []


def test_recent_changes_link_to_their_objects(vera, flags):
    flags.create_flag()
    page = vera.get("/admin/projects/default/overview")
    assert page.html.find("main").find("a", href="/admin/features/checkout")


def test_texts_of_users_stay_texts_in_linked_sentences(ada, make):
    make.endpoint("x-1-2")
    sentence = "API token admin created the signal endpoint x-1-2"
    assert sentence in sentences(ada.get("/admin/events"))


def test_days_of_the_filter_are_named_as_utc(ada):
    """The title of a time is in the zone of the browser."""
    labels = [label.get_text() for label in ada.get("/admin/events").html.find_all("label")]
    assert {"From (UTC)", "To (UTC)"} <= {*labels}
