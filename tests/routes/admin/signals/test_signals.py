"""Lists of signals: order, paging, search, token filter, dates, permissions."""

from __future__ import annotations

import gzip
import json

import pytest
import webob

from sigservice.repository.signals import signals as repository
from tests.conftest import ADMIN
from tests.routes.admin.signals.test_signal_endpoints import PATH


@pytest.fixture
def send(web, make, clock):
    """`send(payload, token)` returns the ID; `send.path` lists the signals of the endpoint."""
    endpoint = make.endpoint(description="CI")
    tokens = {name: make.token(endpoint, name) for name in ("ci", "other")}

    def send(payload, token="ci"):
        clock.advance(1)
        headers = {"Authorization": tokens[token]["token"]}
        answer = web.post(
            "/api/signal-endpoint/deploys",
            json.dumps(payload),
            headers=headers,
            content_type="application/json",
        )
        return answer.json["signals"][0]["id"]

    send.path, send.tokens, send.endpoint = f"{PATH}/{endpoint['id']}/signals", tokens, endpoint
    return send


@pytest.fixture
def page(web, send):
    """`page(**query)` returns the IDs and the JSON of the list of the endpoint."""

    def page(**query):
        answer = web.get(send.path, query, headers=ADMIN).json
        return [row["id"] for row in answer["signalEndpointSignals"]], answer

    return page


def test_signals_are_listed_newest_first_with_all_fields(web, send, page):
    ids = [send({"n": n}) for n in range(3)]
    rows, answer = page()
    assert rows == ids[::-1]
    first = answer["signalEndpointSignals"][0]
    assert set(first) == {
        *("id", "source", "sourceId", "createdAt", "payload", "tokenName", "sentBy", "replayOf"),
        *("summary", "status", "severity"),
    }
    assert (first["sentBy"], first["replayOf"]) == (None, None)
    assert first["tokenName"] == "ci"
    assert first["source"] == "signal-endpoint"
    assert first["sourceId"] == send.endpoint["id"]
    assert web.get(f"{send.path}/{ids[0]}", headers=ADMIN).json["payload"] == {"n": 0}


def test_pages_by_key_and_by_offset_are_equal(send, page):
    ids = [send(n) for n in range(5)][::-1]
    first, answer = page(limit=2)
    assert first == ids[:2]
    second, answer = page(limit=2, before=answer["nextBefore"])
    assert second == ids[2:4] == page(limit=2, offset=2)[0]
    third, answer = page(limit=2, before=answer["nextBefore"])
    assert third == ids[4:]
    assert answer["nextBefore"] is None


@pytest.mark.parametrize(
    "query",
    [
        "limit=0",
        "limit=1001",
        "limit=x",
        "limit=-1",
        "limit=1e3",
        "offset=-1",
        "before=0",
        "before=abc",
        "limit=%D9%A1",
        "tokenId=x",
        "limit=%00",
        "limit=%FF",
        "offset=99999999999999999999",
    ],
)
def test_bad_paging_is_400(web, send, query):
    answer = web.get(f"{send.path}?{query}", headers=ADMIN, status=400)
    assert answer.json["name"] == "BadDataError"


def test_search_covers_the_whole_payload(send, page):
    hit = send({"labels": {"severity": "Critical"}})
    send({"labels": {"severity": "low"}})
    assert page(query="critical")[0] == [hit]
    rows, answer = page(query="nothing")
    assert rows == []
    assert answer["searchedToEnd"] is True


@pytest.mark.parametrize("text", ["100%", "a_b", "back\\\\slash", "'", '"quoted', "%s", "é"])
def test_search_matches_every_character_literally(send, page, text):
    send({"text": "harmless aXb"})
    hit = send(text)
    fragment = json.dumps(text, ensure_ascii=False)[1:-1]
    assert page(query=fragment)[0] == [hit]


