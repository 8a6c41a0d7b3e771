"""The frontend API: contexts, projects, caching, invalid input, CORS origins."""

from __future__ import annotations

import threading

import pytest
import webtest

from sigservice.repository.system import settings
from sigservice.services import revisions
from tests.conftest import ADMIN, ADMIN_TOKEN
from tests.delivery.kit import constraint, rollout, variant
from tests.routes.kit import give_projects

PATH = "/api/frontend"
FRONTEND = {"Authorization": "*:development.frontend"}
CLIENT = {"Authorization": "*:development.client"}
SHOP = {"Authorization": "shop:production.frontend"}
DENIED = {"name": "disabled", "enabled": False, "feature_enabled": True, "featureEnabled": True}


def token(kind, headers, environment, project):
    secret = headers["Authorization"]
    return {"type": kind, "secret": secret, "environment": environment, "project": project}


OPTIONS = {
    "authentication": {
        "initApiTokens": [
            {"type": "admin", "secret": ADMIN_TOKEN, "environment": "*", "project": "*"},
            token("frontend", FRONTEND, "development", "*"),
            token("client", CLIENT, "development", "*"),
            token("frontend", SHOP, "production", "default"),
        ]
    }
}


@pytest.fixture
def service(make_service):
    service = make_service(OPTIONS)
    give_projects(service, SHOP["Authorization"], ["shop"])
    return service


def add(web, name, *strategies, environment="development", **more):
    """A flag that is enabled there for users that match a strategy, or for everyone."""
    path = "/api/admin/projects/default/features"
    web.post_json(path, {"name": name, **more}, headers=ADMIN, status=201)
    path += f"/{name}/environments/{environment}"
    for strategy in strategies:
        web.post_json(f"{path}/strategies", strategy, headers=ADMIN)
    web.post(f"{path}/on", headers=ADMIN)


def only(*constraints, **more):
    return {"name": "default", "constraints": list(constraints)} | more


def names(answer):
    return [toggle["name"] for toggle in answer.json["toggles"]]


def by_query(web, **data):
    return names(web.get(PATH, data, headers=FRONTEND))


def by_body(web, **data):
    return names(web.post_json(PATH, {"context": data}, headers=FRONTEND))


def test_flags_of_the_token_and_their_variants(web, service):
    payload = {"type": "string", "value": "#00f"}
    add(web, "colour", rollout(100, "userId", variants=[variant("blue", payload=payload)]))
    add(web, "banner", impressionData=True)
    add(web, "later", environment="production")
    web.post_json("/api/admin/projects/default/features", {"name": "off"}, headers=ADMIN)
    with service.context.database.transaction() as conn, conn.cursor() as cursor:
        cursor.execute("INSERT INTO projects (id, name) VALUES ('shop', 'Shop')")
        cursor.execute("UPDATE features SET project = 'shop' WHERE name = 'later'")
        revisions.bump(conn, flags=None)
    answer = web.post_json(PATH, {"context": {"userId": 7}}, headers=FRONTEND)
    blue = {"name": "blue", "payload": payload, "enabled": True}
    assert answer.json == {
        "toggles": [
            {"name": "banner", "enabled": True, "variant": DENIED, "impressionData": True},
            {
                "name": "colour",
                "enabled": True,
                "variant": blue | {"feature_enabled": True, "featureEnabled": True},
                "impressionData": False,
            },
        ]
    }
    assert names(web.get(PATH, headers=SHOP)) == ["later"]


