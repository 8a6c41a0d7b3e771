"""The frontend API: contexts, responses, invalid bodies, CORS origins."""

from __future__ import annotations

import pytest
import webtest

from tests.contract.kit import Answer, Api

DISABLED = {"name": "disabled", "enabled": False, "feature_enabled": True, "featureEnabled": True}


def constrained(api: Api, name: str, context_name: str, *values: str) -> None:
    api.flag(name)
    constraint = {"contextName": context_name, "operator": "IN", "values": list(values)}
    api.strategy(name, constraints=[constraint])
    api.on(name)


@pytest.fixture
def by_context(api):
    """One flag for each field of the context."""
    for field, value in (
        ("userId", "7"),
        ("sessionId", "s1"),
        ("remoteAddress", "10.0.0.1"),
        ("appName", "shop"),
        ("environment", "dev"),
        ("region", "eu"),
        ("plan", "gold"),
    ):
        constrained(api, f"for.{field}", field, value)
    api.on(api.flag("for.all"))
    api.flag("for.none")
    return api


def test_each_field_of_the_context(by_context, check):
    api = by_context
    browser = api.frontend()
    rows = [
        ("", {}, []),
        ("?userId=7", {"userId": "7"}, ["userId"]),
        ("?userId=8", {"userId": "8"}, []),
        ("?sessionId=s1", {"sessionId": "s1"}, ["sessionId"]),
        ("?remoteAddress=10.0.0.1", {"remoteAddress": "10.0.0.1"}, ["remoteAddress"]),
        ("?appName=shop", {"appName": "shop"}, ["appName"]),
        ("?properties[region]=eu", {"properties": {"region": "eu"}}, ["region"]),
        ("?properties%5Bregion%5D=eu", {"properties": {"region": "eu"}}, ["region"]),
        ("?region=eu", {"region": "eu"}, ["region"]),
        ("?region=eu&plan=gold", {"region": "eu", "plan": "gold"}, ["plan", "region"]),
        (
            "?userId=7&properties[plan]=gold",
            {"userId": "7", "properties": {"plan": "gold"}},
            ["plan", "userId"],
        ),
        ("?properties[userId]=7&userId=8", {"userId": "8", "properties": {}}, []),
    ]
    for query, context, fields in rows:
        names = sorted(["for.all", *(f"for.{f}" for f in fields)])
        check.equal(sorted(api.toggles(browser, query)), names, f"GET {query}")
        check.equal(sorted(api.evaluate(browser, context)), names, f"POST {context}")
    numbers = api.evaluate(browser, {"userId": 7, "properties": {"plan": 3}})
    check("for.userId" in numbers, "numbers are tolerated")


def test_the_answer(api, check):
    browser = api.frontend()
    api.on(api.flag("plain"))
    api.on(api.flag("seen", impressionData=True))
    api.flag("off")
    api.flag("varied")
    payload = {"type": "json", "value": '{"a":1}'}
    red = {"name": "red", "weight": 1000, "weightType": "variable", "stickiness": "default"}
    api.strategy(
        "varied",
        name="flexibleRollout",
        parameters={"rollout": "100", "stickiness": "default", "groupId": "varied"},
        variants=[red | {"payload": payload}],
    )
    api.on("varied")
    answer = api.get("/api/frontend", browser)
    check.status(answer, 200)
    check.equal(set(answer.json), {"toggles"}, "keys of the body")
    check.equal(answer.content_type, "application/json", "content type")
    check("no-cache" in answer.headers.get("Cache-Control", ""), "Cache-Control: no-cache")
    actual = {t["name"]: t for t in answer.json["toggles"]}
    check.equal(sorted(actual), ["plain", "seen", "varied"], "only what is on")
    for toggle in actual.values():
        keys = {"name", "enabled", "impressionData", "variant"}
        check.equal(set(toggle), keys, f"keys of {toggle['name']}")
        check.equal(toggle["enabled"], True, f"{toggle['name']} enabled")
    check.equal(actual["plain"]["variant"], DISABLED, "no variant")
    check.equal(actual["plain"]["impressionData"], False, "impressionData")
    check.equal(actual["seen"]["impressionData"], True, "impressionData")
    check.equal(
        actual["varied"]["variant"],
        {"name": "red", "enabled": True, "feature_enabled": True, "featureEnabled": True,
         "payload": payload},
        "variant",
    )  # fmt: skip
    check.equal(api.post("/api/frontend", {}, browser).json, answer.json, "POST {} is the same")


