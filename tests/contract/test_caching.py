"""ETag and 304; the next request sees a change, in its own environment only."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import webtest

from tests.contract.kit import Api, users

PATH = "/api/client/features"


def test_not_modified(api, check):
    client = api.client()
    api.on(api.flag())
    first = api.get(PATH, client)
    etag = first.headers["ETag"]
    bare = etag.removeprefix("W/")
    for what, value, status in (
        ("the same", etag, 304),
        ("weak", f"W/{bare}", 304),
        ("in a list", f'"x", {bare} ,"y"', 304),
        ("any", "*", 304),
        ("another", '"x"', 200),
        ("none of a list", '"x", W/"y"', 200),
        ("without quotes", "x", 200),
        ("empty", "", 200),
    ):
        answer = api.get(PATH, client | {"If-None-Match": value})
        check.status(answer, status, what)
        check.equal(answer.headers.get("ETag"), etag, f"{what}: ETag")
        if status == 304:
            check.equal(answer.body, b"", f"{what}: empty body")
    check.equal(api.get(PATH, client).headers["ETag"], etag, "reading changes nothing")
    check.equal(api.get(PATH, api.client()).headers["ETag"], etag, "the same for a like token")
    gone = api.get(f"{PATH}?project=default", client | {"If-None-Match": etag})
    check.status(gone, 200, "another query")
    check(gone.headers.get("ETag") != etag, "another query has another ETag")
    inlined = api.get(PATH, client | {"Unleash-Client-Spec": "5.1.7", "If-None-Match": etag})
    check.status(inlined, 200, "listed segments are another answer than inlined ones")
    head = api.ask("HEAD", PATH, headers=client)
    check(head.status_int in (200, 404, 405) and head.body == b"", "HEAD has no body")


def test_environments_have_their_own_revision(api, check):
    development, production = api.client(), api.client("production")

    def etags() -> tuple[str, str]:
        return (
            api.get(PATH, development).headers["ETag"],
            api.get(PATH, production).headers["ETag"],
        )

    api.flag()
    before = etags()
    check(before[0] != before[1], "environments differ")
    api.on("demo", "production")
    after = etags()
    check.equal(after[0], before[0], "production does not touch development")
    check(after[1] != before[1], "production is touched")
    numbers = [api.payload(c)["meta"]["revisionId"] for c in (development, production)]
    check(numbers[1] > numbers[0], f"revisionId grows where something changed: {numbers}")

    for what, method, path, body in (
        ("tag", "POST", "/api/admin/features/demo/tags", {"type": "simple", "value": "red"}),
        ("description", "PUT", api.flag_path("demo"), {"description": "new", "type": "release"}),
        ("new flag", "POST", "/api/admin/projects/default/features", {"name": "second"}),
    ):
        before = etags()
        api.done(method, path, body)
        after = etags()
        check(before[0] != after[0] and before[1] != after[1], f"{what} changes both ETags")


def test_change_outside_the_document_keeps_the_etag(api, check):
    client = api.client()
    api.flag()
    etag = api.get(PATH, client).headers["ETag"]
    api.project("other")
    api.token(type="client")
    api.done("POST", "/api/admin/tag-types", {"name": "team"})
    api.done("POST", "/api/admin/context", {"name": "region"})
    register = {"appName": "a", "interval": 1, "started": 0, "strategies": []}
    check.status(api.post("/api/client/register", register, client), 202)
    check.equal(api.get(PATH, client).headers["ETag"], etag, "ETag")


Change = Callable[[Api], Any]


def first_id(api: Api) -> str:
    return str(api.state("demo")["strategies"][0]["id"])


def at_strategy(api: Api) -> str:
    return f"{api.at('demo')}/strategies/{first_id(api)}"


def strategies(flags: dict[str, Any]) -> Any:
    return flags["demo"]["strategies"]


#: what is done | what the flags of the client's environment then show
CHANGES: list[tuple[str, Change, Callable[[dict[str, Any]], bool]]] = [
    ("create a flag", lambda a: a.flag("new"), lambda f: "new" in f),
    ("off", lambda a: a.off("demo"), lambda f: not f["demo"]["enabled"]),
    ("on", lambda a: a.on("demo"), lambda f: f["demo"]["enabled"]),
    (
        "add a strategy",
        lambda a: a.strategy("demo", name="userWithId", parameters={"userIds": "7"}),
        lambda f: len(strategies(f)) == 2,
    ),
    (
        "replace a strategy",
        lambda a: a.done("PUT", at_strategy(a), {"name": "default", "constraints": [users("5")]}),
        lambda f: any(c["values"] == ["5"] for s in strategies(f) for c in s["constraints"]),
    ),
    (
        "patch a strategy",
        lambda a: a.done(
            "PATCH",
            at_strategy(a),
            [{"op": "replace", "path": "/constraints", "value": [users("6")]}],
        ),
        lambda f: any(c["values"] == ["6"] for s in strategies(f) for c in s["constraints"]),
    ),
    (
        "disable a strategy",
        lambda a: a.done(
            "PATCH", at_strategy(a), [{"op": "replace", "path": "/disabled", "value": True}]
        ),
        lambda f: len(strategies(f)) == 1,
    ),
    (
        "use a segment",
        lambda a: a.strategy("demo", segments=[a.segment("extra")]),
        lambda f: any(s.get("segments") for s in strategies(f)),
    ),
    (
        "delete a strategy",
        lambda a: a.done("DELETE", at_strategy(a)),
        lambda f: len(strategies(f)) in (1, 2),
    ),
    (
        "mark stale",
        lambda a: a.done(
            "POST", "/api/admin/projects/default/stale", {"features": ["demo"], "stale": True}
        ),
        lambda f: f["demo"]["stale"],
    ),
    (
        "describe",
        lambda a: a.done("PUT", a.flag_path("demo"), {"description": "x", "type": "permission"}),
        lambda f: f["demo"]["type"] == "permission",
    ),
    (
        "patch the flag",
        lambda a: a.done(
            "PATCH",
            a.flag_path("demo"),
            [{"op": "replace", "path": "/impressionData", "value": True}],
        ),
        lambda f: f["demo"]["impressionData"] is True,
    ),
    (
        "depend",
        lambda a: a.done("POST", f"{a.flag_path('demo')}/dependencies", {"feature": "new"}),
        lambda f: f["demo"].get("dependencies"),
    ),
    (
        "depend no more",
        lambda a: a.done("DELETE", f"{a.flag_path('demo')}/dependencies/new"),
        lambda f: not f["demo"].get("dependencies"),
    ),
    (
        "clone",
        lambda a: a.done("POST", f"{a.flag_path('demo')}/clone", {"name": "copy"}),
        lambda f: "copy" in f,
    ),
    ("archive", lambda a: a.done("DELETE", a.flag_path("copy")), lambda f: "copy" not in f),
    (
        "revive",
        lambda a: a.done("POST", "/api/admin/archive/revive/copy"),
        lambda f: "copy" in f and not f["copy"]["enabled"],
    ),
    (
        "archive several",
        lambda a: a.done("POST", "/api/admin/projects/default/archive", {"features": ["copy"]}),
        lambda f: "copy" not in f,
    ),
    (
        "switch several on",
        lambda a: a.done(
            "POST",
            "/api/admin/projects/default/bulk_features/environments/development/on",
            {"features": ["new"]},
        ),
        lambda f: f["new"]["enabled"],
    ),
    (
        "switch several off",
        lambda a: a.done(
            "POST",
            "/api/admin/projects/default/bulk_features/environments/development/off",
            {"features": ["new"]},
        ),
        lambda f: not f["new"]["enabled"],
    ),
]


def test_the_next_request_sees_each_change(api, check):
    client = api.client()
    api.flag()
    api.strategy("demo")
    api.on("demo")
    etag = api.get(PATH, client).headers["ETag"]
    for what, change, shows in CHANGES:
        change(api)
        answer = api.get(PATH, client | {"If-None-Match": etag, "Unleash-Client-Spec": "5.1.7"})
        if not check.status(answer, 200, what):
            continue
        check(answer.headers["ETag"] != etag, f"{what}: a new ETag")
        etag = answer.headers["ETag"]
        flags = {flag["name"]: flag for flag in answer.json["features"]}
        try:
            results = shows(flags)
        except (KeyError, IndexError) as error:
            results = False
            check(False, f"{what}: {error!r}")
        check(results, f"{what} is not seen: {flags.get('demo')}")


def test_the_next_request_sees_a_segments_change_in_each_environment(api, check):
    segment = api.segment("staff", [users("1")])
    api.flag()
    clients = {name: api.client(name) for name in ("development", "production")}
    for name in clients:
        api.strategy("demo", name, segments=[segment])
        api.on("demo", name)
    etags = {name: api.get(PATH, client).headers["ETag"] for name, client in clients.items()}
    api.put(f"/api/admin/segments/{segment}", {"name": "staff", "constraints": [users("2")]})
    for name, client in clients.items():
        answer = api.get(PATH, client | {"If-None-Match": etags[name]})
        if check.status(answer, 200, name):
            (strategy,) = answer.json["features"][0]["strategies"]
            values = [c["values"] for c in strategy["constraints"]]
            check.equal(values, [["2"]], f"{name}: the segment's new constraint")
    browser = api.frontend()
    check.equal(list(api.toggles(browser, "?userId=2")), ["demo"], "frontend, in")
    check.equal(list(api.toggles(browser, "?userId=1")), [], "frontend, out")


@pytest.mark.parametrize("kind", ["client", "frontend"])
def test_deleted_token_is_rejected_at_once(api, check, kind):
    path = PATH if kind == "client" else "/api/frontend"
    secret = api.token(type=kind)["secret"]
    headers = {"Authorization": secret}
    check.status(api.get(path, headers), 200, "before")
    check.status(api.delete(f"/api/admin/api-tokens/{secret}"), 200, "delete")
    check.status(api.get(path, headers), 401, "after")


def test_the_frontend_sees_each_change_at_once(api, check):
    browser = api.frontend()
    api.flag()
    check.equal(list(api.toggles(browser)), [], "off")
    api.on("demo")
    check.equal(list(api.toggles(browser)), ["demo"], "on")
    api.off("demo")
    check.equal(list(api.toggles(browser)), [], "off again")
    api.on("demo")
    (strategy,) = api.state("demo")["strategies"]
    path = f"{api.at('demo')}/strategies/{strategy['id']}"
    api.done("PUT", path, {"name": "default", "constraints": [users("7")]})
    check.equal(list(api.toggles(browser)), [], "constrained")
    check.equal(list(api.toggles(browser, "?userId=7")), ["demo"], "within the constraint")
    api.done("DELETE", api.flag_path("demo"))
    check.equal(list(api.toggles(browser, "?userId=7")), [], "archived")


def test_a_second_server_on_the_database_sees_it_too(make_service, check):
    one, two = (Api(webtest.TestApp(make_service().app)) for _ in range(2))
    client = one.client()
    one.flag()
    check.equal(two.flags(client)["demo"]["enabled"], False, "off on the other")
    etag = two.get(PATH, client).headers["ETag"]
    one.on("demo")
    answer = two.get(PATH, client | {"If-None-Match": etag})
    if check.status(answer, 200, "changed on the other"):
        check.equal(answer.json["features"][0]["enabled"], True, "on on the other")
    one.delete(f"/api/admin/api-tokens/{client['Authorization']}")
    check.status(two.get(PATH, client), 401, "revoked on the other")


def test_without_the_cache_all_is_the_same(make_service, check):
    options = {"clientFeatureCaching": {"enabled": False}}
    api = Api(webtest.TestApp(make_service(options).app))
    client = api.client()
    api.flag()
    etag = api.get(PATH, client).headers["ETag"]
    check.status(api.get(PATH, client | {"If-None-Match": etag}), 304, "unchanged")
    api.on("demo")
    answer = api.get(PATH, client | {"If-None-Match": etag})
    if check.status(answer, 200, "changed"):
        check.equal(answer.json["features"][0]["enabled"], True, "on")
