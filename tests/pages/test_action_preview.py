"""The form of an action set: which of the latest signals it matches, before it is saved."""

from __future__ import annotations

import pytest

from tests.pages.page_reader import form_to

PATH = "/admin/projects/default/actions"
FIRING = {"path": "status", "operator": "IN", "values": ["firing"]}
RESOLVED = {"restoreWhenResolved": {"path": "status", "values": ["resolved"], "key": "id"}}


@pytest.fixture
def preview(ada):
    """The text of the preview in a page, after a button, as the script swaps it in."""

    def read(page):
        return " ".join(page.html.find(id="preview").get_text(" ").split())

    return read


def press(page, path, **texts):
    form = form_to(page, path)
    for name, text in texts.items():
        form[name] = text
    return form.submit("do", value="preview", status=200)


def test_the_form_counts_signals_that_match_and_that_resolve(
    ada, sets, endpoint, token, send, preview
):
    id = sets.set(filters=[FIRING], options=RESOLVED)
    for status in ("firing", "resolved", "firing", "pending"):
        send(endpoint, token, {"status": status, "id": 1})
    text = preview(ada.get(f"{PATH}/{id}"))
    assert "The last 48 h: would have acted 2 times" in text


def test_a_filter_that_is_not_saved_yet_counts(ada, sets, endpoint, token, send, preview):
    id = sets.set(filters=[FIRING])
    send(endpoint, token, {"status": "firing"})
    page = press(
        ada.get(f"{PATH}/{id}"), f"{PATH}/{id}", **{"filters.0.values": "firing\nresolved\n"}
    )
    assert "acted 1 time" in preview(page)
    page = press(page, f"{PATH}/{id}", **{"filters.0.inverted": True})
    assert "would never have acted" in preview(page)
    form = form_to(ada.get(f"{PATH}/{id}"), f"{PATH}/{id}")
    assert not form["filters.0.inverted"].checked, "nothing is saved"


def test_a_match_links_to_its_signal(ada, sets, endpoint, token, send):
    id = sets.set(filters=[FIRING])
    signal = send(endpoint, token, {"status": "firing", "alertname": "Errors"})
    (link,) = ada.get(f"{PATH}/{id}").html.select("#preview li a")
    assert link["href"] == f"/admin/signals/{endpoint['id']}/log/{signal['id']}"
    assert "Errors" in link.get_text()


def test_a_resolved_signal_never_counts_as_a_match(ada, sets, endpoint, token, send, preview):
    id = sets.set(options=RESOLVED)
    send(endpoint, token, {"status": "resolved", "id": 1})
    assert "would never have acted" in preview(ada.get(f"{PATH}/{id}"))


@pytest.mark.parametrize(
    "texts",
    [
        {"filters.0.path": "a..b"},
        {"filters.0.operator": "REGEX", "filters.0.values": "("},
        {"filters.0.values": ""},
        {"match.sourceId": ""},
    ],
    ids=["path", "pattern", "no value", "no endpoint"],
)
def test_an_incomplete_form_says_what_is_missing(ada, sets, endpoint, token, send, preview, texts):
    id = sets.set(filters=[FIRING])
    send(endpoint, token, {"status": "firing"})
    page = press(ada.get(f"{PATH}/{id}"), f"{PATH}/{id}", **texts)
    assert "Choose an endpoint and complete what the alert has" in preview(page)


def test_an_endpoint_without_signals_has_nothing_to_preview(ada, sets, preview):
    assert "Nothing has arrived yet." in preview(ada.get(f"{PATH}/{sets.set()}"))


def test_signals_of_the_last_48_hours_count(ada, cast, clock, sets, endpoint, token, send, preview):
    id = sets.set(filters=[FIRING])
    send(endpoint, token, {"status": "firing"})
    assert "acted 1 time" in preview(ada.get(f"{PATH}/{id}"))
    clock.advance(49 * 3600)
    ada = cast.signed_in("ada")
    assert "would never have acted" in preview(ada.get(f"{PATH}/{id}"))


def test_a_scheduled_set_has_no_replay(ada, sets):
    id = sets.set(match={"source": "schedule", "at": "2099-01-01T09:00:00", "timezone": "UTC"})
    assert ada.get(f"{PATH}/{id}").html.find(id="preview") is None