def test_not_modified(api, check):
    browser = api.frontend()
    api.on(api.flag())
    api.flag("other")
    first = api.get("/api/frontend?userId=1", browser)
    etag = first.headers.get("ETag", "")
    check(etag, "an ETag")
    second = api.get("/api/frontend?userId=1", browser | {"If-None-Match": etag})
    check.status(second, 304)
    check.equal(second.body, b"", "empty body")
    api.on("other")
    changed = api.get("/api/frontend?userId=1", browser | {"If-None-Match": etag})
    check.status(changed, 200, "changed")
    check(changed.headers.get("ETag") != etag, "a new ETag")


def test_scope(api, check):
    api.project("web")
    for project in ("default", "web"):
        for environment in ("development", "production"):
            name = api.flag(f"{project}.{environment}", project)
            api.on(name, environment, project)
    rows = [
        (api.frontend(), ["default.development", "web.development"]),
        (api.frontend("production"), ["default.production", "web.production"]),
        (api.frontend(projects=["web"]), ["web.development"]),
        (api.frontend("production", projects=["default", "web"]),
         ["default.production", "web.production"]),
    ]  # fmt: skip
    for headers, names in rows:
        for query in ("", "?project=default", "?environment=production"):
            check.equal(sorted(api.toggles(headers, query)), names, f"{names} {query}")


def test_a_parent_in_another_project_still_counts(api, check):
    """The scope of a token limits the response, not the evaluation."""
    api.project("web")
    api.flag("child", "web")
    api.on("child", project="web")
    api.flag("parent", "web")
    api.done("POST", f"{api.flag_path('child', 'web')}/dependencies", {"feature": "parent"})
    browser = api.frontend(projects=["web"])
    check.equal(sorted(api.toggles(browser)), [], "parent off")
    api.on("parent", project="web")
    check.equal(sorted(api.toggles(browser)), ["child", "parent"], "parent on")


def test_a_parent_that_must_be_off(api, check):
    browser = api.frontend()
    api.flag("parent")
    api.on(api.flag("child"))
    body = {"feature": "parent", "enabled": False}
    api.done("POST", f"{api.flag_path('child')}/dependencies", body)
    check.equal(sorted(api.toggles(browser)), ["child"], "parent off")
    api.on("parent")
    check.equal(sorted(api.toggles(browser)), ["parent"], "parent on")


def test_current_time_is_a_field_of_the_context(api, check):
    browser = api.frontend()
    api.flag()
    constraint = {
        "contextName": "currentTime", "operator": "DATE_AFTER", "value": "2030-01-01T00:00:00.000Z",
    }  # fmt: skip
    api.strategy("demo", constraints=[constraint])
    api.on("demo")
    for time, names in (("2031-01-01T00:00:00.000Z", ["demo"]), ("2029-01-01T00:00:00.000Z", [])):
        check.equal(list(api.toggles(browser, f"?currentTime={time}")), names, f"GET {time}")
        check.equal(list(api.evaluate(browser, {"currentTime": time})), names, f"POST {time}")


def test_the_remote_address_is_filled_in(service, check):
    api = Api(webtest.TestApp(service.app, extra_environ={"REMOTE_ADDR": "192.0.2.9"}))
    constrained(api, "demo", "remoteAddress", "192.0.2.9")
    browser = api.frontend()
    check.equal(list(api.toggles(browser)), ["demo"], "the caller's own")
    check.equal(list(api.toggles(browser, "?remoteAddress=10.0.0.1")), [], "as told")


