"""The admin API of integrations, as clients of the compared server use it."""

from __future__ import annotations

import json
import re
import threading

import pytest

from sigservice.concurrency.workers import MAX_INTEGRATION_TESTS
from sigservice.services.integrations import integration_delivery
from tests.conftest import ADMIN, Cast
from tests.integrations_kit import ADDONS, ENVIRON, URL, Integrations, make_body
from tests.receiver import receiving
from tests.waiting import until

NAME = "#oncall"
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
DATADOG = {"provider": "datadog", "parameters": {"url": "https://dd.example/x", "apiKey": "k3y"}}


@pytest.fixture
def receiver():
    with receiving() as one:
        yield one


@pytest.fixture
def kit(make_service, receiver, clock):
    return Integrations(make_service(environ=ENVIRON), receiver, clock)


def test_an_integration_is_created_read_changed_and_deleted(kit):
    parameters = {"url": "https://hooks.example/x", "contentType": "text/plain", "other": 1}
    body = make_body(parameters=parameters, description="Announce", more="ignored")
    created = kit.call("post", ADDONS, body, 201)
    path = f"{ADDONS}/{created['id']}"
    assert created == {
        "id": created["id"],
        "name": None,
        "provider": "webhook",
        "enabled": True,
        "description": "Announce",
        "parameters": {"url": "*****", "contentType": "text/plain"},
        "events": ["feature-created"],
        "projects": [],
        "environments": [],
        "createdAt": created["createdAt"],
        "disabledReason": None,
        "deliveries": {"waiting": 0, "lastSentAt": None, "lastError": None},
    }
    assert kit.call("get", path) == created
    changed = make_body(events=["feature-archived"], projects=["default"], environments=["*"])
    updated = kit.call("put", path, changed, 200)
    assert updated["description"] == "Announce"
    assert updated["parameters"] == {"url": "*****"}
    assert kit.call("get", ADDONS)["addons"] == [updated]
    assert kit.web.delete(path, headers=ADMIN, status=200).body == b""
    kit.web.delete(path, headers=ADMIN, status=404)
    kit.call("get", f"{path}/events", status=404)
    types = ["addon-config-created", "addon-config-updated", "addon-config-deleted"]
    for type in types:
        (event,) = kit.call("get", f"/api/admin/search/events?type=IS:{type}")["events"]
        assert "parameters" not in str(event)
        assert "hooks.example" not in str(event)


def test_providers_have_the_parameters_that_clients_know(kit):
    providers = {one["name"]: one for one in kit.call("get", ADDONS)["providers"]}
    assert {
        name: " ".join(
            parameter["name"] + "!" * parameter["required"] + "*" * parameter["sensitive"]
            for parameter in provider["parameters"]
        )
        for name, provider in providers.items()
    } == {
        "webhook": "url!* contentType authorization* customHeaders* bodyTemplate secret*",
        "slack": "url!* username emojiIcon defaultChannel! customHeaders*",
        "slack-app": "accessToken!* defaultChannels",
        "teams": "url!* customHeaders*",
        "teamsworkflow": "url!* customHeaders*",
        "email": "to!",
        "datadog": "url apiKey!* sourceTypeName customHeaders* bodyTemplate",
        "new-relic": "url! licenseKey!* customHeaders* bodyTemplate",
    }
    assert providers["slack"]["deprecated"]
    assert "deprecated" not in providers["webhook"]


def test_a_provider_creates_its_tag_type(kit):
    parameters = {"accessToken": "xoxb-1", "defaultChannels": "general"}
    for _ in range(2):
        kit.call("post", ADDONS, make_body(provider="slack-app", parameters=parameters), 201)
    assert kit.call("get", "/api/admin/tag-types/slack")["name"] == "slack"


def with_parameters(**parameters):
    return {"parameters": {"url": "https://hooks.example/x"} | parameters}


