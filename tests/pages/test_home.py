"""The home page: recent signals and first steps."""

from __future__ import annotations

import contextlib
import re

import pytest

from tests.conftest import ADMIN
from tests.pages.page_reader import follow, form_to, heading


def rows(page):
    """The recent signals."""
    return list_rows(page, "signals")


def list_rows(page, id):
    section = page.html.find(id=id)
    return section.find_all("li") if section else []


def texts(page, id):
    return [" ".join(row.get_text(" ").split()) for row in list_rows(page, id)]


def test_an_admin_can_create_an_endpoint(ada):
    page = ada.get("/")
    assert heading(page) == "Home"
    assert page.html.find("main").find("a", href="/admin/signals/new")


def test_a_viewer_is_referred_to_an_admin(vera):
    page = vera.get("/")
    assert "Create a signal endpoint – ask an admin" in texts(page, "first-steps")
    assert not page.html.find("a", href="/admin/signals/new")


def test_endpoint_without_signals_has_no_rows(ada, endpoint):
    assert "No signals yet." in ada.get("/").html.find(id="signals").get_text()


@pytest.mark.parametrize("name", ["vera", "ed"])
def test_payloads_and_tokens_are_shown_to_admins_only(cast, endpoint, token, send, name):
    send(endpoint, token, {"secret": "hunter2"})
    page = cast.signed_in(name).get("/")
    (row,) = rows(page)
    assert endpoint["name"] in row.get_text()
    for text in ("hunter2", token["name"]):
        assert text not in page.html.find("main").get_text()
    assert not row.find("a")


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


def test_a_signal_without_a_token_shows_who_sent_it(ada, endpoint):
    path = f"/admin/signals/{endpoint['id']}/send"
    form_to(ada.get(path), path).submit(status=303)
    text = rows(ada.get("/"))[0].get_text()
    assert "sent by" in text
    assert "deleted token" not in text


def test_signals_of_a_deleted_endpoint_are_gone(ada, web, make, endpoint, token, send):
    send(endpoint, token, {"secret": 1})
    make.endpoint("other")
    web.delete(f"/api/admin/signal-endpoints/{endpoint['id']}", headers=ADMIN)
    assert rows(ada.get("/")) == []


def test_a_long_payload_is_shortened(ada, endpoint, token, send):
    send(endpoint, token, {"text": "x" * 50_000})
    page = ada.get("/")
    assert len(page.text) < 10_000


def test_the_first_steps_tick_themselves(ada, web, endpoint, token, send, sets):
    def list_open():
        section = ada.get("/").html.find(id="first-steps")
        return [link.string for link in section.ol.find_all("a")] if section else []

    assert list_open() == [
        "Create an API token for your application",
        "Connect an SDK",
        "Send a signal",
        "Create an action set that a signal triggers",
    ]
    body = {"tokenName": "app", "type": "client", "environment": "production", "projects": ["*"]}
    secret = web.post_json("/api/admin/api-tokens", body, headers=ADMIN).json["secret"]
    report = {"appName": "shop", "instanceId": "1", "started": 0, "interval": 0, "strategies": []}
    web.post_json("/api/client/register", report, headers={"Authorization": secret})
    assert list_open() == ["Send a signal", "Create an action set that a signal triggers"]
    send(endpoint, token, {})
    sets.set("kill")
    assert not ada.get("/").html.find(id="first-steps")


def test_changes_are_listed_by_who_did_what(ada, vera, flags):
    flags.create_flag()
    flags.switch()
    for browser in (ada, vera):
        assert texts(browser.get("/"), "changes")[0].endswith(
            "API token admin enabled checkout in production"
        )


def test_a_viewer_sees_only_changes_of_flags(vera, endpoint, flags):
    flags.create_flag()
    page = vera.get("/")
    assert "deploys" not in page.html.find(id="changes").get_text()
    assert "No runs yet." in page.html.find(id="runs").get_text()


REVERTS = {
    "restoreWhenResolved": {"path": "status", "values": ["resolved"], "key": "id"},
}


def test_an_alert_that_keeps_a_flag_disabled_leads_to_its_history_and_its_undo(
    ada, flags, endpoint, token, send, sets
):
    set_id = sets.set("kill", options=REVERTS)
    send(endpoint, token, {"status": "firing", "id": "cpu"})
    sets.work()
    (run,) = sets.runs(set_id)
    page = ada.get("/")
    (text,) = texts(page, "alerts")
    assert "disabled checkout in production by run" in text
    assert "cpu" in text
    assert "firing" in text
    links = [link["href"] for link in list_rows(page, "alerts")[0].find_all("a")]
    path = f"/admin/projects/default/actions/{set_id}/runs/{run['id']}"
    signal = f"/admin/signals/{endpoint['id']}/log/{run['signalId']}"
    assert links == ["/admin/features/checkout", path, signal, f"{path}/undo"]
    assert ada.get(links[0]).html.find(id="events")
    undo = ada.get(links[3])
    form_to(undo, links[3]).submit(status=303)
    sets.work()
    page = ada.get("/")
    assert texts(page, "alerts") == []
    quiet = " ".join(page.html.find(id="quiet").get_text().split())
    assert quiet == "✓ Nothing needs you. Last alert just now"


