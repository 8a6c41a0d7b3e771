"""View signals: the log with payloads, search, token filter, paging and live refresh."""

from __future__ import annotations

import json

import pytest

from tests.conftest import ADMIN
from tests.pages.page_reader import find_error, follow, form_to, heading, is_page, notice

ODD_JSON = (
    "{}",
    "[]",
    "null",
    "0",
    '""',
    '"text"',
    "false",
    "[1, [2, [3]]]",
    "12345678901234567890123",
    "0.1000",
    "[" * 64 + "]" * 64,
)


@pytest.fixture
def log(ada, endpoint):
    """`log(query)` returns the page of the endpoint."""

    def get(query="", **more):
        return ada.get(f"/admin/signals/{endpoint['id']}/log{query}", **more)

    return get


def rows(page):
    log_list = page.html.find("ol", class_="log")
    return log_list.find_all("li", recursive=False) if log_list else []


def payloads(page):
    return [json.loads(row.pre.get_text()) for row in rows(page)]


def test_empty_log_leads_to_the_setup(log, endpoint):
    page = log()
    assert heading(page) == "deploys"
    assert rows(page) == []
    link = page.html.find(class_="empty").a["href"]
    assert link == f"/admin/signals/{endpoint['id']}/setup"


def test_signal_shows_time_token_and_formatted_payload(log, endpoint, token, send):
    signal = send(endpoint, token, {"type": "deploy", "data": {"n": 1, "ok": True}})
    (row,) = rows(log())
    assert row.summary.time["datetime"] == signal["createdAt"]
    assert row.summary.time["title"].endswith(" UTC")
    assert row.summary.find(class_="tag").string == "ci"
    pretty = row.pre.get_text()
    assert json.loads(pretty) == {"type": "deploy", "data": {"n": 1, "ok": True}}
    assert '\n    "n": 1' in pretty
    assert row.details["id"] == f"signal-{signal['id']}"


def test_any_json_value_is_shown(log, web, clock, endpoint, token):
    for text in ODD_JSON:
        clock.advance(1)
        web.post(
            "/api/signal-endpoint/deploys",
            text,
            headers={"Authorization": token["token"]},
            content_type="application/json",
        )
    log_rows = rows(log())
    assert len(log_rows) == len(ODD_JSON)
    for row, text in zip(reversed(log_rows), ODD_JSON, strict=True):
        assert row.pre.get_text().replace(" ", "").replace("\n", "") == text.replace(" ", "")
        page = log("/" + row.details["id"].removeprefix("signal-"))
        assert page.html.find("pre").get_text().split() == row.pre.get_text().split()


def test_pages_of_twenty_lead_to_all_signals(log, ada, endpoint, token, send):
    for n in range(45):
        send(endpoint, token, {"n": n})
    page, all_numbers, sizes = log(), [], []
    while True:
        numbers = [payload["n"] for payload in payloads(page)]
        all_numbers, sizes = all_numbers + numbers, [*sizes, len(numbers)]
        older = page.html.find("a", string="Older →")
        if older is None:
            break
        page = log(older["href"])
    assert sizes == [20, 20, 5]
    assert all_numbers == list(range(44, -1, -1))
    page = log(page.html.find("a", string="← Newest")["href"])
    assert payloads(page)[0] == {"n": 44}
    assert not page.html.find("a", string="← Newest")


def test_full_last_page_has_no_older_link(log, endpoint, token, send):
    for n in range(20):
        send(endpoint, token, {"n": n})
    assert not log().html.find(class_="pager")


def test_new_signals_do_not_shift_older_pages(log, endpoint, token, send):
    for n in range(25):
        send(endpoint, token, {"n": n})
    older = log().html.find("a", string="Older →")["href"]
    send(endpoint, token, {"n": 25})
    assert [payload["n"] for payload in payloads(log(older))] == [4, 3, 2, 1, 0]


def test_search_finds_text_of_the_payload(log, endpoint, token, send):
    for word in ("Checkout", "billing", "checkOUT-eu"):
        send(endpoint, token, {"service": word})
    page = log("?query=checkout&token=")
    assert [p["service"] for p in payloads(page)] == ["checkOUT-eu", "Checkout"]
    assert page.html.find(id="query")["value"] == "checkout"
    assert len(rows(log(page.html.find("a", string="Clear")["href"]))) == 3


