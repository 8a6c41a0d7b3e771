"""The admin API of signal endpoints: fields, codes, limits, permissions, events."""

from __future__ import annotations

import pytest
import webtest

from tests.conftest import ADMIN
from tests.routes.kit import OWN_PAGE, race_for_statuses

PATH = "/api/admin/signal-endpoints"


def events(web, **query):
    return web.get("/api/admin/events", query, headers=ADMIN).json["events"]


def test_create_returns_the_endpoint_with_its_url(web):
    body = {"name": "deploys", "description": "from CI"}
    answer = web.post_json(PATH, body, headers=ADMIN, status=201)
    endpoint = answer.json
    assert endpoint["name"] == "deploys"
    assert endpoint["description"] == "from CI"
    assert endpoint["enabled"] is True
    assert endpoint["createdByUserId"] == -42
    assert endpoint["tokens"] == []
    assert endpoint["url"].endswith("/api/signal-endpoint/deploys")
    assert answer.headers["Location"] == f"{PATH}/{endpoint['id']}"
    assert web.get(answer.headers["Location"], headers=ADMIN).json == endpoint


def test_template_fills_absent_options(web):
    def create(name, **body):
        return web.post_json(PATH, {"name": name} | body, headers=ADMIN, status="*")

    options = create("a", template="alertmanager").json["options"]
    assert options["rateLimit"] == {"perSecond": 10.0, "burst": 100, "status": 503}
    own = {"statusPath": "state"}
    assert create("b", template="alertmanager", options=own).json["options"] == own
    answer = create("c", template="alert-manager")
    assert answer.status_int == 400
    assert answer.json["details"][0]["path"] == "template"


def test_an_endpoint_has_its_template(web, make):
    assert make.endpoint("plain")["template"] is None
    path = f"{PATH}/{make.endpoint('alerts', template='alertmanager')['id']}"
    assert web.get(path, headers=ADMIN).json["template"] == "alertmanager"


def test_replace_keeps_an_absent_template(web, make):
    path = f"{PATH}/{make.endpoint('alerts', template='alertmanager')['id']}"
    assert web.put_json(path, {"name": "a"}, headers=ADMIN).json["template"] == "alertmanager"


def test_replace_changes_the_template_and_no_options(web, make):
    endpoint = make.endpoint("alerts", template="alertmanager")
    path = f"{PATH}/{endpoint['id']}"
    for template in ("grafana", None):
        body = {"name": "alerts", "template": template}
        answer = web.put_json(path, body, headers=ADMIN).json
        assert (answer["template"], answer["options"]) == (template, endpoint["options"])


def test_replace_refuses_an_unknown_template(web, make):
    path = f"{PATH}/{make.endpoint('alerts')['id']}"
    for template in ("alert-manager", "", "silence"):
        body = {"name": "alerts", "template": template}
        answer = web.put_json(path, body, headers=ADMIN, status=400)
        assert answer.json["details"][0]["path"] == "template", template


def test_list_has_tokens_without_secrets(web, make):
    endpoint = make.endpoint()
    token = make.token(endpoint)
    (endpoint,) = web.get(PATH, headers=ADMIN).json["signalEndpoints"]
    assert endpoint["tokens"][0]["name"] == "ci"
    assert "token" not in endpoint["tokens"][0]
    assert token["token"] not in web.get(PATH, headers=ADMIN).text


def test_replace_keeps_absent_enabled_and_clears_the_description(web, make):
    endpoint = make.endpoint(description="x", enabled=False)
    answer = web.put_json(f"{PATH}/{endpoint['id']}", {"name": "other"}, headers=ADMIN)
    assert (answer.json["name"], answer.json["enabled"]) == ("other", False)
    assert answer.json["description"] is None
    assert answer.json["url"].endswith("/other")


def test_endpoint_is_enabled_and_disabled(web, make):
    endpoint = make.endpoint()
    path = f"{PATH}/{endpoint['id']}"
    assert web.post(f"{path}/off", headers=ADMIN).json["enabled"] is False
    assert web.post(f"{path}/on", headers=ADMIN).json["enabled"] is True


def test_delete_removes_tokens_and_signals(web, make, clock):
    endpoint = make.endpoint()
    token = make.token(endpoint)
    auth = {"Authorization": token["token"]}
    web.post("/api/signal-endpoint/deploys", headers=auth)
    web.delete(f"{PATH}/{endpoint['id']}", headers=ADMIN, status=200)
    clock.advance(1)
    web.post("/api/signal-endpoint/deploys", headers=auth, status=401)
    assert web.get("/api/admin/signals", headers=ADMIN).json == {"signals": [], "total": 0}
    web.get(f"{PATH}/{endpoint['id']}/signals", headers=ADMIN, status=404)


@pytest.mark.parametrize(
    "name", ["", "Deploys", "a b", "a/b", "ä", "x" * 101, "a\n", "a.b", "a%20b"]
)
def test_bad_names_are_400_with_a_path(web, name):
    answer = web.post_json(PATH, {"name": name}, headers=ADMIN, status=400)
    assert answer.json["details"][0]["path"] == "name"


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({}, "name"),
        ({"name": 1}, "name"),
        ({"name": "a", "enabled": "yes"}, "enabled"),
        ({"name": "a", "description": 5}, "description"),
        ({"name": "a", "description": "x" * 1001}, "description"),
        ([], None),
        ("a", None),
    ],
)
def test_bad_bodies_are_400(web, body, path):
    answer = web.post_json(PATH, body, headers=ADMIN, status=400)
    assert answer.json["name"] == "BadDataError"
    assert answer.json["details"][0].get("path") == path