WRONG = [
    ({"provider": ""}, "provider"),
    ({"provider": "constructor"}, "provider"),
    ({"enabled": "true"}, "enabled"),
    ({"events": [5]}, "events[0]"),
    ({"events": [""]}, "events[0]"),
    ({"events": []}, "events"),
    ({"events": ["no-such-event"]}, "events[0]"),
    ({"projects": None}, "projects"),
    ({"projects": ["nowhere"]}, "projects[0]"),
    ({"environments": ["nowhere"]}, "environments[0]"),
    ({"description": "x" * 1001}, "description"),
    ({"parameters": {}}, "parameters.url"),
    ({"parameters": {"url": ""}}, "parameters.url"),
    ({"parameters": {"url": "*****"}}, "parameters.url"),
    ({"parameters": {"url": []}}, "parameters.url"),
    (with_parameters(url="not a url"), "parameters.url"),
    (with_parameters(url=5), "parameters.url"),
    (with_parameters(url="ftp://hooks.example/"), "parameters.url"),
    (with_parameters(url="https://me:pw@hooks.example/"), "parameters.url"),
    (with_parameters(url="https://hooks.example:22/"), "parameters.url"),
    (with_parameters(url="http://0x7f.2/"), "parameters.url"),
    (with_parameters(url="http://[fd00::1]/"), "parameters.url"),
    (with_parameters(url="http://169.254.169.254/"), "parameters.url"),
    (with_parameters(bodyTemplate="{{#event}}"), "parameters.bodyTemplate"),
    (with_parameters(bodyTemplate="{{event"), "parameters.bodyTemplate"),
    (with_parameters(bodyTemplate="{{#a}}{{/b}}"), "parameters.bodyTemplate"),
    (with_parameters(customHeaders="[]"), "parameters.customHeaders"),
    (with_parameters(customHeaders="text"), "parameters.customHeaders"),
    (with_parameters(customHeaders='{"a": 1}'), "parameters.customHeaders"),
    (with_parameters(customHeaders='{"a b": "c"}'), "parameters.customHeaders"),
    (with_parameters(customHeaders='{"Host": "c"}'), "parameters.customHeaders"),
    (with_parameters(customHeaders='{"Webhook-Id": "c"}'), "parameters.customHeaders"),
    (with_parameters(customHeaders='{"a": "b\\r\\nc: d"}'), "parameters.customHeaders"),
    (with_parameters(authorization="a\nb"), "parameters.authorization"),
    (with_parameters(contentType="a\rb"), "parameters.contentType"),
    (with_parameters(secret="s3cret"), "parameters.secret"),
]


def test_bad_input_is_refused_with_its_path(kit):
    for changes, path in WRONG:
        answer = kit.call("post", ADDONS, make_body() | changes, 400)
        assert path in [one["path"] for one in answer["details"]], (changes, answer)
    for missing in ("provider", "enabled", "parameters", "events"):
        body = {name: value for name, value in make_body().items() if name != missing}
        assert kit.call("post", ADDONS, body, 400)["details"][0]["path"] == missing
    assert kit.call("get", ADDONS)["addons"] == []


def test_a_masked_secret_is_kept_but_not_for_another_server(kit):
    id = kit.call("post", ADDONS, make_body(**DATADOG), 201)["id"]
    masked = {"url": "https://dd.example/y", "apiKey": "*****"}
    body = make_body(provider="datadog", parameters=masked)
    answer = kit.call("put", f"{ADDONS}/{id}", body, 200)
    assert answer["parameters"] == masked
    body["parameters"] = {"url": "https://evil.example/y", "apiKey": "*****"}
    answer = kit.call("put", f"{ADDONS}/{id}", body, 400)
    assert answer["details"][0]["path"] == "parameters.apiKey"
    body["parameters"] = {"apiKey": "*****"}  # the default URL is another server too
    kit.call("put", f"{ADDONS}/{id}", body, 400)


def test_a_provider_cannot_change(kit):
    id = kit.create()
    answer = kit.call("put", f"{ADDONS}/{id}", make_body(**DATADOG), 400)
    assert answer["details"][0]["path"] == "provider"


def test_names_that_were_deleted_since_are_accepted_in_a_put(kit):
    kit.call("post", "/api/admin/projects", {"id": "web", "name": "Web"}, 201)
    id = kit.create(projects=["web"])
    kit.call("delete", "/api/admin/projects/web")
    kit.call("put", f"{ADDONS}/{id}", make_body(projects=["web"]), 200)
    kit.call("post", ADDONS, make_body(projects=["web"]), 400)