def test_search_pages_by_key(send, page):
    ids = [send({"n": n, "hit": n % 2 == 0}) for n in range(6)]
    first, answer = page(query='"hit": true', limit=2)
    assert first == [ids[4], ids[2]]
    assert page(query='"hit": true', limit=2, before=answer["nextBefore"])[0] == [ids[0]]


def test_search_stops_at_its_window_and_continues_from_there(send, page, monkeypatch):
    ids = [send({"n": n}) for n in range(6)]
    monkeypatch.setattr(repository, "SEARCH_WINDOW", repository.SearchWindow(4, 1000))
    rows, answer = page(query='"n": 0')
    assert (rows, answer["searchedToEnd"], answer["nextBefore"]) == ([], False, ids[2])
    rows, answer = page(query='"n": 0', before=answer["nextBefore"])
    assert (rows, answer["searchedToEnd"]) == ([ids[0]], True)


def test_token_filter(send, page):
    send(1)
    other = send(2, "other")
    assert page(tokenId=send.tokens["other"]["id"])[0] == [other]
    assert page(tokenId=send.tokens["other"]["id"], query="2")[0] == [other]
    assert page(tokenId=999_999)[0] == []


def test_signal_is_found_only_in_its_endpoint(web, send, make):
    id = send(1)
    other = make.endpoint("second")
    web.get(f"{PATH}/{other['id']}/signals/{id}", headers=ADMIN, status=404)
    web.get(f"{send.path}/999999999", headers=ADMIN, status=404)


def test_list_of_all_endpoints_has_sources_and_a_total(web, send, make):
    send(1)
    endpoint = make.endpoint("second")
    token = make.token(endpoint)
    web.post("/api/signal-endpoint/second", headers={"Authorization": token["token"]})
    answer = web.get("/api/admin/signals", headers=ADMIN).json
    assert answer["total"] == 2
    assert [row["sourceName"] for row in answer["signals"]] == ["second", "deploys"]
    assert answer["signals"][1]["sourceDescription"] == "CI"
    limited = web.get("/api/admin/signals?limit=1&offset=1", headers=ADMIN).json
    assert [row["sourceName"] for row in limited["signals"]] == ["deploys"]
    assert limited["total"] == 2


def test_dates_are_whole_days_and_inclusive(web, send, database):
    ids = [send(n) for n in range(3)]
    with database.connect() as conn, conn.cursor() as cursor:
        days = ("2026-03-01 23:59:59.9", "2026-03-02 12:00", "2026-03-03 00:00")
        for id, day in zip(ids, days, strict=True):
            cursor.execute("UPDATE signals SET created_at = %s WHERE id = %s", (f"{day}Z", id))

    def rows(query):
        rows = web.get(f"/api/admin/signals?{query}", headers=ADMIN).json["signals"]
        return [row["id"] for row in rows]

    assert rows("from=IS:2026-03-02") == [ids[2], ids[1]]
    assert rows("to=IS:2026-03-02") == [ids[1], ids[0]]
    assert rows("from=IS:2026-03-02&to=IS:2026-03-02") == [ids[1]]


@pytest.mark.parametrize(
    "query",
    ["from=2026-01-01", "from=IS:2026-13-01", "to=IS:x", "to=IS:9999-12-31", "to=IS:0000-01-01"],
)
def test_bad_dates_are_400(web, query):
    answer = web.get(f"/api/admin/signals?{query}", headers=ADMIN, status=400)
    assert answer.json["details"][0]["path"] in ("from", "to")


@pytest.mark.parametrize("name", ["vera", "ed"])
def test_only_admins_read_payloads(cast, send, web, name):
    send({"secret": "hunter2"})
    browser = cast.signed_in(name)
    for path in ("/api/admin/signals", send.path):
        refused = browser.get(path, status=403)
        assert refused.json["permissions"] == ["ADMIN"]
        assert "hunter2" not in refused.text
    web.get("/api/admin/signals", status=401)