@pytest.mark.parametrize("name", ["ada", "vera"])
def test_the_last_alert_is_one_of_the_recent_signals_too(cast, endpoint, token, send, name):
    send(endpoint, token, {"status": "resolved", "id": "cpu"})
    browser = cast.signed_in(name)
    assert "Last alert" not in browser.get("/").html.find(id="quiet").get_text()
    send(endpoint, token, {"status": "firing", "id": "cpu"})
    assert "Last alert\njust now" in browser.get("/").html.find(id="quiet").get_text()


def test_alerts_are_refreshed_unless_the_user_pauses(ada, flags, sets, endpoint, token, send):
    sets.set("kill", options=REVERTS)
    send(endpoint, token, {"status": "firing", "id": "cpu"})
    sets.work()
    page = ada.get("/")
    assert page.html.find(id="alerts").find_parent(attrs={"data-live": True})
    page = follow(page, "Pause")
    assert not page.html.find(attrs={"data-live": True})
    assert 'http-equiv="refresh"' not in page.text
    assert follow(page, "Resume").html.find(attrs={"data-live": True})


def test_users_without_admin_see_which_alert_keeps_a_flag_without_its_payload(
    cast, flags, endpoint, token, send, sets
):
    sets.set("kill", options=REVERTS)
    send(endpoint, token, {"status": "firing", "id": "cpu"})
    sets.work()
    for path, id in (("/", "alerts"), ("/admin/features/checkout", "in-production")):
        section = cast.signed_in("vera").get(path).html.find(id=id)
        text = " ".join(section.get_text(" ").split())
        assert re.search("[Dd]isabled .* of kill", text), path
        assert "cpu" not in text, path
        assert section.find("a", href=re.compile("/runs/")), path
        assert not section.find("a", href=re.compile("/undo|/signals/")), path


def test_the_page_of_a_flag_says_that_an_alert_keeps_it_off(
    ada, flags, endpoint, token, send, sets
):
    id = sets.set("kill", options=REVERTS)
    send(endpoint, token, {"status": "firing", "id": "cpu"})
    sets.work()
    (run,) = sets.runs(id)
    card = ada.get("/admin/features/checkout").html.find(id="in-production")
    assert card.find("a", href=f"/admin/projects/default/actions/{id}/runs/{run['id']}/undo")
    assert card.find("a", href=f"/admin/signals/{endpoint['id']}/log/{run['signalId']}")


def test_flags_past_their_lifetime_are_counted_and_listed_apart(ada, web, flags, database):
    for name in ("marked", "old", "new"):
        flags.create_flag(name)
    edit = "/api/admin/projects/default/stale"
    web.post_json(edit, {"features": ["marked"], "stale": True}, headers=ADMIN)
    with contextlib.closing(database.connect()) as conn, conn, conn.cursor() as cursor:
        cursor.execute("UPDATE features SET created_at = '2020-01-01' WHERE name <> 'new'")
    for path in ("/", "/admin/projects/default/overview"):
        page = ada.get(path)
        for life, name in (("stale", "marked"), ("expired", "old")):
            link = page.html.find("a", href=re.compile(f"life={life}"))
            assert link.get_text().startswith("1 "), (path, life)
            rows = page.goto(link["href"]).html.find(id="flag-table").tbody.find_all("tr")
            assert [row["id"] for row in rows] == [f"flag-{name}"]


def test_a_flag_that_was_switched_back_is_not_kept_by_its_alert(
    ada, flags, endpoint, token, send, sets
):
    sets.set("kill", options=REVERTS)
    send(endpoint, token, {"status": "firing", "id": "cpu"})
    sets.work()
    flags.switch()
    page = ada.get("/")
    assert texts(page, "alerts") == []
    assert "Undo run" in texts(page, "runs")[0]


def test_a_stale_flag_is_listed(ada, web, flags):
    flags.create_flag()
    assert texts(ada.get("/"), "stale") == []
    edit = "/api/admin/projects/default/stale"
    web.post_json(edit, {"features": ["checkout"], "stale": True}, headers=ADMIN)
    assert texts(ada.get("/"), "stale")[0].startswith("checkout release")


def test_a_silent_endpoint_is_listed_once(ada, database, endpoint):
    with contextlib.closing(database.connect()) as conn, conn, conn.cursor() as cursor:
        condition = f'{{"source": {{"kind": "silence", "endpointId": {endpoint["id"]}}}}}'
        statement = """INSERT INTO alert_rules (name, endpoint_id, enabled, condition, state)
            VALUES (%s, %s, true, %s, 'firing')"""
        for name in ("an hour", "a day"):
            cursor.execute(statement, (name, endpoint["id"], condition))
    page = ada.get("/")
    assert page.html.find(id="silent").find_parent(id="needs-you")
    assert texts(page, "silent") == ["✕ silent deploys for 0 s Open deploys"]
    link = list_rows(page, "silent")[0].find("a")
    assert link["href"] == f"/admin/signals/{endpoint['id']}/log"
