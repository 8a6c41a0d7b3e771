"""The timeline of a flag: what SDKs reported, with marks of what changed it."""

from __future__ import annotations

import pytest

from tests.conftest import ADMIN
from tests.pages.test_viewers import Incident

FLAG = "/admin/features/banner"


@pytest.fixture
def incident(service, clock):
    return Incident(service, clock)


def read_marks(node):
    """(kind, text, path) of each mark, newest first."""
    return [
        (
            link["class"][1],
            link["aria-label"].partition("UTC: ")[2],
            link["href"],
        )
        for link in node.select(".chart a.mark")
    ]


def card(page):
    return page.html.find(id="in-production")


def test_a_change_by_a_person_is_a_mark_that_leads_to_its_event(incident, ada):
    kind, text, path = read_marks(card(ada.get(FLAG)))[1]
    assert (kind, text) == ("person", "API token admin enabled banner in production")
    event = path.partition("#")[2]
    page = ada.get(path.partition("#")[0])
    assert "admin enabled banner" in page.html.find(id=event).get_text()


def test_a_run_is_a_mark_with_its_alert_and_its_duration(incident, ada):
    kind, text, path = read_marks(card(ada.get(FLAG)))[0]
    assert kind == "alert"
    assert text.startswith("hunter2 fails fires → off in ")
    assert text.endswith(" ms")
    heading = ada.get(path).html.find("h1").get_text()
    assert heading == "hunter2 fails turned banner off in production"


def test_a_viewer_sees_that_an_alert_fired_but_not_which(incident, vera):
    page = vera.get(FLAG)
    kind, text, path = read_marks(card(page))[0]
    assert (kind, text.partition(" in ")[0]) == ("alert", "An alert fires → off")
    assert "hunter2" not in page.text
    assert vera.get(path, status=200)


def test_a_revert_is_a_mark_of_its_own(incident, ada):
    incident.signal("resolved", "a")
    kind, text, path = read_marks(card(ada.get(FLAG)))[0]
    assert (kind, text) == ("revert", "hunter2 fails resolved → on")
    run = incident.web.get(incident.events, headers=ADMIN).json["actionSetEvents"][0]
    assert path.endswith(f"/runs/{run['id']}")


def test_steps_of_a_release_are_marks(incident, ada):
    page = ada.get("/admin/features/checkout")
    assert "release" in [kind for kind, _, _ in read_marks(card(page))]


def test_the_marks_are_listed_below_the_chart(incident, ada):
    section = card(ada.get(FLAG))
    rows = [link["href"] for link in section.select(".marks a")]
    assert rows == [path for _, _, path in read_marks(section)]


def test_marks_are_where_they_belong_on_the_axis(incident, ada, clock):
    xs = [
        float(mark.line["x1"].rstrip("%")) for mark in card(ada.get(FLAG)).select(".chart a.mark")
    ]
    assert all(95 < x <= 100 for x in xs)  # within the current hour, at the right
    clock.advance(12 * 3600)
    moved = [
        float(mark.line["x1"].rstrip("%")) for mark in card(ada.get(FLAG)).select(".chart a.mark")
    ]
    assert all(
        before - after == pytest.approx(50, abs=0.1)
        for before, after in zip(xs, moved, strict=True)
    )


def test_changes_before_the_period_have_no_mark(incident, ada, clock):
    clock.advance(25 * 3600)
    assert read_marks(card(ada.get(FLAG))) == []
    assert read_marks(card(ada.get(f"{FLAG}?usage=7d")))


def test_the_audit_log_of_a_flag_has_its_timeline(incident, vera):
    page = vera.get("/admin/events?feature=banner")
    assert [kind for kind, _, _ in read_marks(page.html)] == ["alert", "person", "person"]
    assert not vera.get("/admin/events").html.select(".chart")
    page = vera.get("/admin/events?feature=banner&environment=development")
    assert not page.html.select(".chart")
