"""Pages of integrations."""

from __future__ import annotations

import pytest
import webtest

from tests.conftest import sign_in_by_json
from tests.integrations_kit import ADDONS, Integrations
from tests.pages.page_reader import find_error, follow, form_to, notice
from tests.receiver import receiving

PATH = "/admin/integrations"


@pytest.fixture
def receiver():
    with receiving() as one:
        yield one


@pytest.fixture
def kit(make_service, receiver, clock):
    service = make_service(environ={"SERVICE_WEBHOOK_ALLOWED_HOSTS": "127.0.0.1"})
    return Integrations(service, receiver, clock)


@pytest.fixture
def page(kit) -> webtest.TestApp:
    return sign_in_by_json(kit.service, "ada")


def test_an_integration_is_created_tested_and_deleted(kit, page, receiver):
    form = form_to(follow(page.get(PATH), "Webhook"), f"{PATH}/new/webhook")
    form["description"], form["parameters.url"] = "Announce", f"{receiver.url}/hunter2"
    form["events.feature-created"] = form["projects.default"] = True
    answer = form.submit(status=303).follow()
    assert notice(answer) == "Integration created."
    assert "hunter2" not in answer.text
    (addon,) = kit.call("get", ADDONS)["addons"]
    assert addon["events"] == ["feature-created"]
    assert addon["projects"] == ["default"]
    assert addon["enabled"] is True
    one = f"{PATH}/{addon['id']}"
    answer = form_to(answer, f"{one}/test").submit(status=303).follow()
    assert notice(answer).startswith("The test arrived. The receiver answered 204 in ")
    receiver.answers = [(404, {})]
    answer = form_to(answer, f"{one}/test").submit(status=303).follow()
    assert notice(answer) == "The test failed. The server responded with status 404."
    assert "Announce" in page.get(PATH).text
    kit.service.context.integration_tests.acquire(addon["id"])
    busy = form_to(answer, f"{one}/test").submit(status=409)
    assert "Other tests still wait for their receivers." in busy.text
    answer = follow(busy, "Delete this integration")
    form_to(answer, f"{one}/delete").submit(status=303)
    assert kit.call("get", ADDONS)["addons"] == []


def test_a_saved_form_keeps_the_secrets_that_it_masks(kit, page, receiver):
    one = f"{PATH}/{kit.create()}"
    form = form_to(page.get(one), one)
    assert form["parameters.url"].value == "*****"
    form["description"] = "Renamed"
    form.submit(status=303)
    kit.flag()
    kit.run()
    assert [request.path for request in receiver.requests] == ["/hook"]


def test_what_is_wrong_is_shown_beside_its_field(page):
    form = form_to(page.get(f"{PATH}/new/webhook"), f"{PATH}/new/webhook")
    form["parameters.url"], form["parameters.bodyTemplate"] = "ftp://x", "{{#event}}"
    answer = form.submit(status=400)
    assert "https://" in find_error(answer, "parameters.url")
    assert "isn't closed" in find_error(answer, "parameters.bodyTemplate")
    assert "Choose at least one event." in answer.text


def test_the_preview_has_the_sentence_and_the_body_of_a_recent_event(kit, page):
    kit.flag("checkout")
    form = form_to(page.get(f"{PATH}/new/webhook"), f"{PATH}/new/webhook")
    form["events.feature-created"] = True
    form["parameters.bodyTemplate"] = '{"text": "{{event.featureName}}!"}'
    answer = form.submit("do", value="preview", status=200)
    preview = answer.html.find(id="preview").get_text()
    assert "created the flag **checkout**" in preview
    assert '{"text": "checkout!"}' in preview
    assert form_to(answer, f"{PATH}/new/webhook")["events.feature-created"].checked


def test_a_delivery_that_was_given_up_is_listed_and_retried(kit, page, receiver):
    id = kit.create()
    receiver.answers = [(400, {}), (204, {})]
    kit.flag()
    kit.run()
    one = f"{PATH}/{id}"
    answer = page.get(one)
    assert "status 400" in answer.html.find(id="deliveries").get_text()
    delivery = kit.deliveries(id)[0]["id"]
    answer = form_to(answer, f"{one}/deliveries/{delivery}/retry").submit(status=303).follow()
    assert notice(answer) == "The delivery is sent again."
    kit.run()
    assert kit.states(id) == [("sent", None)]


def test_the_list_says_what_waits_and_why(kit, page, receiver):
    assert page.get(PATH).html.select_one(".heading a")["href"] == "#providers"
    kit.create()
    receiver.answers = [(500, {})]
    kit.flag("f1")
    kit.flag("f2")
    kit.run()
    cell = page.get(PATH).html.select_one('td[data-label="Last sent"]')
    text = "2 waiting. The server responded with status 500."
    assert " ".join(cell.text.split()) == text
    row = page.get("/").html.find(id="integrations").li
    assert " ".join(row.text.split()) == (
        "✕ failing Webhook can't be reached: 2 messages wait. The server responded with status 500."
        " See Webhook"
    )
    assert page.get(row.a["href"]).status_int == 200


def test_deprecated_providers_have_a_warning(page):
    assert "retires connectors" in page.get(f"{PATH}/new/teams").text
    page.get(f"{PATH}/new/nothing", status=404)


def test_the_form_of_email_says_what_is_missing(page):
    assert "The service has no mail server: set EMAIL_HOST." in page.get(f"{PATH}/new/email").text
