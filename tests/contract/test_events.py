"""Each change records an event, and events can be searched."""

from __future__ import annotations

from typing import Any

from tests.contract.kit import Api, users

SEARCH = "/api/admin/search/events"
P = "/api/admin/projects/default"


def strategy_path(api: Api) -> str:
    return f"{api.at('demo')}/strategies/{api.state('demo')['strategies'][0]['id']}"


def steps(api: Api) -> list[tuple[str, str, Any, set[str], dict[str, Any]]]:
    """Method, path, body, the types one of which is written, and columns filled."""
    flag = {"featureName": "demo", "project": "default"}
    here = flag | {"environment": "development"}
    updated = {"feature-metadata-updated", "feature-updated"}
    return [
        ("POST", f"{P}/features", {"name": "demo"}, {"feature-created"}, flag),
        ("PUT", f"{P}/features/demo", {"description": "x"}, updated, flag),
        ("POST", f"{api.at('demo')}/strategies", {"name": "default"}, {"feature-strategy-add"},
         here),
        ("POST", f"{api.at('demo')}/on", None, {"feature-environment-enabled"}, here),
        ("POST", f"{api.at('demo')}/off", None, {"feature-environment-disabled"}, here),
        ("POST", "/api/admin/features/demo/tags", {"type": "simple", "value": "red"},
         {"feature-tagged"}, {"featureName": "demo"}),
        ("DELETE", "/api/admin/features/demo/tags/simple/red", None, {"feature-untagged"},
         {"featureName": "demo"}),
        ("POST", f"{P}/stale", {"features": ["demo"], "stale": True}, {"feature-stale-on"}, flag),
        ("POST", f"{P}/stale", {"features": ["demo"], "stale": False}, {"feature-stale-off"}, flag),
        ("POST", f"{P}/features", {"name": "parent"}, {"feature-created"}, {}),
        ("POST", f"{P}/features/demo/dependencies", {"feature": "parent"},
         {"feature-dependency-added"}, flag),
        ("DELETE", f"{P}/features/demo/dependencies/parent", None, {"feature-dependency-removed"},
         flag),
        ("DELETE", f"{P}/features/demo", None, {"feature-archived"}, flag),
        ("POST", "/api/admin/archive/revive/demo", None, {"feature-revived"}, flag),
        ("DELETE", f"{P}/features/demo", None, {"feature-archived"}, flag),
        ("DELETE", "/api/admin/archive/demo", None, {"feature-deleted"}, flag),
        ("POST", "/api/admin/segments", {"name": "s", "constraints": [users("1")]},
         {"segment-created"}, {}),
        ("POST", "/api/admin/projects", {"id": "web", "name": "Web"}, {"project-created"},
         {"project": "web"}),
        ("PUT", "/api/admin/projects/web", {"name": "New"}, {"project-updated"},
         {"project": "web"}),
        ("POST", "/api/admin/environments", {"name": "staging", "type": "test"},
         {"environment-created"}, {}),
        ("POST", "/api/admin/projects/web/environments", {"environment": "staging"},
         {"project-environment-added"}, {"project": "web", "environment": "staging"}),
        ("DELETE", "/api/admin/projects/web/environments/staging", None,
         {"project-environment-removed"}, {"project": "web", "environment": "staging"}),
        ("DELETE", "/api/admin/projects/web", None, {"project-deleted"}, {"project": "web"}),
        ("POST", "/api/admin/tag-types", {"name": "team"}, {"tag-type-created"}, {}),
        ("DELETE", "/api/admin/tag-types/team", None, {"tag-type-deleted"}, {}),
        ("POST", "/api/admin/context", {"name": "region"}, {"context-field-created"}, {}),
        ("DELETE", "/api/admin/context/region", None, {"context-field-deleted"}, {}),
        ("POST", "/api/admin/strategies", {"name": "own", "parameters": []}, {"strategy-created"},
         {}),
        ("POST", "/api/admin/api-tokens",
         {"tokenName": "t", "type": "client", "environment": "development"}, {"api-token-created"},
         {}),
    ]  # fmt: skip


def test_each_change_records_an_event(api, check):
    for method, path, body, types, columns in steps(api):
        before = api.done("GET", SEARCH)["total"]
        answer = api.ask(method, path, *(() if body is None else (body,)))
        if not check(answer.status_int < 300, f"{method} {path}: {answer.status} {answer.text}"):
            continue
        result = api.done("GET", SEARCH)
        fresh = result["events"][: result["total"] - before]
        named = [e for e in fresh if e["type"] in types]
        if not check(named, f"{method} {path}: {[e['type'] for e in fresh]} instead of {types}"):
            continue
        event = named[0]
        for key, value in columns.items():
            check.equal(event.get(key), value, f"{event['type']}: {key}")
        keys = {"id", "type", "createdBy", "createdAt", "data", "preData", "project", "environment"}
        check(keys <= set(event), f"{event['type']}: keys missing: {keys - set(event)}")
        if event["type"] == "api-token-created":
            check(answer.json["secret"] not in str(event), "a secret in the event")