def test_rollout_is_sticky_and_proportional(api, check):
    browser = api.frontend()
    api.flag()
    parameters = {"rollout": "50", "stickiness": "userId", "groupId": "demo"}
    api.strategy("demo", name="flexibleRollout", parameters=parameters)
    api.on("demo")
    first = [bool(api.toggles(browser, f"?userId={n}")) for n in range(40)]
    check.equal([bool(api.toggles(browser, f"?userId={n}")) for n in range(40)], first, "sticky")
    check(8 <= sum(first) <= 32, f"half of them: {sum(first)} of 40")
    check.equal(list(api.toggles(browser)), [], "without the field: off")


def test_invalid_bodies_are_rejected(api, check):
    browser = api.frontend()
    for body in (
        b"{", b"", b"[]", b"1", b'"x"', b'{"context": "x"}', b'{"context": [1]}',
        b'{"context": {"properties": "x"}}', b'{"context": {"properties": [1]}}', b"\xff",
    ):  # fmt: skip
        check.error(api.post("/api/frontend", body, browser), 400)
    for kind in ("text/plain", "application/x-www-form-urlencoded", "application/octet-stream"):
        plain = browser | {"Content-Type": kind}
        check.error(api.post("/api/frontend", b'{"context":{}}', plain), 415, message=kind)
    big = b'{"context":{"userId":"' + b"a" * 102_401 + b'"}}'
    check.error(api.post("/api/frontend", big, browser), 413)
    for body in (b"{}", b'{"context": {}}', b'{"context": {"unknown": true}}', b'{"other": 1}'):
        check.status(api.post("/api/frontend", body, browser), 200)
    charset = browser | {"Content-Type": "application/json; charset=utf-8"}
    check.status(api.post("/api/frontend", b"{}", charset), 200, "with a charset")
    for query in (
        "?properties=x",
        "?properties[]=x",
        "?userId=a&userId=b",
        "?%00=1",
        "?userId=%ff",
    ):
        answer = api.get(f"/api/frontend{query}", browser)
        check(answer.status_int in (200, 400), f"{query}: {answer.status}")


BASES = pytest.mark.parametrize("base", ["/api/frontend", "/api/proxy"])


def ask_both_ways(api: Api, path: str, user_id: str, headers: dict[str, str]) -> list[Answer]:
    context = {"context": {"userId": user_id}}
    return [api.get(f"{path}?userId={user_id}", headers), api.post(path, context, headers)]


@BASES
def test_all_flags_with_disabled_ones(by_context, check, base):
    browser = by_context.frontend()
    by_context.project("web")
    by_context.on(by_context.flag("elsewhere", "web", impressionData=True), "production", "web")
    for answer in ask_both_ways(by_context, f"{base}/all", "7", browser):
        check.status(answer, 200)
        toggles = {toggle["name"]: toggle for toggle in answer.json["toggles"]}
        check.equal(len(toggles), len(answer.json["toggles"]), "each name comes once")
        enabled = sorted(name for name, toggle in toggles.items() if toggle["enabled"])
        check.equal(enabled, ["for.all", "for.userId"], "enabled")
        check("for.none" in toggles and "for.region" in toggles, f"disabled: {sorted(toggles)}")
        off = {"name": "disabled", "enabled": False, "feature_enabled": False,
               "featureEnabled": False}  # fmt: skip
        expected = {"name": "elsewhere", "enabled": False, "impressionData": True, "variant": off}
        check.equal(toggles["elsewhere"], expected, "a disabled flag")
    scoped = by_context.frontend(projects=["web"])
    answer = by_context.get(f"{base}/all", scoped)
    check.equal([t["name"] for t in answer.json["toggles"]], ["elsewhere"], "the token's projects")


