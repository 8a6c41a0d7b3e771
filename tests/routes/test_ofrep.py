"""OFREP: contexts, values, caching, credentials, errors of the protocol, CORS."""

from __future__ import annotations

import random

import pytest
import webtest

from sigservice.services import revisions
from tests.conftest import ADMIN
from tests.delivery.kit import constraint, rollout, variant
from tests.routes.kit import NO_OBJECTS, give_projects
from tests.routes.test_frontend import (
    ALLOW,
    CLIENT,
    CREDENTIALS,
    FRONTEND,
    HERE,
    OPTIONS,
    SHOP,
    THERE,
    add,
    only,
    set_origins,
)
from tests.table_tests import each

PATH = "/ofrep/v1/evaluate/flags"
COLOR = variant("red", 1000, payload={"type": "string", "value": "#f00"})


@pytest.fixture
def service(make_service):
    service = make_service(OPTIONS)
    give_projects(service, SHOP["Authorization"], ["shop"])
    return service


def evaluate(web, key, headers=FRONTEND, status=200, **context):
    body = {"context": context}
    return web.post_json(f"{PATH}/{key}", body, headers=headers, status=status).json


def evaluate_all(web, etag="", headers=FRONTEND, **context):
    headers = headers | {"If-None-Match": etag}
    return web.post_json(PATH, {"context": context}, headers=headers)


def by_key(answer):
    return {flag["key"]: flag for flag in answer.json["flags"]}


def test_both_kinds_of_tokens_evaluate_one_flag_and_all(web):
    add(web, "color", rollout(100, variants=[COLOR]))
    add(web, "seven", only(constraint("userId", "IN", "7")))
    web.post_json("/api/admin/projects/default/features", {"name": "off"}, headers=ADMIN)
    color = {
        "key": "color",
        "value": "#f00",
        "reason": "STATIC",
        "variant": "red",
        "metadata": {"enabled": True},
    }
    off = {
        "key": "off",
        "value": False,
        "reason": "DISABLED",
        "variant": None,
        "metadata": {"enabled": False},
    }
    seven = off | {"key": "seven", "reason": "TARGETING_MATCH"}
    on = seven | {"value": True, "metadata": {"enabled": True}}
    for headers in (FRONTEND, CLIENT):
        assert evaluate(web, "color", headers) == color
        assert evaluate(web, "off", headers) == off
        assert evaluate(web, "seven", headers, targetingKey="7") == on
        answer = evaluate_all(web, headers=headers)
        assert answer.json["flags"] == [color, off, seven]
        assert answer.json["metadata"]["version"].isdigit()


def test_answers_are_those_of_the_frontend_api(web, service):
    """A hundred flags, many contexts, through both APIs."""
    dice = random.Random(14)
    plans = ["free", "pro", "team"]
    flags = [f"f{n:02}" for n in range(100)]
    for n, name in enumerate(flags[:8]):
        strategies = [
            only(constraint("plan", "IN", dice.choice(plans))),
            rollout(50, "userId", variants=[variant("a"), variant("b")] if n % 2 else [COLOR]),
        ]
        add(web, name, *strategies[: 1 + n % 3])
    with service.context.database.transaction() as conn, conn.cursor() as cursor:
        copy_flags(cursor, flags)
        revisions.bump(conn, flags=None)
    results = set()
    for _ in range(40):
        context = {"userId": str(dice.randrange(50)), "plan": dice.choice(plans)}
        answer = web.post_json("/api/frontend", {"context": context}, headers=FRONTEND).json
        toggles = {toggle["name"]: toggle["variant"] for toggle in answer["toggles"]}
        answers = by_key(evaluate_all(web, targetingKey=context.pop("userId"), **context))
        assert [*answers] == flags
        for name, answer in answers.items():
            toggle = toggles.get(name, {"enabled": False})
            value = toggle.get("payload", {"value": name in toggles})["value"]
            assert answer["value"] == value
            assert answer["variant"] == (toggle["name"] if toggle["enabled"] else None)
            results.add((answer["reason"], value))
    assert len(results) >= 6


