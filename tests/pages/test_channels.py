"""Forms that choose integrations by their name: Tell [x] #shop-oncall."""

from __future__ import annotations

import pytest

from tests.conftest import ADMIN
from tests.integrations_kit import ADDONS, make_body
from tests.jobs.rules_kit import PATH as RULES
from tests.jobs.silence_kit import ENDPOINTS
from tests.pages.actions import SETS, Actions
from tests.pages.page_reader import form_to

PATH = "/admin/projects/default/actions"
WEBHOOK = {"type": "webhook", "url": "https://example.com/hook", "on": ["failed"]}


@pytest.fixture
def ada(cast):
    return cast.signed_in("ada")


@pytest.fixture
def sets(service, web, flags, endpoint):
    return Actions(service, web, flags, endpoint)


@pytest.fixture
def integrations(web):
    for name in ("#oncall", "<b>audit"):
        body = make_body(name=name, events=[])
        web.post_json(ADDONS, body, headers=ADMIN, status=201)


def tell(*on, name="#oncall"):
    return {"type": "integration", "name": name, "on": list(on)}


def test_an_action_set_tells_the_checked_integrations(ada, web, sets, integrations):
    id = sets.set(options={"notifications": [tell("failed"), WEBHOOK]})
    form = form_to(ada.get(f"{PATH}/{id}"), f"{PATH}/{id}")
    assert (form["tell.0.name"].value, form["tell.0.on.failed"].checked) == ("#oncall", True)
    assert not form["tell.1.on.failed"].checked
    assert "options.notifications.1.url" not in form.fields
    form["tell.0.on.failed"], form["tell.1.on.success"] = False, True
    form.submit(status=303)
    options = web.get(f"{SETS}/{id}", headers=ADMIN).json["options"]
    (webhook, named) = options["notifications"]
    assert (webhook["type"], named) == ("webhook", tell("success", name="<b>audit"))


def test_a_new_row_of_the_form_keeps_the_checked_integrations(ada, sets, integrations):
    id = sets.set(options={"notifications": [tell("failed")]})
    form = form_to(ada.get(f"{PATH}/{id}"), f"{PATH}/{id}")
    form["tell.1.on.suppressed"] = True
    page = form.submit("do", value="add-options.notifications")
    form = form_to(page, f"{PATH}/{id}")
    assert form["tell.0.on.failed"].checked
    assert form["tell.1.on.suppressed"].checked
    assert "options.notifications.0.url" in form.fields


def test_saving_an_action_set_unchanged_keeps_its_integrations(ada, web, sets, integrations):
    channels = [tell("failed", "suppressed"), tell("success", name="<b>audit")]
    id = sets.set(options={"notifications": channels})
    form_to(ada.get(f"{PATH}/{id}"), f"{PATH}/{id}").submit(status=303)
    options = web.get(f"{SETS}/{id}", headers=ADMIN).json["options"]
    assert options["notifications"] == channels


def test_an_alert_rule_tells_the_checked_integrations(ada, web, endpoint, integrations):
    query = {"kind": "impactMetric", "metric": "m", "measure": "rate", "environment": "production"}
    rule = {"name": "errors", "endpointId": endpoint["id"], "source": query, "above": 1}
    rule["notifications"] = [tell("firing")]
    id = web.post_json(RULES, rule, headers=ADMIN, status=201).json["id"]
    path = f"/admin/alert-rules/{id}"
    form = form_to(ada.get(path), path)
    assert form["tell.0.on.firing"].checked
    form["tell.0.on.firing"], form["tell.1.on.unknown"] = False, True
    form.submit(status=303)
    channels = web.get(f"{RULES}/{id}", headers=ADMIN).json["notifications"]
    assert channels == [tell("unknown", name="<b>audit")]


def test_silence_tells_the_checked_integrations(ada, web, endpoint, integrations):
    path = f"/admin/signals/{endpoint['id']}/silence"
    form = form_to(ada.get(path), path)
    form["schedule"], form["options.silence.everySeconds"] = "every", "60"
    form["tell.0.on.down"] = form["tell.0.on.up"] = True
    form.submit(status=303)
    options = web.get(f"{ENDPOINTS}/{endpoint['id']}", headers=ADMIN).json["options"]
    assert options["silence"]["notifications"] == [tell("down", "up")]
    form = form_to(ada.get(path), path)
    assert form["tell.0.on.up"].checked
    assert not form["tell.0.on.late"].checked


def test_without_named_integrations_the_form_has_no_choice_of_them(ada, web, sets):
    web.post_json(ADDONS, make_body(), headers=ADMIN, status=201)
    assert ada.get(f"{PATH}/new").html.find(id="tell") is None


def test_the_form_of_an_integration_has_a_name(ada, web):
    path = "/admin/integrations/new/webhook"
    form = form_to(ada.get(path), path)
    form["name"], form["parameters.url"] = "#oncall", "https://example.com/x"
    form.submit(status=303)
    (addon,) = web.get(ADDONS, headers=ADMIN).json["addons"]
    assert (addon["name"], addon["events"]) == ("#oncall", [])
    page = ada.get("/admin/integrations").text
    assert "#oncall" in page
    assert "notifications by its name" in page
