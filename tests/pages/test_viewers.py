"""Users without ADMIN see alerts, runs, states of signals and changes, and never a payload, a token
or an address. Only Editors read which alert holds a flag."""

from __future__ import annotations

import re

import pytest

from sigservice.jobs import actions
from tests.architecture.test_permissions import list_paths
from tests.conftest import ADMIN
from tests.jobs.release_kit import RESOLVED, Releases
from tests.pages.guards import VIEW_PAGES, at
from tests.pages.page_reader import form_to

VALUE = "hunter2"  # in the summary and the key of each alert
PAYLOAD = "swordfish"  # in the rest of each payload
ADDRESS = "203.0.113.9"
FIRING = {"path": "status", "operator": "IN", "values": ["firing"]}
RUN_PAGES = "/admin/projects/default/actions"


class Incident:
    """Two alerts switch `banner` off and roll back a release of `checkout`; one is resolved."""

    def __init__(self, service, clock) -> None:
        self.kit = kit = Releases(service, clock)
        self.web, self.clock = kit.web, clock
        self.endpoint = kit.endpoint("alertmanager")
        self.token = kit.token
        self.release = kit.create(guards=[kit.guard(self.endpoint)])
        kit.post("/api/admin/projects/default/features", {"name": "banner"}, 201)
        place = "/api/admin/projects/default/features/banner/environments/production"
        self.web.post(f"{place}/on", headers=ADMIN, extra_environ={"REMOTE_ADDR": ADDRESS})
        account = kit.post(
            "/api/admin/service-account", {"username": "robot", "rootRole": "Editor"}, 201
        )["id"]
        off = {"environment": "production", "featureName": "banner"}
        self.set_id = kit.post(
            "/api/admin/projects/default/actions",
            {
                "name": "Banner off",
                "actorId": account,
                "match": {
                    "source": "signal-endpoint",
                    "sourceId": self.endpoint["id"],
                    "filters": [FIRING],
                },
                "actions": [
                    {"action": "TOGGLE_FEATURE_OFF", "sortOrder": 1, "executionParams": off}
                ],
                "options": {"restoreWhenResolved": RESOLVED},
            },
            201,
        )["id"]
        for status, key in (("firing", "a"), ("firing", "b"), ("resolved", "b")):
            self.signal(status, key)

    def signal(self, status, key):
        self.kit.alert(
            status,
            f"{VALUE}-{key}",
            summary=f"{VALUE} fails",
            severity="critical",
            password=PAYLOAD,
        )
        actions.run_once(self.kit.services[0].context)

    @property
    def runs(self):
        return f"{RUN_PAGES}/{self.set_id}/runs"

    @property
    def events(self):
        return f"/api/admin/projects/default/actions/{self.set_id}/events"


@pytest.fixture
def incident(service, clock):
    return Incident(service, clock)


def read(page):
    return " ".join(page.html.find("main").get_text(" ").split())


def test_a_viewer_lists_the_alerts_that_hold_flags(incident, vera):
    (alert,) = vera.get("/api/admin/alerts").json["alerts"]
    assert alert["since"].endswith("Z")
    assert {name: alert[name] for name in alert if name not in ("since", "runId", "signalId")} == {
        "project": "default",
        "feature": "banner",
        "environment": "production",
        "enabled": False,
        "isFiring": True,
        "lastReportedAt": alert["since"],
        "keptBy": None,
        "actionSet": {"id": incident.set_id, "name": "Banner off"},
        "signalEndpoint": {"id": incident.endpoint["id"], "name": "alertmanager"},
        "summary": None,
    }
    assert vera.get("/api/admin/alerts?feature=checkout").json["alerts"] == []


@pytest.mark.parametrize("name", ["ada", "ed"])
def test_an_editor_also_gets_what_the_alert_says(incident, cast, name):
    user = cast.signed_in(name)
    (alert,) = user.get("/api/admin/alerts").json["alerts"]
    assert VALUE in str(alert["summary"])
    assert VALUE in user.get(incident.events).json["actionSetEvents"][0]["reason"]
    user.post(f"{incident.events}/{alert['runId']}/ignore-alert", headers=_csrf(user), status=200)
    (ignored,) = user.get("/api/admin/alerts").json["ignoredAlerts"]
    assert ignored["key"] == f"{VALUE}-a"


