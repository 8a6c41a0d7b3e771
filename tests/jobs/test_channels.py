"""Notifications to an integration by its name: action sets, endpoints, releases, alert rules."""

from __future__ import annotations

import json

import pytest
import webtest

from sigservice.jobs import outbox as job
from tests.actions_kit import SETS, Alerts
from tests.conftest import ADMIN, Make
from tests.integrations_kit import ADDONS, URL, make_body
from tests.jobs.release_kit import Releases
from tests.jobs.rules_kit import PATH as RULES
from tests.jobs.rules_kit import Rules
from tests.jobs.silence_kit import ENDPOINTS, Silence
from tests.routes.sdk import Sdk

NAME = "#shop-oncall"
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


@pytest.fixture
def service(make_service):
    environ = {"SERVICE_WEBHOOK_ALLOWED_HOSTS": "127.0.0.1", "SERVICE_URL": URL}
    return make_service(environ=environ)


@pytest.fixture
def web(service):
    return webtest.TestApp(service.app)


@pytest.fixture
def alerts(service, web):
    return Alerts(service, web, Make(web))


@pytest.fixture
def create(web, receiver):
    def create(name=NAME, **more):
        body = make_body(f"{receiver.url}/hook", name=name, **{"events": []} | more)
        return web.post_json(ADDONS, body, headers=ADMIN, status=201).json

    return create


def tell(*on, name=NAME):
    return {"type": "integration", "name": name, "on": list(on)}


def fire(alerts):
    alerts.send()
    alerts.work()
    job.run_once(alerts.service.context)


def test_a_run_tells_an_integration_with_its_own_address_and_secret(alerts, create, receiver):
    create(parameters={"url": f"{receiver.url}/hook", "secret": SECRET})
    one = alerts.set(options={"notifications": [tell("success")]})
    assert one["options"]["notifications"] == [tell("success")]
    fire(alerts)
    (request,) = receiver.requests
    assert (request.path, json.loads(request.body)["type"]) == ("/hook", "action.run.success")
    assert request.headers["webhook-signature"]
    path = f"{SETS}/{one['id']}/notifications"
    (notification,) = alerts.web.get(path, headers=ADMIN).json["notifications"]
    assert notification["channel"] == {"type": "integration", "name": NAME}
    assert notification["state"] == "sent"


PARAMETERS = {
    "slack": ({"defaultChannel": "oncall"}, "text"),
    "teams": ({}, "sections"),
    "teamsworkflow": ({}, "attachments"),
    "datadog": ({"apiKey": "k"}, "text"),
}


@pytest.mark.parametrize("provider", PARAMETERS)
def test_each_provider_sends_the_title_and_a_link(provider, alerts, create, receiver):
    parameters, member = PARAMETERS[provider]
    create(provider=provider, parameters=parameters | {"url": f"{receiver.url}/x"})
    alerts.set(options={"notifications": [tell("success")]})
    fire(alerts)
    (request,) = receiver.requests
    text = json.dumps(json.loads(request.body)[member])
    assert "kill checkout" in text
    assert f"{URL}/admin/" in request.body.decode()


def test_an_endpoint_that_is_down_tells_an_integration(service, clock, create, receiver):
    create()
    silence = Silence(service, clock)
    silence.endpoint(everySeconds=60, notifications=[tell("down")])
    silence.send()
    silence.wait(100)
    silence.notify()
    (request,) = receiver.requests
    assert json.loads(request.body)["type"] == "signal-endpoint.silence.down"


def test_a_release_tells_an_integration(service, clock, create, receiver):
    create()
    kit = Releases(service, clock)
    kit.create(notifications=[tell("started")])
    kit.notify()
    (request,) = receiver.requests
    assert json.loads(request.body)["type"] == "release.started"


@pytest.fixture
def rules(make_service, database, clock):
    environ = {"SERVICE_WEBHOOK_ALLOWED_HOSTS": "127.0.0.1", "SERVICE_URL": URL}
    return Rules(Sdk(make_service, database, **environ), clock)