@BASES
def test_one_flag_by_name(by_context, check, base):
    browser = by_context.frontend()
    toggles = by_context.toggles(browser, "?userId=7")
    for name, is_enabled in (("for.userId", True), ("for.region", False), ("for.none", False)):
        for answer in ask_both_ways(by_context, f"{base}/features/{name}", "7", browser):
            check.status(answer, 200)
            check.equal((answer.json["name"], answer.json["enabled"]), (name, is_enabled), name)
            if is_enabled:
                check.equal(answer.json, toggles[name], "as in the list")
    etag = by_context.get(f"{base}/features/for.all", browser).headers["ETag"]
    current = by_context.get(f"{base}/features/for.all", browser | {"If-None-Match": etag})
    check.status(current, 304)
    check.error(by_context.get(f"{base}/features/nothing", browser), 404)
    by_context.project("web")
    other = by_context.frontend(projects=["web"])
    check.error(by_context.get(f"{base}/features/for.all", other), 404, message="other project")
    client = by_context.client()
    check.error(by_context.get(f"{base}/features/for.all", client), 403, message="client token")


def test_the_paths_of_the_proxy_are_names_of_the_frontend_api(by_context, check):
    browser = by_context.frontend()
    for theirs, ours in zip(
        ask_both_ways(by_context, "/api/proxy", "7", browser | ORIGIN),
        ask_both_ways(by_context, "/api/frontend", "7", browser | ORIGIN),
        strict=True,
    ):
        check.status(theirs, 200)
        check.equal(theirs.json, ours.json, "body")
        for name in ("ETag", "Access-Control-Allow-Origin", "Access-Control-Expose-Headers"):
            check.equal(theirs.headers.get(name), ours.headers.get(name), name)
    preflight = by_context.ask("OPTIONS", "/api/proxy/client/metrics", headers=ASK)
    check.status(preflight, 204)


def test_a_setting_turns_the_paths_of_the_proxy_off(make_service, check):
    api = Api(webtest.TestApp(make_service({}, {"SERVICE_PROXY_PATHS": "false"}).app))
    api.on(api.flag())
    browser = api.frontend()
    for path in ("", "/all", "/features/demo"):
        check.error(api.get(f"/api/proxy{path}", browser), 404, message=path)
        check.status(api.get(f"/api/frontend{path}", browser), 200)
    for path in ("metrics", "register"):
        answer = api.post(f"/api/proxy/client/{path}", {"appName": "a"}, browser)
        check.error(answer, 404, message=path)


@pytest.mark.parametrize("path", ["/api/frontend/client", "/api/frontend", "/api/proxy/client"])
def test_metrics_and_registration(api, check, path):
    browser = api.frontend()
    register = {"appName": "web", "interval": 10, "started": 0, "strategies": []}
    for name, body in (("metrics", {"appName": "web"}), ("register", register)):
        answer = api.post(f"{path}/{name}", body, browser)
        check.status(answer, 200, name)
        check.equal(answer.text, "OK", f"{name}: text")
        nameless = {k: v for k, v in body.items() if k != "appName"}
        check.error(api.post(f"{path}/{name}", nameless, browser), 400, message=name)
        check.error(api.post(f"{path}/{name}", b"{", browser), 400, message=name)
        plain = browser | {"Content-Type": "text/plain"}
        check.error(api.post(f"{path}/{name}", b"{}", plain), 415, message=name)
        check.status(api.post(f"{path}/{name}", body, api.client()), 403, f"client token, {name}")


def test_addresses_that_answer_no(api, check):
    browser = api.frontend()
    for path in (
        "/api/frontend/client/features",
        "/api/frontend/health",
        "/api/frontend/internal-backstage/prometheus",
    ):
        check.error(api.get(path, browser), 405, message=path)
    check.status(api.put("/api/frontend", {}, browser), (404, 405))
    check.status(api.delete("/api/frontend", browser), (404, 405))


ORIGIN = {"Origin": "https://shop.example"}
ASK = ORIGIN | {
    "Access-Control-Request-Method": "GET",
    "Access-Control-Request-Headers": "authorization,unleash-appname",
}