def test_fields_and_properties_of_the_context(web):
    fields = ("userId", "sessionId", "appName", "remoteAddress")
    for name in fields:
        add(web, name, only(constraint(name, "IN", "10.0.0.7")))
    add(web, "region", only(constraint("region", "IN", "eu")))
    add(web, "level", only(constraint("level", "NUM_GT", value="3")))
    add(web, "here", only(constraint("environment", "IN", "development")))
    add(web, "later", only(constraint("currentTime", "DATE_AFTER", value="2100-01-01T00:00:00Z")))
    add(web, "local", only(constraint("remoteAddress", "IN", "127.0.0.1")))
    for ask in (by_query, by_body):
        assert ask(web) == ["here"]
        assert ask(web, environment="production") == []  # for constraints; flags are the token's
        for name in fields:
            assert ask(web, **{name: "10.0.0.7"}) == sorted(["here", name])
        assert ask(web, userId="") == ["here"]
        assert ask(web, region="eu", level=4) == ["here", "level", "region"]
        assert ask(web, currentTime="2100-01-02T00:00:00+01:00") == ["here", "later"]
    data = {"properties[region]": "eu", "region": "us", "properties[level]": "4"}
    assert by_query(web, **data) == ["here", "level", "region"]
    assert by_body(web, properties={"region": "eu", "level": 4.5}, region=None) == [
        "here",
        "level",
        "region",
    ]
    local = web.get(PATH, headers=FRONTEND, extra_environ={"REMOTE_ADDR": "127.0.0.1"})
    assert names(local) == ["here", "local"]
    for body in ({}, {"context": None}, {"context": {"properties": None}}, {"other": 1}):
        assert names(web.post_json(PATH, body, headers=FRONTEND)) == ["here"]


@pytest.mark.parametrize("path", [PATH, f"{PATH}/all", f"{PATH}/features/user"])
def test_a_body_without_its_context_is_the_context(web, path):
    add(web, "user", only(constraint("userId", "IN", "7"), constraint("region", "IN", "eu")))
    for body in (
        {"userId": "7", "properties": {"region": "eu"}},
        {"userId": 7, "region": "eu", "context": None},
    ):
        answer = web.post_json(path, body, headers=FRONTEND).json
        (flag,) = answer.get("toggles", [answer])
        assert flag["enabled"], body
    for body in ({"userId": {}}, {"properties": "x"}, {"currentTime": "x"}):
        answer = web.post_json(path, body, headers=FRONTEND, status=400).json
        assert answer["details"][0]["path"] == next(iter(body))


def test_disabled_strategies_and_parameters_that_were_numbers(web):
    add(web, "numbers", only(name="flexibleRollout", parameters={"rollout": 100, "groupId": 1}))
    add(web, "ids", only(name="userWithId", parameters={"userIds": 7}))
    add(web, "part", only(constraint("plan", "IN", "pro")), only(disabled=True))
    assert by_body(web, userId="7") == ["ids", "numbers"]
    assert by_body(web, plan="pro") == ["numbers", "part"]


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("currentTime=soon", "currentTime"),
        ("currentTime=0001-01-01T00:00:00%2B02:00", "currentTime"),
        ("properties=x", "properties"),
        ("properties[a][b]=x", "properties[a][b]"),
        ("properties[]=x", "properties[]"),
        ("plan=" + "x" * 10_001, "plan"),
        ("userId=%ff", None),
        ("userId=%00", None),
        ("&".join(f"p{n}=1" for n in range(201)), None),
    ],
    ids=lambda part: str(part)[:30],
)
def test_a_query_that_makes_no_sense_is_400(web, query, path):
    answer = web.get(f"{PATH}?{query}", headers=FRONTEND, status=400)
    assert answer.json["details"][0].get("path") == path


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ('{"context": "x"}', "context"),
        ('{"context": {"properties": "x"}}', "context.properties"),
        ('{"context": {"properties": {"a": {}}}}', "context.properties.a"),
        ('{"context": {"a": [1]}}', "context.a"),
        ('{"context": {"userId": {}}}', "context.userId"),
        ('{"context": {"currentTime": 1700000000000}}', "context.currentTime"),
        ('{"context": {"userId": "\\u0000"}}', None),
        ('{"context": {"userId": "\\ud800"}}', None),
        ("[]", None),
        ("{", None),
        ("", None),
    ],
    ids=lambda part: str(part)[:30],
)
def test_invalid_body_is_400(web, body, path):
    headers = FRONTEND | {"Content-Type": "application/json"}
    answer = web.post(PATH, body, headers=headers, status=400)
    assert answer.json["details"][0].get("path") == path


def test_all_problems_are_reported_at_once(web):
    context = {"currentTime": "x", "a": [], "properties": {"b": {}}}
    answer = web.post_json(PATH, {"context": context}, headers=FRONTEND, status=400)
    message = {detail["path"] for detail in answer.json["details"]}
    assert message == {"context.currentTime", "context.a", "context.properties.b"}