def test_an_alert_rule_tells_an_integration_what_its_signal_says(rules, receiver):
    body = make_body(f"{receiver.url}/hook", name=NAME, events=[])
    rules.web.post_json(ADDONS, body, headers=ADMIN, status=201)
    rule = rules.create(notifications=[tell("firing", "resolved")])
    rules.create(name="others", notifications=[tell("unknown")])
    for errors in (0, 50, 0):
        for _ in range(6):
            rules.minute(errors=errors, requests=100)
    job.run_once(rules.sdk.service.context)
    firing, resolved = (json.loads(request.body) for request in receiver.requests)
    assert (firing["type"], resolved["type"]) == ("alert-rule.firing", "alert-rule.resolved")
    signal = next(x for x in rules.signals() if x["data"]["rule"] == "checkout-errors")
    assert signal["data"].items() <= firing["data"].items()
    assert firing["data"]["url"] == f"{URL}/admin/alert-rules/{rule['id']}"
    assert firing["data"]["text"] == "Alert rule checkout-errors is firing"
    rules.clock.advance(600)
    rules.look()
    job.run_once(rules.sdk.service.context)
    assert json.loads(receiver.requests[-1].body)["type"] == "alert-rule.unknown"
    assert len(receiver.requests) == 3


def test_a_rule_that_is_disabled_while_it_fires_tells_that_it_is_resolved(rules, receiver):
    body = make_body(f"{receiver.url}/hook", name=NAME, events=[])
    rules.web.post_json(ADDONS, body, headers=ADMIN, status=201)
    rule = rules.create(notifications=[tell("resolved")])
    rules.minute(errors=50, requests=100)
    rules.web.post_json(f"{RULES}/{rule['id']}/disable", {}, headers=ADMIN)
    job.run_once(rules.sdk.service.context)
    (request,) = receiver.requests
    assert json.loads(request.body)["data"]["reason"] == "The rule was disabled."
    assert rules.read(rule)["notifications"] == [tell("resolved")]


def test_an_alert_rule_refuses_unknown_names_and_other_channels(rules):
    webhook = {"type": "webhook", "url": "https://example.com/", "on": ["firing"]}
    for channel, path in ((tell("firing"), "name"), (webhook, "type"), (tell("late"), "on[0]")):
        body = rules.body(notifications=[channel])
        answer = rules.web.post_json(RULES, body, headers=ADMIN, status=400)
        assert find_paths(answer) == [f"notifications[0].{path}"]


def test_a_retry_uses_the_configuration_of_today(alerts, create, receiver):
    id = create()["id"]
    alerts.set(options={"notifications": [tell("success")]})
    receiver.answers = [(500, {}), (204, {})]
    fire(alerts)
    body = make_body(f"{receiver.url}/new", events=[])
    alerts.web.put_json(f"{ADDONS}/{id}", body, headers=ADMIN, status=200)
    alerts.clock.advance(7)
    job.run_once(alerts.service.context)
    assert [request.path for request in receiver.requests] == ["/hook", "/new"]


def test_a_disabled_integration_gives_up_with_its_reason(alerts, create, receiver):
    create(enabled=False)
    id = alerts.set(options={"notifications": [tell("success")]})["id"]
    fire(alerts)
    path = f"{SETS}/{id}/notifications"
    (notification,) = alerts.web.get(path, headers=ADMIN).json["notifications"]
    assert notification["lastError"] == f"The integration {NAME} is disabled."
    assert notification["state"] == "given up"
    assert not receiver.requests


def test_a_receiver_that_is_gone_disables_the_integration(alerts, create, receiver):
    id = create()["id"]
    alerts.set(options={"notifications": [tell("success")]})
    receiver.answers = [(410, {})]
    fire(alerts)
    addon = alerts.web.get(f"{ADDONS}/{id}", headers=ADMIN).json
    assert (addon["enabled"], "410" in addon["disabledReason"]) == (False, True)


def find_paths(answer):
    return [detail["path"] for detail in answer.json["details"]]


