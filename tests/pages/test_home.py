"""The home page: recent signals and first steps."""

from __future__ import annotations

import contextlib
import re

from tests.conftest import ADMIN
from tests.pages.page_reader import follow, form_to, heading


def list_rows(page, id):
    section = page.html.find(id=id)
    return section.find_all("li") if section else []


def texts(page, id):
    return [" ".join(row.get_text(" ").split()) for row in list_rows(page, id)]


def list_open_steps(page):
    return [link.find(string=True) for link in page.html.select(".steps a.button")]


def test_the_first_visit_has_the_first_steps_alone(ada):
    page = ada.get("/")
    assert heading(page) == "Start here"
    assert list_open_steps(page) == ["New flag", "Connect", "Connect", "Protect", "Invite"]
    assert not page.html.find(id="changes")


def test_a_viewer_is_referred_to_an_admin(vera):
    page = vera.get("/")
    assert not list_open_steps(page)
    assert page.html.find("ol", class_="steps").get_text().count("Ask an admin") == 4


def test_the_first_steps_tick_themselves(ada, vera, web, endpoint, sets):
    assert list_open_steps(ada.get("/")) == ["Connect", "Protect"]
    body = {"tokenName": "app", "type": "client", "environment": "production", "projects": ["*"]}
    secret = web.post_json("/api/admin/api-tokens", body, headers=ADMIN).json["secret"]
    report = {"appName": "shop", "instanceId": "1", "started": 0, "interval": 0, "strategies": []}
    web.post_json("/api/client/register", report, headers={"Authorization": secret})
    page = ada.get("/")
    assert list_open_steps(page) == ["Protect"]
    assert "shop, 0 s ago" in page.html.find(id="first-steps").get_text()
    sets.set("kill")
    assert not ada.get("/").html.find(id="first-steps")


def test_the_first_steps_can_be_hidden(ada, flags):
    flags.create_flag()
    page = ada.get("/")
    assert page.html.find(id="first-steps")
    assert not form_to(page, "/hide-start").submit().follow().html.find(id="first-steps")


def test_changes_are_listed_by_who_did_what(ada, vera, flags):
    flags.create_flag()
    flags.switch()
    for browser in (ada, vera):
        assert texts(browser.get("/"), "changes")[0].endswith(
            "API token admin turned checkout on in production"
        )


def test_a_viewer_sees_only_changes_of_flags(vera, endpoint, flags):
    flags.create_flag()
    page = vera.get("/")
    assert "deploys" not in page.html.find(id="changes").get_text()


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
    assert "turned off checkout in production" in text
    assert "cpu" in text
    assert "firing for" in text
    links = [link["href"] for link in list_rows(page, "alerts")[0].find_all("a")]
    path = f"/admin/projects/default/actions/{set_id}/runs/{run['id']}"
    signal = f"/admin/signals/{endpoint['id']}/log/{run['signalId']}"
    assert links == ["/admin/features/checkout", f"{path}/turn-on", path, signal]
    assert ada.get(links[0]).html.find(id="events")
    form = form_to(ada.get(links[1]), links[1])
    form["alert"] = "ignore"
    form.submit(status=303)
    page = ada.get("/")
    assert texts(page, "alerts") == []
    assert flags.is_on()
    quiet = " ".join(page.html.find(id="quiet").get_text().split())
    assert quiet == "✓ Nothing is off by an alert. Last alert just now"


def test_an_alert_of_several_flags_has_one_card(ed, flags, web, endpoint, token, send, sets):
    names = [f"f{n}" for n in range(5)]
    acts = []
    for name in names:
        flags.create_flag(name)
        flags.switch(name)
        params = {"project": "default", "environment": "production", "featureName": name}
        acts.append(
            {"action": "TOGGLE_FEATURE_OFF", "sortOrder": len(acts) + 1, "executionParams": params}
        )
    sets.set("kill", options=REVERTS, actions=acts)
    send(endpoint, token, {"status": "firing", "id": "cpu"})
    sets.work()
    page = ed.get("/")
    (text,) = [line for line in texts(page, "alerts") if "alert" in line]
    assert "turned off f0 f1 f2 and 2 more in production" in text
    assert "Turn 5 back on …" in text
    (link,) = [a["href"] for a in page.html.select("#alerts a") if a["href"].endswith("/turn-on")]
    form = form_to(page, link.replace("turn-on", "keep-off"))
    page = form.submit(status=303).follow()
    assert "kept off by ed" in texts(page, "alerts")[0]
    assert not page.html.select("#alerts form")


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
        assert re.search("Off by .* kill|turned off .* kill", text), path
        assert "cpu" not in text, path
        assert section.find("a", href=re.compile("/runs/")), path
        assert not section.find("a", href=re.compile("/undo|/turn-on|/signals/")), path


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


def test_a_flag_that_was_switched_back_is_not_kept_by_its_alert(
    ada, flags, endpoint, token, send, sets
):
    sets.set("kill", options=REVERTS)
    send(endpoint, token, {"status": "firing", "id": "cpu"})
    sets.work()
    flags.switch()
    page = ada.get("/")
    assert texts(page, "alerts") == []


def test_an_automation_that_failed_says_how_much_it_changed(
    ada, vera, flags, sets, endpoint, token, send
):
    id = sets.set("kill")
    flags.archive("checkout")
    send(endpoint, token, {})
    sets.work()
    assert texts(ada.get("/"), "failed") == [
        "✕ failed just now kill changed 0 of 1 flag: checkout is archived. Revive it first."
        " Review kill Change it (kill)"
    ]
    link = ada.get("/").html.find(id="failed").find_all("a")[-1]
    assert ada.get(link["href"]).status_int == 200
    assert link["href"].startswith(f"/admin/projects/default/actions/{id}")
    assert "Change it" not in texts(vera.get("/"), "failed")[0]


def test_a_silent_endpoint_is_listed_once(ada, database, endpoint, flags):
    flags.create_flag()
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