def test_strategy_events_have_the_state_before_and_after(api, check):
    api.flag()
    api.strategy("demo", constraints=[users("1")])
    path = strategy_path(api)
    api.done("PUT", path, {"name": "default", "constraints": [users("2")]})
    api.done("DELETE", path)
    events = api.done("GET", f"{SEARCH}?feature=IS:demo")["events"]
    check.equal(
        [e["type"] for e in events],
        ["feature-strategy-remove", "feature-strategy-update", "feature-strategy-add",
         "feature-created"],
        "newest first",
    )  # fmt: skip
    update = next(e for e in events if e["type"] == "feature-strategy-update")
    check("'2'" in str(update["data"]), f"data: {update['data']}")
    check("'1'" in str(update["preData"]), f"preData: {update['preData']}")


def test_failed_change_records_no_event(api, check):
    api.flag()
    before = api.done("GET", SEARCH)["total"]
    for answer in (
        api.post(f"{P}/features", {"name": "demo"}),
        api.post(f"{P}/features", {"name": "a b"}),
        api.post(f"{api.at('demo')}/strategies", {"name": "default", "constraints": [{}]}),
        api.post(f"{api.at('nothing')}/on"),
    ):
        check(answer.status_int >= 400, f"refused: {answer.status}")
    check.equal(api.done("GET", SEARCH)["total"], before, "no event")


def test_lists(api, check):
    api.on(api.flag())
    api.flag("other")
    answer = api.get("/api/admin/events")
    if check.status(answer, 200):
        check.equal(answer.json["version"], 1, "version")
        ids = [e["id"] for e in answer.json["events"]]
        check.equal(ids, sorted(ids, reverse=True), "newest first")
        times = [e["createdAt"] for e in answer.json["events"]]
        check(all(t.endswith("Z") for t in times), f"createdAt: {times[:1]}")
    answer = api.get("/api/admin/events/demo")
    if check.status(answer, 200):
        names = {e["featureName"] for e in answer.json["events"]}
        check.equal(names, {"demo"}, "of one flag")
    nothing = api.get("/api/admin/events/nothing")
    check(nothing.status_int in (200, 404), f"unknown flag: {nothing.status}")


def test_search(api, check):
    api.project("web")
    api.flag("demo")
    api.on("demo")
    api.flag("theirs", "web")
    api.on("theirs", "production", "web")

    def names(query: str) -> list[tuple[str, str]]:
        events = api.done("GET", f"{SEARCH}?{query}")["events"]
        return [(e["type"], e["featureName"]) for e in events]

    on = "feature-environment-enabled"
    check.equal(names(f"type=IS:{on}"), [(on, "theirs"), (on, "demo")], "type")
    check.equal(
        names("type=IS_ANY_OF:feature-created,project-created"),
        [("feature-created", "theirs"), ("feature-created", "demo"), ("project-created", None)],
        "several types",
    )
    check.equal(names(f"feature=IS:demo&type=IS:{on}"), [(on, "demo")], "feature and type")
    check.equal({n for _, n in names("feature=IS_ANY_OF:demo,theirs")}, {"demo", "theirs"}, "any")
    check.equal({n for _, n in names("project=IS:web")} - {None}, {"theirs"}, "project")
    check.equal({n for _, n in names("environment=IS:production")}, {"theirs"}, "environment")
    check.equal({n for _, n in names("query=theirs")}, {"theirs"}, "query")
    check.equal(names("feature=IS:nothing"), [], "nothing")
    check.equal(names("query=%25%25%25"), [], "% is no wildcard")
    everything = api.done("GET", SEARCH)
    page = api.done("GET", f"{SEARCH}?limit=2&offset=1")
    check.equal(
        [e["id"] for e in page["events"]],
        [e["id"] for e in everything["events"][1:3]],
        "limit and offset",
    )
    check.equal(page["total"], everything["total"], "total of all pages")
    author = everything["events"][0]["createdBy"]
    check.equal(api.done("GET", f"{SEARCH}?createdBy=IS:nobody")["total"], 0, "createdBy")
    check(api.done("GET", f"{SEARCH}?createdBy=IS:{author}")["total"] > 0, f"by {author!r}")
    day = everything["events"][0]["createdAt"][:10]
    check(api.done("GET", f"{SEARCH}?from=IS:{day}")["total"] > 0, "from today")
    check(api.done("GET", f"{SEARCH}?to=IS:{day}")["total"] > 0, "to today")
    check.equal(api.done("GET", f"{SEARCH}?to=IS:2001-01-01")["total"], 0, "to long ago")
    check.equal(api.done("GET", f"{SEARCH}?from=IS:2999-01-01")["total"], 0, "from far ahead")
    for bad in ("from=IS:yesterday", "from=2024-01-01", "limit=x", "offset=-1", "type=nonsense",
                "to=IS:2024-13-01"):  # fmt: skip
        answer = api.get(f"{SEARCH}?{bad}")
        check(answer.status_int in (200, 400), f"{bad}: {answer.status}")