def test_search_matches_every_character_literally(log, endpoint, token, send):
    texts = ("100%", "a_b", "a\\\\b", "'; --", "é", "\U0001f600", "{{7*7}}", "<b>", '\\"')
    for text in texts:
        send(endpoint, token, {"v": json.loads(f'"{text}"')})
    send(endpoint, token, {"v": "100 aXb a/b 49"})
    for text in texts:
        page = log(params={"query": text})
        assert [p["v"] for p in payloads(page)] == [json.loads(f'"{text}"')], text
        assert page.html.find(id="query")["value"] == text


def test_search_without_a_match_shows_a_message(log, endpoint, token, send):
    send(endpoint, token, {"v": 1})
    page = log("?query=nowhere")
    assert "No signals match." in page.text
    assert rows(page) == []


def test_older_pages_keep_search_and_token(log, make, endpoint, token, send):
    other = make.token(endpoint, "other")
    for n in range(25):
        send(endpoint, token, {"n": n, "word": "a&b"})
        send(endpoint, other, {"n": n, "word": "a&b"})
    page = log(params={"query": "a&b", "token": token["id"]})
    assert len(rows(page)) == 20
    page = page.goto(page.html.find("a", string="Older →")["href"])
    assert [p["n"] for p in payloads(page)] == [4, 3, 2, 1, 0]
    assert page.html.find(id="query")["value"] == "a&b"
    selected = page.html.find(id="token").find("option", selected=True)
    assert selected.string == "ci"
    page = page.goto(page.html.find("a", string="← Newest")["href"])
    assert len(rows(page)) == 20


def test_token_filter_shows_one_sender(log, make, endpoint, token, send):
    other = make.token(endpoint, "other")
    send(endpoint, token, {"n": 1})
    send(endpoint, other, {"n": 2})
    form = log().forms[1]
    assert [option[2] for option in form["token"].options] == ["all", "ci", "other"]
    form["token"] = str(other["id"])
    assert payloads(form.submit(status=200)) == [{"n": 2}]


def test_signals_of_other_endpoints_are_not_listed(log, make, endpoint, token, send):
    other = make.endpoint("other")
    send(other, make.token(other), {"n": "elsewhere"})
    assert "elsewhere" not in log().text
    assert rows(log("?query=elsewhere")) == []


def test_invalid_query_is_a_400_page(log):
    for query in ("before=x", "before=0", "token=x", "token=-1", "limit=0", "a=%FF", "query=%00"):
        assert is_page(log(f"?{query}", status=400)), query


def test_query_without_matches_is_no_error(log, endpoint, token, send):
    send(endpoint, token, {})
    for query, expected in (("?token=999999", 0), ("?before=1", 0), ("?token=&query=+", 1)):
        assert len(rows(log(query, status=200))) == expected, query


def test_only_the_newest_page_refreshes_automatically(log, endpoint, token, send):
    for n in range(21):
        send(endpoint, token, {"n": n})
    page = log()
    refresh = page.html.head.noscript.find("meta", attrs={"http-equiv": "refresh"})
    assert int(refresh["content"]) >= 5
    assert page.html.find(id="signals").has_attr("data-live")
    for query in ("?query=n", page.html.find("a", string="Older →")["href"]):
        page = log(query)
        assert not page.html.head.find("noscript")
        assert not page.html.find(id="signals").has_attr("data-live")


def test_automatic_refresh_can_be_paused(log, endpoint, token, send):
    """WCAG 2.2.2: automatic updates can be paused; also without JavaScript."""
    send(endpoint, token, {})
    page = log()
    controls = page.html.find("main").find_all(["a", "button"])
    assert any("pause" in c.get_text().lower() or "stop" in c.get_text().lower() for c in controls)


def test_long_payload_is_truncated_and_links_to_the_signal(log, ada, endpoint, token, send):
    signal = send(endpoint, token, {"text": "x" * 60_000, "zz": "end"})
    (row,) = rows(log())
    assert len(row.get_text()) < 21_000
    assert "Payload truncated" in row.get_text()
    link = row.find("a")["href"]
    assert link == f"/admin/signals/{endpoint['id']}/log/{signal['id']}"
    page = ada.get(link)
    assert json.loads(page.html.find("pre").get_text())["zz"] == "end"


def test_signal_has_its_own_page(log, endpoint, token, send):
    signal = send(endpoint, token, {"n": 1})
    page = log(f"/{signal['id']}")
    assert heading(page) == f"Signal {signal['id']}"
    terms = {row.dt.string: row.dd.get_text(strip=True) for row in page.html.dl.find_all("div")}
    assert terms["Token"] == "ci"
    assert terms["Size"] == "8 bytes"
    assert page.html.time["datetime"] == signal["createdAt"]