def test_an_unknown_name_is_refused_with_its_path(alerts, create):
    create()
    channels = [tell("success"), tell("success", name="#other")]
    body = alerts.body(options={"notifications": channels})
    answer = alerts.web.post_json(SETS, body, headers=ADMIN, status=400)
    assert find_paths(answer) == ["options.notifications[1].name"]
    rule = {"everySeconds": 60, "notifications": [tell("down", name="")]}
    body = {"name": "backup", "options": {"silence": rule}}
    answer = alerts.web.post_json(ENDPOINTS, body, headers=ADMIN, status=400)
    assert find_paths(answer) == ["options.silence.notifications[0].name"]


def test_a_release_refuses_an_unknown_name(service, clock):
    answer = Releases(service, clock).create(400, notifications=[tell("held", name="#other")])
    assert [detail["path"] for detail in answer["details"]] == ["notifications[0].name"]


def test_a_name_and_an_address_exclude_each_other(alerts, create, receiver):
    create()
    channels = [
        tell("success") | {"url": "https://example.com/", "secret": SECRET},
        {"type": "webhook", "url": "https://example.com/", "name": NAME, "on": ["success"]},
    ]
    body = alerts.body(options={"notifications": channels})
    answer = alerts.web.post_json(SETS, body, headers=ADMIN, status=400)
    at = "options.notifications"
    assert find_paths(answer) == [f"{at}[0].url", f"{at}[0].secret", f"{at}[1].name"]


def test_an_integration_in_use_is_neither_deleted_nor_renamed(alerts, create, service, clock):
    id = create()["id"]
    one = alerts.set(options={"notifications": [tell("success")]})
    Silence(service, clock).endpoint(everySeconds=60, notifications=[tell("down")])
    endpoint = Make(alerts.web).endpoint("rules")
    query = {"kind": "impactMetric", "metric": "m", "measure": "rate", "environment": "production"}
    rule = {"name": "errors", "endpointId": endpoint["id"], "source": query, "above": 1}
    channels = {"notifications": [tell("firing")]}
    alerts.web.post_json(RULES, rule | channels, headers=ADMIN, status=201)
    answer = alerts.web.delete(f"{ADDONS}/{id}", headers=ADMIN, status=409)
    for user in ("action set kill checkout of default", "endpoint backup", "alert rule errors"):
        assert user in answer.json["message"]
    for name in ("#renamed", None):
        body = make_body(name=name)
        alerts.web.put_json(f"{ADDONS}/{id}", body, headers=ADMIN, status=409)
    alerts.web.delete(f"{SETS}/{one['id']}", headers=ADMIN, status=200)
    answer = alerts.web.delete(f"{ADDONS}/{id}", headers=ADMIN, status=409)
    assert "action set" not in answer.json["message"]


def test_a_release_uses_an_integration_until_it_ends(create, service, web, clock):
    id = create()["id"]
    kit = Releases(service, clock)
    release = kit.create(notifications=[tell("held")])
    answer = web.delete(f"{ADDONS}/{id}", headers=ADMIN, status=409)
    assert "release of checkout in production" in answer.json["message"]
    kit.command(release, "rollback")
    web.delete(f"{ADDONS}/{id}", headers=ADMIN, status=200)


def test_a_put_without_a_name_keeps_it(create, web):
    id = create()["id"]
    body = make_body(events=["feature-created"])
    assert web.put_json(f"{ADDONS}/{id}", body, headers=ADMIN).json["name"] == NAME
    body["name"] = " #new   name "
    assert web.put_json(f"{ADDONS}/{id}", body, headers=ADMIN).json["name"] == "#new name"
    web.delete(f"{ADDONS}/{id}", headers=ADMIN, status=200)


@pytest.mark.parametrize("name", [NAME, "x" * 101, 5], ids=repr)
def test_a_bad_name_is_refused(name, web, create):
    create()
    answer = web.post_json(ADDONS, make_body(name=name), headers=ADMIN, status=400)
    assert find_paths(answer) == ["name"]