def copy_flags(cursor, names):
    """Creates the flags `names` after the first eight, each as a copy of one of these."""
    for position, name in enumerate(names[8:]):
        source = names[position % 8]
        cursor.execute(
            "INSERT INTO features (name, project, type, created_by) "
            "SELECT %s, project, type, created_by FROM features WHERE name = %s",
            (name, source),
        )
        cursor.execute(
            "INSERT INTO feature_environments (feature, environment, enabled, variants) "
            "SELECT %s, environment, enabled, variants FROM feature_environments "
            "WHERE feature = %s ON CONFLICT (feature, environment) "
            "DO UPDATE SET enabled = excluded.enabled, variants = excluded.variants",
            (name, source),
        )


def test_fields_of_the_context(web):
    for name in ("userId", "sessionId", "remoteAddress", "appName", "region", "targetingKey"):
        add(web, name, only(constraint(name, "IN", "10.0.0.7")))
    add(web, "nested", only(constraint("cart", "IN", '{"items":[1],"total":2.5}')))
    add(web, "text", only(constraint("properties", "IN", "x")))
    add(web, "later", only(constraint("currentTime", "DATE_AFTER", value="2100-01-01T00:00:00Z")))
    add(web, "local", only(constraint("remoteAddress", "IN", "127.0.0.1")))

    def enabled(**context):
        return [key for key, flag in by_key(evaluate_all(web, **context)).items() if flag["value"]]

    assert enabled() == []
    assert enabled(targetingKey="10.0.0.7") == ["targetingKey", "userId"]
    assert enabled(targetingKey="10.0.0.7", userId="8") == ["targetingKey"]
    assert enabled(targetingKey="8", userId="10.0.0.7") == ["userId"]
    assert enabled(targetingKey="10.0.0.7", userId="") == ["targetingKey", "userId"]
    assert enabled(targetingKey=None, userId=None) == enabled(targetingKey="") == []
    for name in ("sessionId", "remoteAddress", "appName", "region"):
        assert enabled(**{name: "10.0.0.7"}) == [name]
    assert enabled(properties={"region": "10.0.0.7", "more": {"a": []}}) == ["region"]
    assert enabled(properties="x") == ["text"]
    assert enabled(cart={"total": 2.5, "items": [1]}) == ["nested"]
    assert enabled(currentTime="2100-01-02T00:00:00Z") == ["later"]
    headers = {"REMOTE_ADDR": "127.0.0.1"}
    local = web.post_json(f"{PATH}/local", {}, headers=FRONTEND, extra_environ=headers).json
    assert local["value"]


def test_a_body_without_its_context_is_the_context(web):
    add(web, "user", only(constraint("userId", "IN", "7"), constraint("region", "IN", "eu")))
    for body in (
        {"targetingKey": "7", "region": "eu"},
        {"userId": 7, "properties": {"region": "eu"}},
    ):
        assert web.post_json(f"{PATH}/user", body, headers=FRONTEND).json["value"], body
        assert by_key(web.post_json(PATH, body, headers=FRONTEND))["user"]["value"], body
    answer = web.post_json(PATH, {"targetingKey": 7}, headers=FRONTEND, status=400).json
    assert answer["errorCode"] == "INVALID_CONTEXT"


def test_projects_and_environment_are_those_of_the_token(web, service):
    add(web, "here")
    add(web, "shop", environment="production")
    with service.context.database.transaction() as conn, conn.cursor() as cursor:
        cursor.execute("INSERT INTO projects (id, name) VALUES ('shop', 'Shop')")
        cursor.execute("UPDATE features SET project = 'shop' WHERE name = 'shop'")
        revisions.bump(conn, flags=None)
    assert evaluate(web, "shop")["reason"] == "DISABLED"
    assert [*by_key(evaluate_all(web, headers=SHOP))] == ["shop"]
    assert evaluate(web, "shop", SHOP)["value"]
    assert evaluate(web, "here", SHOP, status=404)["errorCode"] == "FLAG_NOT_FOUND"