def test_credentials_and_methods_of_the_frontend_api(web):
    web.get(PATH, status=401)
    web.get(PATH, headers={"Authorization": "*:development.unknown"}, status=401)
    for headers in (CLIENT, ADMIN):
        assert web.get(PATH, headers=headers, status=403).json["name"] == "PermissionError"
    web.post(PATH, "{}", headers=FRONTEND | {"Content-Type": "text/plain"}, status=415)
    web.post(PATH, "{}", headers=FRONTEND | {"Content-Type": ""}, status=415)
    assert "POST" in web.put_json(PATH, {}, headers=FRONTEND, status=405).headers["Allow"]
    for path in ("/client/features", "/health", "/internal-backstage/prometheus"):
        web.get(PATH + path, status=401)
        answer = web.get(PATH + path, headers=FRONTEND, status=405)
        assert answer.json["name"] == "NotImplementedError"


def test_cached_response_is_not_sent_again(web):
    add(web, "old")
    answer = web.get(PATH, headers=FRONTEND)
    etag = answer.headers["ETag"]
    assert etag.startswith('W/"')
    assert answer.headers["Cache-Control"] == "no-cache"
    request = FRONTEND | {"If-None-Match": etag}
    same = web.get(PATH, headers=request, status=304)
    assert (same.body, same.headers["ETag"]) == (b"", etag)
    assert web.head(PATH, headers=FRONTEND).headers["ETag"] == etag
    assert names(web.post_json(PATH, {}, headers=request)) == ["old"]
    add(web, "new")
    changed = web.get(PATH, headers=request)
    assert names(changed) == ["new", "old"]
    assert changed.headers["ETag"] != etag


def builds(web):
    for line in web.get("/internal-backstage/prometheus").text.splitlines():
        if line.startswith("frontend_engine_builds_total "):
            return float(line.split()[1])
    return None


def test_flags_are_compiled_once_for_each_change_and_interval(make_service, clock):
    web = webtest.TestApp(
        make_service(OPTIONS | {"frontendApi": {"refreshIntervalInMs": 5000}}).app
    )
    add(web, "a")
    for _ in range(3):
        by_query(web)
    assert builds(web) == 1
    web.get(PATH, headers=SHOP)
    assert builds(web) == 2
    add(web, "b", environment="production")
    by_query(web)
    built = builds(web)
    clock.advance(4.9)
    by_query(web)
    assert builds(web) == built
    clock.advance(0.2)
    assert by_query(web) == ["a"]
    assert builds(web) == built + 1


def test_without_an_interval_flags_are_compiled_for_changes_alone(web, clock):
    by_query(web)
    clock.advance(1_000_000)
    by_query(web)
    assert builds(web) == 1


def test_result_is_random_without_a_user(web):
    add(web, "half", rollout(50))
    for data in ({"userId": "7"}, {"sessionId": "s"}):
        assert len({tuple(by_query(web, **data)) for _ in range(20)}) == 1
    assert len({tuple(by_query(web)) for _ in range(60)}) == 2


def test_answers_of_one_context_are_not_those_of_another(web, service):
    add(web, "seven", only(constraint("userId", "IN", "7")))
    add(web, "eight", only(constraint("plan", "IN", "8")))
    for _ in range(2):
        assert by_query(web, userId="7") == ["seven"]
        assert by_query(web, userId="8") == []
        assert by_query(web, plan="8") == ["eight"]
        assert names(web.get(PATH, {"userId": "7"}, headers=SHOP)) == []


def test_readers_meet_one_of_two_states_while_flags_change(service):
    web = webtest.TestApp(service.app)
    add(web, "left")
    add(web, "right")
    path = "/api/admin/projects/default/bulk_features/environments/development"
    web.post_json(f"{path}/off", {"features": ["left", "right"]}, headers=ADMIN)
    results, done = [], threading.Event()

    def read():
        try:
            mine = webtest.TestApp(service.app)
            while not done.is_set():
                results.append(tuple(by_query(mine, userId="7")))
        except BaseException as error:  # noqa: BLE001  shown by the assertion below
            results.append(error)

    readers = [threading.Thread(target=read) for _ in range(4)]
    for reader in readers:
        reader.start()
    try:
        for _ in range(10):
            for state, expected in (("on", ["left", "right"]), ("off", [])):
                both = {"features": ["left", "right"]}
                web.post_json(f"{path}/{state}", both, headers=ADMIN)
                assert by_query(web, userId="7") == expected
    finally:
        done.set()
        for reader in readers:
            reader.join()
    assert set(results) == {(), ("left", "right")}