def test_an_editor_undoes_a_run_and_a_viewer_does_not(incident, cast, vera):
    ed, path = cast.signed_in("ed"), f"{incident.runs}/{read_run(incident)['id']}"
    for page in (path, "/admin/features/banner"):
        assert f"{path}/undo" in ed.get(page).text
        assert f"{path}/undo" not in vera.get(page).text
    for action in ("undo", "ignore-alert", "cancel-restore"):
        vera.post(f"{incident.events}/1/{action}", headers=_csrf(vera), status=403)
    vera.get(f"{path}/undo", status=403)
    form = form_to(ed.get(f"{path}/undo"), f"{path}/undo")
    form["alert"] = "disable"
    form.submit(status=303).follow()
    actions.run_once(incident.kit.services[0].context)
    assert not ed.get("/api/admin/alerts").json["alerts"]
    path = f"/api/admin/projects/default/actions/{incident.set_id}"
    assert not incident.web.get(path, headers=ADMIN).json["enabled"]


def test_an_undo_needs_edit_until_it_has_run(incident, ed):
    path = f"{incident.events}/{read_run(incident)['id']}"
    ed.post(f"{path}/undo", headers=_csrf(ed), status=202)
    users = incident.web.get("/api/admin/user-admin", headers=ADMIN).json["users"]
    (id,) = [user["id"] for user in users if user["username"] == "ed"]
    body = {"username": "ed", "rootRole": "Viewer"}
    incident.web.put_json(f"/api/admin/user-admin/{id}", body, headers=ADMIN)
    actions.run_once(incident.kit.services[0].context)
    undo = incident.web.get(incident.events, headers=ADMIN).json["actionSetEvents"][0]
    assert undo["state"] == "failed"
    details = "ed can't change flags: its role is Viewer."
    assert undo["actionSet"]["actions"][0]["details"] == details


def _csrf(user):
    return {"X-CSRF-Token": user.csrf}


def read_run(incident):
    """The run that switched `banner` off."""
    return incident.web.get(incident.events, headers=ADMIN).json["actionSetEvents"][-1]


def test_a_viewer_lists_the_states_of_signals(incident, vera):
    states = vera.get("/api/admin/signal-states").json
    assert [row["status"] for row in states["signals"]] == ["resolved", "firing", "firing"]
    assert {row["severity"] for row in states["signals"]} == {"critical"}
    assert states["silentEndpoints"] == []
    older = vera.get(f"/api/admin/signal-states?before={states['signals'][1]['id']}").json
    assert older["signals"] == states["signals"][2:]


def test_a_viewer_reads_runs_without_the_payload_and_its_sender(incident, vera):
    runs = vera.get(incident.events).json["actionSetEvents"]
    assert [run["state"] for run in runs] == ["suppressed", "success", "success"]
    assert runs[0]["reason"] == "Another alert of this set still fires."
    assert set(runs[1]["signal"]) == {"id", "source", "sourceId", "createdAt"}
    assert set(runs[1]["actionSet"]) == {"id", "name", "project", "actions"}
    assert vera.get(f"{incident.events}/{runs[1]['id']}").json == runs[1]


@pytest.mark.parametrize("name", ["vera", "ed"])
def test_the_home_page_has_alerts_for_everyone(incident, cast, name):
    page = cast.signed_in(name).get("/")
    (alert,) = page.html.find(id="alerts").find_all("li")
    text = " ".join(alert.get_text(" ").split())
    assert "turned off banner in production" in text
    assert "firing for" in text
    assert ("Turn back on …" in text, VALUE in text) == (name == "ed", name == "ed")
    assert ("Keep off" in text) == (name == "ed")
    run = alert.find("a", string="Banner off")["href"]
    assert page.goto(run, status=200).html.find("h1")


def test_the_page_of_a_flag_does_not_name_the_alert_for_viewers(incident, ed, vera):
    incident.clock.advance(18.5 * 60)
    answers = [user.get("/admin/features/banner").html.find(id="answer") for user in (ed, vera)]
    texts = [" ".join(answer.get_text(" ").split()) for answer in answers]
    assert f"Off by {VALUE} fails, firing for 18 min" in texts[0]
    assert "Off by an alert of alertmanager, firing for 18 min" in texts[1]
    assert "Turn back on" in texts[0]
    assert "Turn back on" not in texts[1]
    for text in texts:
        assert "Banner off" in text
        assert "Last signal about it: 18 min ago" in text