def test_etag_covers_context_scope_and_revision(web, service):
    add(web, "f", only(constraint("plan", "IN", "pro")))
    first = evaluate_all(web, targetingKey="1", plan="pro")
    etag = first.headers["ETag"]
    for _ in range(2):
        answer = evaluate_all(web, etag, plan="pro", targetingKey="1")
        assert (answer.status_int, answer.body, answer.headers["ETag"]) == (304, b"", etag)
    for context in ({"plan": "free"}, {"plan": "pro", "other": "x"}, {}):
        assert evaluate_all(web, etag, targetingKey="1", **context).status_int == 200
    assert evaluate_all(web, etag, targetingKey="2", plan="pro").status_int == 200
    assert evaluate_all(web, etag, SHOP, targetingKey="1", plan="pro").status_int == 200
    web.post("/api/admin/projects/default/features/f/environments/development/off", headers=ADMIN)
    answer = evaluate_all(web, etag, plan="pro", targetingKey="1")
    assert not by_key(answer)["f"]["value"]
    assert answer.json["metadata"] != first.json["metadata"]
    query = f"{PATH}?flagConfigEtag=%2243%22&flagConfigLastModified=1771622898"
    web.post_json(query, {"context": {}}, headers=FRONTEND)


def test_what_depends_on_randomness_or_the_time_is_never_behind_a_304(web):
    add(web, "half", rollout(50, "random"))
    answers = [evaluate_all(web, targetingKey="1") for _ in range(60)]
    values = {answer.headers["ETag"]: by_key(answer)["half"]["value"] for answer in answers}
    assert sorted(values.values()) == [False, True]


def test_bulk_answers_read_only_the_revision(web, service, monkeypatch):
    add(web, "f")
    evaluate_all(web)
    run = service.context.database.autocommit
    count = 0

    def counting(*args, **kwargs):
        nonlocal count
        count += 1
        return run(*args, **kwargs)

    monkeypatch.setattr(service.context.database, "autocommit", counting)
    evaluate_all(web)
    evaluate(web, "f")
    assert count == 2


CREDENTIAL_HEADERS = [
    {"Authorization": FRONTEND["Authorization"]},
    {"Authorization": f"Bearer {FRONTEND['Authorization']}"},
    {"X-API-Key": FRONTEND["Authorization"]},
    {"X-API-Key": CLIENT["Authorization"]},
    {"X-API-Key": "wrong", **FRONTEND},
]


def test_credentials_are_accepted_in_each_header(web):
    add(web, "f")
    large = {"context": {"a": "x" * 9000, "b": "x" * 9000}}
    for headers in CREDENTIAL_HEADERS:
        assert evaluate(web, "f", headers)["value"]
        web.post_json(PATH, large, headers=headers)
    web.get("/api/frontend", headers={"X-API-Key": FRONTEND["Authorization"]}, status=401)


def test_credentials_that_are_not_accepted(web):
    for headers, status in (({}, 401), ({"X-API-Key": "wrong"}, 401), (ADMIN, 403)):
        for path in (PATH, f"{PATH}/f"):
            answer = web.post_json(path, {}, headers=headers, status=status)
            assert answer.json["errorCode"] == "GENERAL"
            assert answer.json["errorDetails"]
            assert ("key" in answer.json) == (path != PATH)


def test_too_many_wrong_tokens_are_told_when_to_try_again(web):
    for _ in range(100):
        answer = web.post_json(PATH, {}, headers={"X-API-Key": "wrong"}, status="*")
        if answer.status_int == 429:
            break
    assert int(answer.headers["Retry-After"]) in range(1, 61)
    assert set(answer.json) == {"errorCode", "errorDetails"}


@each("key", ["none", "a/b", "a%2Fb", "a%20b", "%F0%9F%98%80", "%22%3C", "a.b", "x" * 2000])
def test_an_unknown_flag_is_the_error_of_the_protocol(web, key):
    answer = web.post_json(f"{PATH}/{key}", {}, headers=FRONTEND, status=404)
    assert answer.json["errorCode"] == "FLAG_NOT_FOUND"
    assert answer.json["errorDetails"]
    assert answer.json["key"]


