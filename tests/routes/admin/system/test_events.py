"""The admin API of the audit log."""

from __future__ import annotations

import csv
import io
import json

import pytest

from sigservice.services.system import event_export
from tests.conftest import ADMIN

FLAGS = "/api/admin/projects/default/features"
SEARCH = "/api/admin/search/events"


@pytest.fixture
def history(web):
    """Two flags, one of them enabled in production."""
    web.post_json(FLAGS, {"name": "checkout", "description": "Needle"}, headers=ADMIN)
    web.post_json(FLAGS, {"name": "other"}, headers=ADMIN)
    web.post(f"{FLAGS}/checkout/environments/production/on", headers=ADMIN)


def types(answer):
    return [event["type"] for event in answer.json["events"]]


@pytest.mark.usefixtures("history")
def test_events_of_a_flag_are_listed(web, cast):
    answer = cast.signed_in("vera").get("/api/admin/events/checkout")
    assert types(answer) == [
        "feature-environment-enabled",
        "feature-strategy-add",
        "feature-created",
    ]
    assert answer.json["toggleName"] == "checkout"
    event = answer.json["events"][0]
    assert event["environment"] == "production"
    assert event["createdByUserId"] == -42
    assert web.get("/api/admin/events/unknown", headers=ADMIN).json["events"] == []


QUERIES = {
    "feature=IS:other": ["feature-created"],
    "feature=IS_ANY_OF:other,checkout&type=IS:feature-created": ["feature-created"] * 2,
    "environment=IS:production": ["feature-environment-enabled", "feature-strategy-add"],
    "query=nEEdle": ["feature-created"],
    "project=IS:default&limit=1": ["feature-environment-enabled"],
    "project=IS:default&limit=1&offset=1": ["feature-strategy-add"],
    "createdBy=IS:nobody": [],
    "to=IS:2020-01-01": [],
}


@pytest.mark.usefixtures("history")
def test_a_search_has_filters(web):
    results = {query: types(web.get(f"{SEARCH}?{query}", headers=ADMIN)) for query in QUERIES}
    assert results == QUERIES


@pytest.mark.usefixtures("history")
def test_a_search_has_the_total_of_all_pages(web):
    totals = {
        "project=IS:default": 4,
        "environment=IS:production": 2,
        "feature=IS:other": 1,
        "to=IS:2020-01-01": 0,
    }
    for query, total in totals.items():
        for page in ("limit=1", "limit=1&offset=1"):
            assert web.get(f"{SEARCH}?{query}&{page}", headers=ADMIN).json["total"] == total, query


@pytest.mark.usefixtures("history")
def test_a_list_pages_by_key(web):
    first = web.get(f"{SEARCH}?project=IS:default&limit=3", headers=ADMIN).json
    assert first["searchedToEnd"] is True
    path = f"{SEARCH}?project=IS:default&before={first['nextBefore']}"
    second = web.get(path, headers=ADMIN)
    assert types(second) == ["feature-created"]
    assert second.json["nextBefore"] is None


@pytest.mark.usefixtures("history")
def test_a_search_stops_at_its_window_and_continues_from_there(web, monkeypatch):
    monkeypatch.setattr("sigservice.repository.system.events.SEARCH_ROWS", 3)
    path = f"{SEARCH}?feature=IS_ANY_OF:checkout,other&query=needle"
    first = web.get(path, headers=ADMIN).json
    assert (first["events"], first["total"], first["searchedToEnd"]) == ([], 0, False)
    second = web.get(f"{path}&before={first['nextBefore']}", headers=ADMIN)
    assert types(second) == ["feature-created"]
    assert (second.json["total"], second.json["searchedToEnd"]) == (1, True)
    assert second.json["nextBefore"] is None


@pytest.fixture
def everything(alerts, web):
    """Events of a project that only admins may read: of a token and of an action set."""
    web.post_json(FLAGS, {"name": "mine", "description": "Needle"}, headers=ADMIN)
    token = {"type": "client", "tokenName": "needle-token", "projects": ["default"]}
    web.post_json("/api/admin/api-tokens", token, headers=ADMIN)
    body = alerts.body(name="needle-set")
    web.post_json("/api/admin/projects/default/actions", body, headers=ADMIN)


FOR_ADMINS = {
    "api-token-created", "actions-created", "user-created", "service-account-created",
    "signal-endpoint-created", "signal-endpoint-token-created",
}  # fmt: skip