def test_a_state_that_no_alert_holds_says_who_switched_it(incident, ada):
    place = "/api/admin/projects/default/features/banner/environments/production"
    incident.web.post(f"{place}/on", headers=ADMIN)
    incident.signal("resolved", "a")
    card = ada.get("/admin/features/banner").html.find(id="in-production")
    assert "On for everyone" in card.h2.get_text()
    assert "Turned on by" in card.get_text()


def test_the_list_says_which_states_alerts_hold_and_the_percentages(incident, vera):
    rows = {
        row.th.a.string: " ".join(
            row.find("td", attrs={"data-in": "production"}).get_text(" ").split()
        )
        for row in vera.get("/admin/features").html.select("#flag-table tbody tr")
    }
    assert rows == {
        "banner": "✕ alert · 2 more",
        "checkout": "● 0% · 2 more",
    }


def test_an_editor_gets_the_summary_of_the_endpoint_else_titles(incident, ada, ed):
    (alert,) = ed.get("/api/admin/alerts").json["alerts"]
    assert alert["summary"] == [{"label": "summary", "text": f"{VALUE} fails"}]
    path = f"/api/admin/signal-endpoints/{incident.endpoint['id']}"
    options = {"summary": [{"label": "Level", "path": "severity"}]}
    body = {"name": "alertmanager", "options": options}
    incident.web.put_json(path, body, headers=ADMIN)
    for user in (ada, ed):
        (alert,) = user.get("/api/admin/alerts").json["alerts"]
        assert alert["summary"] == [{"label": "Level", "text": "critical"}]


def test_a_viewer_opens_runs_without_payloads(incident, vera):
    page = vera.get(incident.runs)
    assert "Another alert of this set still fires." in read(page)
    run = read_run(incident)
    text = read(vera.get(f"{incident.runs}/{run['id']}"))
    assert "Disabled banner in production" in text or "banner" in text
    assert "Payload of the signal" not in text
    assert "Undo" not in text


def test_a_viewer_reads_the_audit_log_of_flags(incident, vera):
    page = vera.get("/admin/events")
    assert "robot turned banner off in production" in read(page)
    assert "action set" not in read(page)
    types = [option[0] for option in page.forms[1]["type"].options]
    assert "feature-environment-disabled" in types
    assert not [type for type in types if type.startswith(("actions", "signal", "user", "api"))]
    events = vera.get("/api/admin/events").json["events"]
    assert {event["ip"] for event in events} == {None}


def test_home_tells_what_a_run_changed_once(incident, ada, vera):
    for browser in (ada, vera):
        lines = [item.get_text() for item in browser.get("/").html.select("#changes li")]
        assert len([line for line in lines if "banner off in production" in line]) == 1


def test_filters_of_the_audit_log_find_nothing_of_admins(incident, vera, ada):
    path = "/admin/events?type=signal-endpoint-created"
    assert ada.get(path).html.find("ol", class_="log")
    assert not vera.get(path).html.find("ol", class_="log")
    for text in (VALUE, ADDRESS, incident.token):
        assert not vera.get("/admin/events", {"query": text}).html.find("ol", class_="log")
        page = vera.get("/api/admin/search/events", {"query": text}).json
        assert (page["events"], page["total"]) == ([], 0)


def test_no_response_for_a_viewer_has_a_payload_a_token_or_an_address(incident, cast):
    run = read_run(incident)
    names = {
        "project": "default",
        "environment": "production",
        "name": "checkout",
        "release_id": incident.release["id"],
        "id": incident.release["id"],
        "set_id": incident.set_id,
        "run_id": run["id"],
    }
    pages = [at(path, names) for path in VIEW_PAGES]
    routes = [path for needs, path in list_paths(incident.kit.services[0]) if needs == "VIEW"]
    braces = re.compile(r"{(\w+)}")
    pages += [
        path.format(**{"type": "simple", "value": "shop", "field": "plan"} | names)
        for path in routes
        if path.startswith("/api/") and set(braces.findall(path)) <= set(names) | {"type", "value"}
    ]
    pages += [incident.events, "/admin/features/banner", "/admin/events?feature=banner"]
    pages += [f"/admin/search?q={word}" for word in ("alertmanager", "Banner")]
    for user in ("vera", "ed"):
        browser = cast.signed_in(user)
        for path in pages:
            response = browser.get(path, expect_errors=True)
            assert response.status_int in (200, 301, 404), path
            secrets = [PAYLOAD, ADDRESS, incident.token, *([VALUE] if user == "vera" else [])]
            for secret in secrets:
                assert secret not in response.text, (path, secret)