def set_origins(service, text):
    with service.context.database.transaction() as conn:
        settings.save(conn, "frontend", text)
        revisions.bump_tokens(conn)


ALLOW, CREDENTIALS = "Access-Control-Allow-Origin", "Access-Control-Allow-Credentials"
HERE, THERE = {"Origin": "https://shop.example"}, {"Origin": "https://evil.example"}


def test_every_origin_is_allowed_until_origins_are_set(web, service):
    preflight = HERE | {
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization, content-type,b\xe4d, x y",
    }
    for path in (PATH, f"{PATH}/client/metrics", f"{PATH}/nothing"):
        answer = web.options(path, headers=preflight, status=204)
        assert answer.body == b""
        assert answer.headers["Access-Control-Allow-Headers"] == "authorization,content-type"
        assert answer.headers["Access-Control-Max-Age"] == "86400"
        assert {"GET", "POST"} < set(answer.headers["Access-Control-Allow-Methods"].split(","))
        assert (answer.headers[ALLOW], CREDENTIALS in answer.headers) == ("*", False)
    answers = [
        web.get(PATH, headers=FRONTEND | HERE),
        web.get(PATH, headers=HERE, status=401),
        web.get(PATH, headers=CLIENT | HERE, status=403),
        web.get(f"{PATH}/nothing", headers=HERE, status=404),
        web.put(PATH, headers=HERE, status=405),
        web.post(PATH, "x" * 110_000, headers=FRONTEND | HERE, status="*"),
        web.get(f"{PATH}?properties[]=x", headers=FRONTEND | HERE, status=400),
    ]
    for answer in answers:
        assert answer.headers[ALLOW] == "*"
        assert answer.headers["Access-Control-Expose-Headers"] == "ETag"
    for path in ("/api/client/features", "/api/frontends", "/health"):
        assert ALLOW not in web.get(path, headers=HERE, status="*").headers
        assert ALLOW not in web.options(path, headers=preflight, status="*").headers


def test_set_origins_hold_from_the_next_request_on(web, service):
    web.get(PATH, headers=FRONTEND | THERE)
    set_origins(service, '{"frontendApiOrigins": ["https://shop.example", "https://x.example"]}')
    for ask in (
        lambda headers: web.get(PATH, headers=FRONTEND | headers),
        lambda headers: web.get(PATH, headers=headers, status=401),
        lambda headers: web.options(PATH, headers=headers, status=204),
    ):
        good, bad, plain = ask(HERE).headers, ask(THERE).headers, ask({}).headers
        assert (good[ALLOW], good[CREDENTIALS]) == (HERE["Origin"], "true")
        assert good["Access-Control-Expose-Headers"] == "ETag"
        for headers in (bad, plain):
            assert ALLOW not in headers
            assert CREDENTIALS not in headers
        assert all("Origin" in ",".join(h.getall("Vary")) for h in (good, bad, plain))
    set_origins(service, '{"frontendApiOrigins": []}')
    assert web.get(PATH, headers=FRONTEND | THERE).headers[ALLOW] == "*"


def test_how_long_a_preflight_holds_is_configured(make_service):
    web = webtest.TestApp(make_service(OPTIONS | {"accessControlMaxAge": 0}).app)
    answer = web.options(PATH, headers=HERE, status=204)
    assert answer.headers["Access-Control-Max-Age"] == "0"
    assert "Access-Control-Allow-Headers" not in answer.headers


def test_cached_origins_are_used_without_a_database(web, service):
    set_origins(service, '{"frontendApiOrigins": ["https://shop.example"]}')
    web.get(PATH, headers=FRONTEND)
    service.context.database.close()
    answer = web.get(PATH, headers=FRONTEND | HERE, status=503)
    assert answer.headers[ALLOW] == HERE["Origin"]
    assert web.options(PATH, headers=HERE, status=204).headers[ALLOW] == HERE["Origin"]