@pytest.mark.usefixtures("everything")
@pytest.mark.parametrize("name", ["vera", "ed"])
def test_events_of_tokens_users_signals_and_actions_are_for_admins(web, cast, name):
    browser = cast.signed_in(name)
    assert set(types(web.get(SEARCH, headers=ADMIN))) >= FOR_ADMINS
    answer = browser.get(SEARCH)
    assert {type.split("-")[0] for type in types(answer)} == {"feature"}
    assert answer.json["total"] == len(types(answer))
    for type in FOR_ADMINS:
        assert browser.get(f"{SEARCH}?type=IS:{type}").json["total"] == 0
    assert types(browser.get("/api/admin/events")) == types(answer)


@pytest.mark.usefixtures("everything")
@pytest.mark.parametrize(
    ("query", "count"), [("needle-token", 1), ("needle-set", 1), ("needle", 3)]
)
def test_a_search_finds_no_event_that_the_user_may_not_read(web, cast, query, count):
    assert web.get(f"{SEARCH}?query={query}", headers=ADMIN).json["total"] == count
    result = cast.signed_in("vera").get(f"{SEARCH}?query={query}").json
    readable = ["feature-created"] if query == "needle" else []
    assert (result["total"], result["totalEvents"]) == (len(readable), len(readable))
    assert [event["type"] for event in result["events"]] == readable


@pytest.mark.parametrize("path", [SEARCH, "/api/admin/events/mine"])
def test_ip_addresses_are_for_admins(web, cast, path):
    ed = cast.signed_in("ed")
    here = {"REMOTE_ADDR": "192.0.2.9"}
    headers = {"X-CSRF-Token": ed.csrf}
    ed.post_json(FLAGS, {"name": "mine"}, headers=headers, extra_environ=here)
    addresses = [e["ip"] for e in web.get(path, headers=ADMIN).json["events"]]
    assert addresses[0] == "192.0.2.9"
    answer = ed.get(path)
    assert [e["ip"] for e in answer.json["events"]] == [None]
    assert "192.0.2.9" not in answer.text
    assert ed.get(f"{SEARCH}?query=192.0.2.9").json["total"] == 0


@pytest.mark.parametrize(
    "query", ["type=x", "type=IS:", "type=IS_ANY_OF:,", "from=2020", "limit=0", "before=-1"]
)
def test_an_invalid_filter_is_rejected(web, query):
    answer = web.get(f"{SEARCH}?{query}", headers=ADMIN, status=400)
    assert answer.json["details"][0]["path"] == query.partition("=")[0]


def export(api, query="", **more):
    """The rows of the file as {column: text}."""
    answer = api.get(f"{SEARCH}/export?{query}", **more)
    if answer.content_type == "text/csv":
        return list(csv.DictReader(io.StringIO(answer.text, newline="")))
    return [json.loads(line) for line in answer.text.splitlines()]


@pytest.mark.usefixtures("history")
@pytest.mark.parametrize("format", event_export.FORMATS)
def test_an_export_has_every_part_and_all_that_match(web, monkeypatch, format):
    monkeypatch.setattr(event_export, "PART_ROWS", 1)
    query = f"format={format}&feature=IS:checkout"
    rows = export(web, query, headers=ADMIN)
    assert [row["type"] for row in rows] == [
        "feature-environment-enabled",
        "feature-strategy-add",
        "feature-created",
    ]


@pytest.mark.usefixtures("history")
def test_an_export_as_csv_has_a_sentence(web):
    row = export(web, "format=csv&type=IS:feature-environment-enabled", headers=ADMIN)[0]
    expected = ("API token admin", "turned checkout on in production")
    assert (row["createdBy"], row["summary"]) == expected


@pytest.mark.usefixtures("history")
def test_an_export_for_a_viewer_has_only_events_of_flags(web, cast):
    vera = cast.signed_in("vera")
    rows = export(vera, "format=csv")
    assert {row["type"].split("-")[0] for row in rows} <= {"feature", "features", "project"}
    assert {row["ip"] for row in rows} == {""}


@pytest.mark.parametrize("query", ["format=xml", "type=x", "from=2026"])
def test_an_invalid_parameter_of_an_export_is_named(web, query):
    answer = web.get(f"{SEARCH}/export?{query}", headers=ADMIN, status=400)
    assert answer.json["details"][0]["path"] == query.split("=")[0]