def test_a_dump_of_the_database_holds_no_secret(kit, rows):
    parameters = {
        "url": "https://hooks.example/hunter2",
        "authorization": "hunter2",
        "customHeaders": '{"X-Key": "hunter2"}',
        "secret": SECRET,
    }
    kit.call("post", ADDONS, make_body(parameters=parameters), 201)
    dump = str(rows("SELECT i::text FROM integrations i UNION ALL SELECT e::text FROM events e"))
    assert "hunter2" not in dump
    assert SECRET not in dump


def test_who_may_do_what(make_service, receiver, clock):
    service = make_service(environ={"SERVICE_WEBHOOK_ALLOWED_HOSTS": "127.0.0.1"})
    kit, cast = Integrations(service, receiver, clock), Cast(service)
    id = kit.create()
    admins_only = kit.create(events=["user-created"])
    editor, viewer = cast.signed_in("ed"), cast.signed_in("vera")
    viewer.get(f"{ADDONS}/{id}", status=200)
    for path in (f"{ADDONS}/{id}/test", f"{ADDONS}/{id}/deliveries/1/retry"):
        viewer.post_json(path, {}, status=403)
        editor.post_json(path.replace(str(id), str(admins_only), 1), {}, status=403)
    editor.post_json(f"{ADDONS}/{id}/test", {}, status=200)
    editor.get(f"{ADDONS}/{id}/events", status=403)
    editor.post_json(ADDONS, make_body(), status=201)
    editor.put_json(f"{ADDONS}/{admins_only}", make_body(), status=403)
    editor.delete(f"{ADDONS}/{admins_only}", status=403)
    kit.web.get(ADDONS, status=401)


@pytest.mark.parametrize("type", ["*", "api-token-created", "release-held", "safeguard-triggered"])
def test_only_admins_change_where_events_of_admins_and_of_automation_go(kit, service, type):
    editor = Cast(service).signed_in("ed")
    editor.post_json(ADDONS, make_body(events=[type]), status=403)
    id = kit.create(events=["feature-created", type], enabled=False)
    for changes in ({"enabled": False}, {"url": "https://evil.example/x"}, {}):
        editor.put_json(f"{ADDONS}/{id}", make_body(**changes), status=403)
    editor.delete(f"{ADDONS}/{id}", status=403)
    editor.post_json(f"{ADDONS}/{id}/test", {}, status=403)


def test_the_number_is_limited(make_service, receiver, clock):
    service = make_service(environ=ENVIRON | {"SERVICE_INTEGRATIONS_LIMIT": "1"})
    kit = Integrations(service, receiver, clock)
    kit.create()
    assert kit.call("post", ADDONS, make_body(), 400)["name"] == "ExceedsLimitError"


def test_ids_that_no_row_has(kit):
    for id in ("0", "-1", "99999999999", "x", "1.5"):
        for method in ("get", "delete"):
            response = getattr(kit.web, method)(f"{ADDONS}/{id}", headers=ADMIN, status="*")
            assert response.status_int in (400, 404), id


def test_a_test_returns_the_answer_of_the_receiver(kit, receiver):
    id = kit.create(enabled=False)
    test = kit.call("post", f"{ADDONS}/{id}/test", {}, 200)
    assert test["state"] == "success"
    assert re.fullmatch(r"The receiver answered 204 in \d+ ms\.", test["stateDetails"])
    receiver.answers = [(404, {})]
    assert kit.call("post", f"{ADDONS}/{id}/test", {}, 200) == {
        "state": "failed",
        "stateDetails": "The server responded with status 404.",
    }
    event = kit.bodies()[0]
    assert event["type"] == "integration-test"
    assert event["id"] == 0
    assert kit.deliveries(id) == [] == kit.entries(id)