def test_deeply_nested_payloads_do_not_make_the_page_large(log, web, endpoint, token, clock):
    """Formatting makes 100 kB of nested lists many megabytes, which is too large for a page."""
    depth = 60
    body = "[" * depth + ",".join(["1"] * 50_000) + "]" * depth
    for _ in range(3):
        clock.advance(1)
        web.post(
            "/api/signal-endpoint/deploys",
            body,
            headers={"Authorization": token["token"]},
            content_type="application/json",
        )
    assert len(log().body) < 200_000


def test_log_of_a_disabled_endpoint_is_readable(log, web, endpoint, token, send):
    send(endpoint, token, {"n": 1})
    web.post(f"/api/admin/signal-endpoints/{endpoint['id']}/off", headers=ADMIN)
    assert payloads(log()) == [{"n": 1}]


def test_signal_shows_its_outcomes(log, sets, endpoint, token, send):
    matches = {"path": "n", "operator": "IN", "values": ["1"]}
    sets.set("runs", filters=[matches])
    sets.set("waits", filters=[matches], options={"latch": True})
    sets.set("sleeps", filters=[{"any": [{"path": "x", "operator": "EXISTS"}]}])
    signals = [send(endpoint, token, {"n": n})["id"] for n in (1, 1, 2)]
    assert "Processing" in log().text
    sets.work()
    last, second, first = (" ".join(row.get_text(" ").split()) for row in rows(log()))
    assert "runs in default : succeeded" in first
    assert "waits in default : succeeded" in first
    assert "waits in default : skipped Run" in second
    assert "It runs once and has run" in second
    assert "runs in default : not matched n is 2, not 1" in last
    assert "sleeps in default : not matched no filter of an OR group matched" in last
    page = log(f"/{signals[2]}").html.find("main").get_text(" ", strip=True)
    assert "What it did Nothing." in page
    assert "It turned off 1 flag." in log(f"/{signals[0]}").text


def test_signals_of_one_alert_in_a_row_are_one(log, endpoint, token, send):
    for name, status in (("A", "firing"), ("A", "firing"), ("B", "firing"), ("A", "firing")):
        send(endpoint, token, {"alertname": name, "status": status})
    texts = [" ".join(row.summary.get_text(" ").split()) for row in rows(log())]
    assert [text.rpartition("ci ")[2] for text in texts] == [
        "firing alertname : A status : firing –",
        "firing alertname : B status : firing –",
        "firing alertname : A status : firing 2 times –",
    ]
    assert len(rows(log())[2].select(".actions a")) == 2


def test_signal_that_triggered_no_set_shows_a_message(log, endpoint, token, send):
    page = log(f"/{send(endpoint, token, {})['id']}")
    assert "no automation uses this endpoint" in page.html.find("main").get_text()


def test_user_sends_a_test_signal_and_replays_it(ada, log, flags, sets, endpoint):
    sets.set()
    page = ada.get(f"/admin/signals/{endpoint['id']}/setup")
    assert "kill checkout" in page.html.find("main").get_text()
    page = follow(page, "Send another payload")
    assert "kill checkout" in page.html.find("main").get_text()
    form = form_to(page, f"/admin/signals/{endpoint['id']}/send")
    for text, status in (("{", 400), ("", 400), ("[1] x", 400), ("1" * 102_401, 413)):
        form["payload"] = text
        page = form.submit(status=status)
        assert find_error(page, "payload")
        assert form_to(page, form.action)["payload"].value == text
    form["payload"] = '{"n": 1.50}'
    page = form.submit(status=303).follow()
    assert notice(page) == "Test signal sent."
    assert page.html.find("pre").get_text().split() == ["{", '"n":', "1.50", "}"]
    sets.work()
    assert not flags.is_on()
    page = form_to(page, page.request.path + "/replay").submit().follow()
    assert "Replay of" in page.html.find("main").get_text()
    assert [row.find(class_="tag").get_text() for row in rows(log())] == ["sent by ada"] * 2


def test_disabled_endpoint_rejects_test_signals(ada, web, endpoint, token, send):
    id = send(endpoint, token, {})["id"]
    web.post(f"/api/admin/signal-endpoints/{endpoint['id']}/off", headers=ADMIN)
    fields, at = {"csrf": ada.csrf, "payload": "1"}, f"/admin/signals/{endpoint['id']}"
    assert "disabled" in find_error(ada.post(f"{at}/send", fields, status=409), "payload")
    assert is_page(ada.post(f"{at}/log/{id}/replay", fields, status=409))