def test_names_are_unique(web, make):
    make.endpoint()
    other = make.endpoint("other")
    answer = web.post_json(PATH, {"name": "deploys"}, headers=ADMIN, status=409)
    assert answer.json["name"] == "NameExistsError"
    web.put_json(f"{PATH}/{other['id']}", {"name": "deploys"}, headers=ADMIN, status=409)


def test_sixth_endpoint_is_rejected(web, make):
    for n in range(5):
        make.endpoint(f"e{n}")
    answer = web.post_json(PATH, {"name": "e5"}, headers=ADMIN, status=400)
    assert answer.json["name"] == "ExceedsLimitError"
    assert "5" in answer.json["message"]


def test_limit_is_an_option(make_service):
    service = make_service(environ={"SERVICE_SIGNAL_ENDPOINTS_LIMIT": "1"})
    web = webtest.TestApp(service.app)
    web.post_json(PATH, {"name": "a"}, headers=ADMIN)
    web.post_json(PATH, {"name": "b"}, headers=ADMIN, status=400)


def test_20_concurrent_requests_do_not_exceed_the_limit(service, web):
    def ask(racer, n):
        body = {"name": f"e{n}"}
        return racer.post_json(PATH, body, headers=ADMIN, expect_errors=True)

    assert race_for_statuses(service, 20, ask) == [201] * 5 + [400] * 15
    assert len(web.get(PATH, headers=ADMIN).json["signalEndpoints"]) == 5


def test_one_of_20_concurrent_requests_gets_the_name(service):
    def ask(racer, n):
        return racer.post_json(PATH, {"name": "same"}, headers=ADMIN, expect_errors=True)

    assert race_for_statuses(service, 20, ask) == [201] + [409] * 19


def test_every_change_records_an_event(web, make):
    endpoint = make.endpoint()
    path = f"{PATH}/{endpoint['id']}"
    web.post(f"{path}/off", headers=ADMIN)
    web.post(f"{path}/off", headers=ADMIN)  # nothing changes, nothing is recorded
    web.put_json(path, {"name": "new"}, headers=ADMIN)
    web.delete(path, headers=ADMIN)
    endpoint_events = [e for e in events(web) if e["type"].startswith("signal-endpoint-")]
    assert [e["type"] for e in endpoint_events] == [
        "signal-endpoint-deleted",
        "signal-endpoint-updated",
        "signal-endpoint-updated",
        "signal-endpoint-created",
    ]
    renamed = endpoint_events[1]
    assert (renamed["preData"]["name"], renamed["data"]["name"]) == ("deploys", "new")
    assert renamed["createdByUserId"] == -42


def test_rejected_change_records_no_event(web, make):
    make.endpoint()
    before = len(events(web))
    web.post_json(PATH, {"name": "deploys"}, headers=ADMIN, status=409)
    assert len(events(web)) == before


@pytest.mark.parametrize("id", ["0", "999", "99999999999", "9" * 19])
def test_unknown_id_is_404(web, id):
    web.get(f"{PATH}/{id}", headers=ADMIN, status=404)
    web.put_json(f"{PATH}/{id}", {"name": "a"}, headers=ADMIN, status=404)
    web.delete(f"{PATH}/{id}", headers=ADMIN, status=404)
    web.post(f"{PATH}/{id}/on", headers=ADMIN, status=404)


@pytest.mark.parametrize("id", ["-1", "1.5", "x", "%D9%A1", "9" * 30, "1%00"])
def test_invalid_id_is_rejected(web, id):
    web.get(f"{PATH}/{id}", headers=ADMIN, status=[400, 404])


@pytest.mark.parametrize("kind", ["text/plain", "", "application/x-www-form-urlencoded"])
def test_body_that_is_not_json_is_415(web, kind):
    answer = web.post(PATH, '{"name": "a"}', headers=ADMIN, content_type=kind, status=415)
    assert answer.json["name"] == "ContentTypeError"


def test_request_without_credentials_is_401(web):
    answer = web.get(PATH, status=401)
    assert answer.json["name"] == "AuthenticationRequired"
    assert answer.json["type"] == "password"
    assert answer.json["path"] == "/auth/simple/login"
    answer = web.get(PATH, headers={"Authorization": "*:*.wrong"}, status=401)
    assert answer.json["name"] == "UnauthorizedError"


@pytest.mark.parametrize("name", ["ed", "vera"])
def test_editors_and_viewers_are_rejected(cast, name):
    web = cast.signed_in(name)
    answer = web.get(PATH, status=403)
    assert answer.json["name"] == "PermissionError"
    assert answer.json["permissions"] == ["ADMIN"]
    csrf = {"X-CSRF-Token": web.csrf}
    web.post_json(PATH, {"name": "a"}, headers=csrf, status=403)


def test_admin_session_needs_the_csrf_token(cast):
    web = cast.signed_in("ada")
    web.get(PATH)
    web.post_json(PATH, {"name": "a"}, headers=OWN_PAGE, status=403)
    web.post_json(PATH, {"name": "a"}, headers={"X-CSRF-Token": "x"}, status=403)
    foreign = {"X-CSRF-Token": web.csrf, "Sec-Fetch-Site": "cross-site"}
    web.post_json(PATH, {"name": "a"}, headers=foreign, status=403)
    foreign = {"X-CSRF-Token": web.csrf, "Origin": "https://evil.example"}
    web.post_json(PATH, {"name": "a"}, headers=foreign, status=403)
    own = {"X-CSRF-Token": web.csrf, "Origin": "http://localhost:80"}
    web.post_json(PATH, {"name": "a"}, headers=own, status=201)