def test_other_origins_by_default(api, check):
    browser = api.frontend()
    for what, answer, status in (
        ("GET", api.get("/api/frontend", browser | ORIGIN), 200),
        ("POST", api.post("/api/frontend", {}, browser | ORIGIN), 200),
        ("no token", api.get("/api/frontend", ORIGIN), 401),
        ("metrics", api.post("/api/frontend/client/metrics", {"appName": "a"}, browser | ORIGIN),
         200),
        ("bad body", api.post("/api/frontend", b"{", browser | ORIGIN), 400),
    ):  # fmt: skip
        check.status(answer, status, what)
        allowed = answer.headers.get("Access-Control-Allow-Origin")
        check(allowed in ("*", ORIGIN["Origin"]), f"{what}: Allow-Origin {allowed}")
        exposed = answer.headers.get("Access-Control-Expose-Headers", "")
        check("etag" in exposed.lower(), f"{what}: Expose-Headers {exposed!r}")
        if allowed == "*":
            credentials = "Access-Control-Allow-Credentials"
            check(credentials not in answer.headers, f"{what}: no credentials with *")


def test_preflight(api, make_service, check):
    for path in ("/api/frontend", "/api/frontend/client/metrics", "/api/frontend/client/register"):
        answer = api.ask("OPTIONS", path, headers=ASK)
        check.status(answer, 204, "without a token")
        check.equal(answer.body, b"", "no body")
        headers = answer.headers
        methods = {m.strip() for m in headers.get("Access-Control-Allow-Methods", "").split(",")}
        check({"GET", "POST"} <= methods, f"{path}: Allow-Methods {methods}")
        named = headers.get("Access-Control-Allow-Headers", "").lower()
        check("authorization" in named and "unleash-appname" in named, f"{path}: headers {named!r}")
        check.equal(headers.get("Access-Control-Max-Age"), "86400", f"{path}: Max-Age")
        check(headers.get("Access-Control-Allow-Origin"), f"{path}: Allow-Origin")
    other = Api(webtest.TestApp(make_service({"accessControlMaxAge": 5}).app))
    answer = other.ask("OPTIONS", "/api/frontend", headers=ASK)
    check.equal(answer.headers.get("Access-Control-Max-Age"), "5", "as configured")
    for path in ("/api/client/features", "/api/admin/projects"):
        answer = api.ask("OPTIONS", path, headers=ASK)
        check("Access-Control-Allow-Origin" not in answer.headers, f"{path} has no CORS")


def test_configured_origins(api, check):
    browser = api.frontend()
    path = "/api/admin/ui-config/cors"
    check.status(api.post(path, {"frontendApiOrigins": ["https://shop.example"]}), 204)
    answer = api.get("/api/frontend", browser | ORIGIN)
    check.equal(
        answer.headers.get("Access-Control-Allow-Origin"), ORIGIN["Origin"], "the matching origin"
    )
    check("origin" in answer.headers.get("Vary", "").lower(), "Vary: Origin")
    for other in ("https://evil.example", "http://shop.example", "https://shop.example.evil"):
        answer = api.get("/api/frontend", browser | {"Origin": other})
        check("Access-Control-Allow-Origin" not in answer.headers, f"{other} is not allowed")
        check("origin" in answer.headers.get("Vary", "").lower(), f"{other}: Vary")
    for bad in (["shop.example"], ["https://shop.example/path"], ["*", 3], "x", ["ftp//x"]):
        check.error(api.post(path, {"frontendApiOrigins": bad}), 400)
    config = api.get("/api/admin/ui-config")
    if check.status(config, 200):
        check.equal(config.json.get("frontendApiOrigins"), ["https://shop.example"], "ui-config")
    check.status(api.post(path, {"frontendApiOrigins": ["*"]}), 204)
    answer = api.get("/api/frontend", browser | {"Origin": "https://any.example"})
    allowed = answer.headers.get("Access-Control-Allow-Origin")
    check(allowed in ("*", "https://any.example"), f"everyone again: {allowed}")