def test_the_key_of_an_error_is_the_one_of_the_path(web):
    for path, key in (("a%2Fb", "a/b"), ("%C3%A9%20", "é ")):
        answer = web.post_json(f"{PATH}/{path}", {}, headers=FRONTEND, status=404)
        assert answer.json["key"] == key


# (body, code)
BODIES = [
    *[({"context": value}, "INVALID_CONTEXT") for value in ([], "x", 1, True, None)],
    *[
        ({"context": {"targetingKey": value}}, "INVALID_CONTEXT")
        for value in (7, 1.5, True, [], {}, ["7"], "x" * 10_001)
    ],
    ({"context": {"plan": "x" * 10_001}}, "INVALID_CONTEXT"),
    ({"context": {"currentTime": "soon"}}, "INVALID_CONTEXT"),
    ({"context": {"currentTime": {}}}, "INVALID_CONTEXT"),
]


def test_an_invalid_context_is_the_error_of_the_protocol(web):
    for body, code in BODIES:
        for path in (PATH, f"{PATH}/f"):
            answer = web.post_json(path, body, headers=FRONTEND, status=400).json
            assert answer.pop("errorDetails").startswith("context"), body
            key = {"key": "f"} if path != PATH else {}
            assert answer == key | {"errorCode": code}, body


def test_a_body_that_is_no_object_is_a_parse_error(web):
    for data in NO_OBJECTS:
        headers = FRONTEND | {"Content-Type": "application/json"}
        answer = web.post(f"{PATH}/f", data, headers=headers, status=400).json
        assert (answer["key"], answer["errorCode"]) == ("f", "PARSE_ERROR"), data


def test_other_errors_have_the_shape_of_the_protocol(web):
    add(web, "f")
    for answer in (
        web.get(PATH, headers=FRONTEND, status=405),
        web.post(f"{PATH}/f", "{}", headers=FRONTEND, status=415),
        web.post_json("/ofrep/v1/other", {}, headers=FRONTEND, status=404),
        web.post_json(PATH, {"context": {"a": "x" * 110_000}}, headers=FRONTEND, status=413),
    ):
        assert answer.content_type == "application/json"
        assert answer.json["errorCode"] == "GENERAL"
        assert answer.json["errorDetails"]


def test_the_base_path_and_double_slashes(make_service):
    web = webtest.TestApp(make_service(OPTIONS, {"BASE_URI_PATH": "/flags"}).app)
    for path in (f"/flags{PATH}", f"/flags/{PATH}", f"//flags//{PATH}"):
        assert web.post_json(path, {}, headers=FRONTEND).json["flags"] == []
        answer = web.post_json(f"{path}/f", {}, headers=FRONTEND, status=404).json
        assert (answer["key"], answer["errorCode"]) == ("f", "FLAG_NOT_FOUND")


def test_pages_of_other_origins_may_call(web, service):
    preflight = HERE | {
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization,content-type,if-none-match,x-api-key",
    }
    for path in (PATH, f"{PATH}/f"):
        answer = web.options(path, headers=preflight, status=204)
        allowed = answer.headers["Access-Control-Allow-Headers"]
        assert allowed == preflight["Access-Control-Request-Headers"]
        assert (answer.headers[ALLOW], CREDENTIALS in answer.headers) == ("*", False)
        for headers in (FRONTEND, {}):
            answer = web.post_json(path, {}, headers=headers | HERE, status="*")
            assert answer.headers[ALLOW] == "*"
            assert answer.headers["Access-Control-Expose-Headers"] == "ETag, Retry-After"
    set_origins(service, '{"frontendApiOrigins": ["https://shop.example"]}')
    assert web.post_json(PATH, {}, headers=FRONTEND | HERE).headers[ALLOW] == HERE["Origin"]
    assert ALLOW not in web.post_json(PATH, {}, headers=FRONTEND | THERE).headers


def test_anonymous_callers_evaluate_when_tokens_are_switched_off(make_service):
    options = {"authentication": OPTIONS["authentication"] | {"enableApiToken": False}}
    web = webtest.TestApp(make_service(options).app)
    assert web.post_json(PATH, {}).json["flags"] == []
    web.post_json(PATH, {}, headers={"X-API-Key": "wrong"}, status=401)