def test_filter_by_a_value_at_a_path(log, endpoint, token, send):
    for team in ("shop", "web"):
        send(endpoint, token, {"alerts": [{"team": team, "n": 1}]})
    page = log(params={"path": "alerts[*].team", "value": "shop"})
    assert [payload["alerts"][0]["team"] for payload in payloads(page)] == ["shop"]
    assert page.html.find(id="path")["value"] == "alerts[*].team"
    assert page.html.find("form", role="search").details.has_attr("open")
    assert not log().html.find("form", role="search").details.has_attr("open")


def test_filter_by_status_severity_and_day(log, endpoint, token, send):
    for status, severity in (("firing", "page"), ("firing", "info"), ("resolved", "page")):
        send(endpoint, token, {"status": status, "severity": severity})
    query = {"status": "firing", "severity": "critical", "from": "2026-01-01", "to": "9000-01-01"}
    page = log(params=query)
    assert payloads(page) == [{"status": "firing", "severity": "page"}]
    assert payloads(log(params={"to": "2020-01-01"})) == []


def test_invalid_path_is_shown_beside_its_field(log, endpoint, token, send):
    send(endpoint, token, 1)
    page = log(params={"path": "a..b", "value": "x"}, status=400)
    field = page.html.find(id="path")
    assert (field["value"], field["aria-invalid"]) == ("a..b", "true")
    assert page.html.find(id=field["aria-describedby"]).get_text().startswith("The path must")
    assert page.html.find("title").get_text().startswith("Problem: ")
    assert rows(page) == []


def test_export_links_have_the_filter(ada, log, endpoint, token, send):
    for n in range(2):
        send(endpoint, token, {"n": n, "status": "firing" if n else "resolved"})
    page = log(params={"token": token["id"], "path": "n", "to": "9000-01-01"})
    links = {
        a.get_text(): a["href"] for a in page.html.main.find_all("a") if "/export" in a["href"]
    }
    assert set(links) == {"CSV", "NDJSON"}
    assert len(ada.get(links["NDJSON"]).text.splitlines()) == 2
    link = log(params={"status": "firing"}).html.find("a", string="NDJSON")
    assert [
        json.loads(line)["payload"]["n"] for line in ada.get(link["href"]).text.splitlines()
    ] == [1]


def test_the_magnifying_glass_of_a_value_lists_the_signals_that_have_it(ada, endpoint, token, send):
    signal = send(endpoint, token, {"labels": {"team": "pay"}})
    send(endpoint, token, {"labels": {"team": "web"}})
    page = ada.get(f"/admin/signals/{endpoint['id']}/log/{signal['id']}")
    (link,) = page.html.select(".tree a")
    page = page.goto(link["href"])
    assert payloads(page) == [{"labels": {"team": "pay"}}]
    chips = [chip.bdi.get_text() for chip in page.html.select(".tags a:has(bdi)")]
    assert chips == ["Path: labels.team", "Value: pay"]


def test_the_chip_of_a_path_removes_its_value(log, endpoint, token, send):
    send(endpoint, token, {"n": 1})
    page = log("?path=n&value=1&status=firing")
    assert rows(page) == []
    (chip,) = (a for a in page.html.select(".tags a") if "Path" in a.get_text())
    assert chip["href"] == "?status=firing"


def test_urls_of_a_signal_open_and_nothing_else_does(ada, endpoint, token, send):
    urls = ["https://runbooks.example/cpu?a=1#b", "HTTP://am.example:9093"]
    others = ["javascript:alert(1)", "ftp://a.example/", "https://", "https:///x", "http://a b/"]
    others += [
        "see https://a.example/",
        "https://a.example/\u202e",
        "//a.example/",
        f"https://a.example/{'x' * 500}",
    ]
    signal = send(endpoint, token, {"runbook_url": urls[0], "more": [*urls[1:], *others]})
    page = ada.get(f"/admin/signals/{endpoint['id']}/log/{signal['id']}")
    links = [link for link in page.html.select(".tree a") if "find" not in link.get("class", [])]
    assert [link["href"] for link in links] == urls
    assert {link["rel"][0] for link in links} == {"noreferrer"}


def test_the_summary_of_a_signal_links_its_urls(ada, web, make, send):
    summary = [{"label": "Runbook", "path": "url"}]
    endpoint = make.endpoint(options={"summary": summary})
    signal = send(endpoint, make.token(endpoint), {"url": "https://runbooks.example/cpu"})
    page = ada.get(f"/admin/signals/{endpoint['id']}/log/{signal['id']}")
    assert page.html.dl.find("a")["href"] == "https://runbooks.example/cpu"