def test_a_receiver_that_hangs_keeps_few_tests_waiting(kit, receiver):
    ids, receiver.hold = [kit.create() for _ in range(MAX_INTEGRATION_TESTS + 1)], threading.Event()
    states = []

    def send_test(id):
        states.append(kit.call("post", f"{ADDONS}/{id}/test", {}, 200)["state"])

    threads = [threading.Thread(target=send_test, args=(id,)) for id in ids[:-1]]
    threads[0].start()
    try:
        until(lambda: receiver.requests, "the first test")
        kit.call("post", f"{ADDONS}/{ids[0]}/test", {}, 409)  # a second one of the same
        for thread in threads[1:]:
            thread.start()
        until(lambda: len(receiver.requests) == MAX_INTEGRATION_TESTS, "the others")
        problem = kit.call("post", f"{ADDONS}/{ids[-1]}/test", {}, 409)
        assert problem["name"] == "ConflictError"
        assert len(receiver.requests) == MAX_INTEGRATION_TESTS
    finally:
        receiver.hold.set()
        for thread in threads:
            thread.join()
    assert states == ["success"] * MAX_INTEGRATION_TESTS
    kit.call("post", f"{ADDONS}/{ids[-1]}/test", {}, 200)


def test_a_test_without_time_for_all_channels_says_so(make_service, receiver, clock, monkeypatch):
    environ = ENVIRON | {"SERVICE_SLACK_API_URL": f"{receiver.url}/api"}
    kit = Integrations(make_service(environ=environ), receiver, clock)
    parameters = {"accessToken": "xoxb-1", "defaultChannels": "aa,bb"}
    id = kit.create(provider="slack-app", parameters=parameters)
    receiver.answers, receiver.body = [(200, {})], b'{"ok": true}'
    monkeypatch.setattr(integration_delivery, "_START_SECONDS", -1)
    assert kit.call("post", f"{ADDONS}/{id}/test", {}, 200) == {
        "state": "failed",
        "stateDetails": "There was no time for all recipients.",
    }


def test_a_retry_of_a_disabled_integration_conflicts(kit, receiver):
    id = kit.create()
    receiver.answers = [(400, {})]
    kit.flag()
    kit.run()
    delivery = kit.deliveries(id)[0]["id"]
    kit.call("put", f"{ADDONS}/{id}", make_body(f"{receiver.url}/", enabled=False), 200)
    kit.call("post", f"{ADDONS}/{id}/deliveries/{delivery}/retry", {}, 409)


def test_a_rotated_key_encrypts_the_secrets_again(kit, rows, receiver):
    from sigservice.services.integrations import integrations

    kit.create()
    before = bytes(rows("SELECT secrets FROM integrations")[0][0])
    context = kit.service.context
    with context.database.transaction() as conn:
        assert integrations.rotate_secrets(conn, context.encryption) == 1
    after = bytes(rows("SELECT secrets FROM integrations")[0][0])
    assert before != after
    assert json.loads(context.encryption.decrypt(after)) == {"url": f"{receiver.url}/hook"}


def test_links_begin_with_the_public_url(kit, receiver):
    kit.call(
        "post",
        ADDONS,
        make_body(parameters={"url": receiver.url, "bodyTemplate": "{{{eventMarkdown}}}"}),
        201,
    )
    kit.flag("f_1")
    kit.run()
    (request,) = receiver.requests
    assert f"[f\\_1]({URL}/admin/features/f_1)" in request.body.decode()


def test_a_put_without_a_name_keeps_it(web):
    id = web.post_json(ADDONS, make_body(name=NAME), headers=ADMIN).json["id"]
    body = make_body(events=["feature-created"])
    assert web.put_json(f"{ADDONS}/{id}", body, headers=ADMIN).json["name"] == NAME
    body["name"] = " #new   name "
    assert web.put_json(f"{ADDONS}/{id}", body, headers=ADMIN).json["name"] == "#new name"
    web.delete(f"{ADDONS}/{id}", headers=ADMIN, status=200)


@pytest.mark.parametrize("name", [NAME, "x" * 101, 5], ids=repr)
def test_a_bad_name_is_refused(name, web):
    web.post_json(ADDONS, make_body(name=NAME), headers=ADMIN)
    answer = web.post_json(ADDONS, make_body(name=name), headers=ADMIN, status=400)
    assert [detail["path"] for detail in answer.json["details"]] == ["name"]