def test_only_large_responses_are_compressed(service, send):
    send({"text": "x" * 5000})

    def answer(path, accepted):
        headers = ADMIN | {"Accept-Encoding": accepted}
        return webob.Request.blank(path, headers=headers).get_response(service.app)

    large = answer("/api/admin/signals", "br, gzip")
    assert large.headers["Content-Encoding"] == "gzip"
    assert large.headers["Vary"] == "Accept-Encoding"
    assert json.loads(gzip.decompress(large.body))["total"] == 1
    assert "Content-Encoding" not in answer("/health", "gzip").headers
    assert "Content-Encoding" not in answer("/api/admin/signals", "gzip;q=0, br").headers


def test_page_with_large_payloads_ends_early(send, page, monkeypatch, web):
    ids = [send({"text": "x" * 1000}) for _ in range(5)][::-1]
    monkeypatch.setattr("sigservice.repository.signals.signals.PAGE_BYTES", 1500)
    first, answer = page()
    assert first == ids[:2]
    second, answer = page(before=answer["nextBefore"])
    assert second == ids[2:4] == page(offset=2)[0]
    third, answer = page(before=answer["nextBefore"])
    assert (third, answer["nextBefore"]) == (ids[4:], None)
    across = web.get("/api/admin/signals", headers=ADMIN).json
    assert ([row["id"] for row in across["signals"]], across["total"]) == (ids[:2], 5)
    assert page(tokenId=send.tokens["ci"]["id"])[0] == ids[:2]


def test_user_sends_a_signal_and_replays_it(web, send, page):
    at = f"{PATH}/{send.endpoint['id']}"
    payload = {"n": 12345678901234567890123, "é": [1.5, None]}
    signal = web.post_json(
        f"{at}/test-signal", {"payload": payload}, headers=ADMIN, status=201
    ).json
    assert (signal["payload"], signal["tokenName"], signal["replayOf"]) == (payload, None, None)
    assert signal["sentBy"]
    replayed = web.post(f"{at}/signals/{signal['id']}/replay", headers=ADMIN, status=201).json
    assert (replayed["payload"], replayed["replayOf"]) == (payload, signal["id"])
    assert page()[0] == [replayed["id"], signal["id"]]
    assert page(query="12345678901234567890123")[1]["signalEndpointSignals"] == [replayed, signal]
    events = web.get("/api/admin/events?type=signal-sent", headers=ADMIN).json["events"]
    assert [e["data"]["replayOf"] for e in events] == [signal["id"], None]
    across = web.get("/api/admin/signals", headers=ADMIN).json["signals"]
    assert [row["sentBy"] for row in across] == [signal["sentBy"]] * 2


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ("{}", 400),
        ("[]", 400),
        ('{"payload": NaN}', 400),
        ('{"payload": "\\u0000"}', 400),
        ('{"payload": ' + "[" * 65 + "]" * 65 + "}", 400),
        ('{"payload": "' + "x" * 102_399 + '"}', 413),
    ],
)
def test_invalid_test_signal_is_rejected(web, send, page, body, status):
    at = f"{PATH}/{send.endpoint['id']}/test-signal"
    web.post(at, body, headers=ADMIN, content_type="application/json", status=status)
    assert page()[0] == []


def test_disabled_endpoint_and_editors_reject_test_signals(web, cast, send):
    at, id = f"{PATH}/{send.endpoint['id']}", send({"n": 1})
    ed = cast.signed_in("ed")
    csrf = {"X-CSRF-Token": ed.csrf}
    ed.post_json(f"{at}/test-signal", {"payload": 1}, headers=csrf, status=403)
    ed.post(f"{at}/signals/{id}/replay", headers=csrf, status=403)
    web.post(f"{at}/signals/999999/replay", headers=ADMIN, status=404)
    web.post(f"{at}/off", headers=ADMIN)
    web.post_json(f"{at}/test-signal", {"payload": 1}, headers=ADMIN, status=409)
    web.post(f"{at}/signals/{id}/replay", headers=ADMIN, status=409)
