"""Segments: constraints, limits of values, and the strategies that use them."""

from __future__ import annotations

import webtest

from tests.contract.kit import Api, users

S = "/api/admin/segments"


def test_segment_is_created_updated_and_deleted(api, check):
    body = {"name": "staff", "description": "Ours", "constraints": [users("1", "2")]}
    answer = api.post(S, body)
    if check.status(answer, 201):
        segment = answer.json
        check(type(segment.get("id")) is int, f"id {segment.get('id')!r}")
        for key in ("name", "description"):
            check.equal(segment.get(key), body[key], key)
        check(answer.headers.get("Location", "").endswith(f"segments/{segment['id']}"), "Location")
        check(
            "createdAt" in segment and "createdBy" in segment,
            f"createdAt, createdBy in {set(segment)}",
        )
    one = f"{S}/{answer.json['id']}"
    read = api.get(one)
    if check.status(read, 200):
        check.equal(read.json["constraints"][0]["values"], ["1", "2"], "constraints")
    api.segment("another")
    items = api.get(S)
    if check.status(items, 200):
        actual = {s["name"]: s for s in items.json["segments"]}
        check.equal(sorted(actual), ["another", "staff"], "list")
        check.equal(actual["staff"].get("usedInFeatures"), 0, "usedInFeatures")
        check.equal(actual["staff"].get("usedInProjects"), 0, "usedInProjects")

    changed = {"name": "team", "description": "New", "constraints": [users("3")]}
    answer = api.put(one, changed)
    check.status(answer, 204)
    check.equal(answer.body, b"", "empty body")
    now = api.get(one).json
    check.equal((now["name"], now["description"]), ("team", "New"), "PUT")
    check.equal(now["constraints"][0]["values"], ["3"], "constraints")
    check.status(api.put(one, changed), 204, "the same once more")
    check.status(api.post(S, {"name": "bare", "constraints": []}), 201, "without constraints")

    answer = api.delete(one)
    check.status(answer, 204)
    check.error(api.get(one), 404)
    check.error(api.put(one, changed), 404)
    for bad in ("x", "1.5", "-", "1e3", "%00"):
        for method, more in (("GET", ()), ("PUT", (changed,)), ("DELETE", ())):
            check.error(api.ask(method, f"{S}/{bad}", *more), 400, message=f"id {bad}")
    check.error(api.get(f"{S}/99999999999999999999"), (400, 404))


def test_names(api, check):
    api.segment("staff")
    other = api.segment("other")
    check.error(api.post(S, {"name": "staff", "constraints": []}), 409, name="NameExistsError")
    check.error(api.put(f"{S}/{other}", {"name": "staff", "constraints": []}), 409)
    check.error(api.post(f"{S}/validate", {"name": "staff"}), 409)
    check.status(api.post(f"{S}/validate", {"name": "free"}), 204)
    for bad in ({}, {"name": ""}, {"name": 3.5}):
        check.error(api.post(f"{S}/validate", bad), 400)
    check.status(api.post(S, {"name": "With spaces é", "constraints": []}), 201, "any name")


def test_bad_segments(api, check):
    rows = [
        ({}, ""),
        ({"constraints": []}, ""),
        ({"name": "x"}, ""),
        ({"name": "", "constraints": []}, "name"),
        ({"name": 3.5, "constraints": []}, "name"),
        ({"name": "x", "constraints": "x"}, "constraints"),
        ({"name": "x", "constraints": [{}]}, "constraints"),
        ({"name": "x", "constraints": [users()]}, "values"),
        ({"name": "x", "constraints": [users("1"), users("1", operator="LIKE")]}, "operator"),
        ({"name": "x", "constraints": [users("1", contextName="")]}, "contextName"),
        (
            {
                "name": "x",
                "constraints": [{"contextName": "a", "operator": "NUM_GT", "value": "b"}],
            },
            "value",
        ),
        ({"name": "x", "constraints": [], "description": [1]}, "description"),
        ({"name": "x", "constraints": [], "project": "nowhere"}, ""),
    ]
    id = api.segment("kept")
    for body, where in rows:
        answer = api.post(S, body)
        check.error(answer, (400, 404) if body.get("project") else 400, where)
        if "project" not in body:
            check.error(api.put(f"{S}/{id}", body), 400, where)
    for body in (b"{", b"[]", b""):
        check.error(api.post(S, body), 400)
    check.equal([s["name"] for s in api.get(S).json["segments"]], ["kept"], "nothing was kept")


def test_the_limit_of_values(api, make_service, check):
    def with_values(count: int) -> dict:
        lists = [[f"{n}" for n in range(start, min(start + 250, count))]
                 for start in range(0, count, 250)]  # fmt: skip
        return {"name": f"n{count}", "constraints": [users(*values) for values in lists]}

    check.status(api.post(S, with_values(1000)), 201, "1000 values")
    check.error(api.post(S, with_values(1001)), 400, message="1001 values")
    id = api.segment("small")
    check.error(api.put(f"{S}/{id}", with_values(1001)), 400, message="1001 values by PUT")
    environ = {"SERVICE_SEGMENT_VALUES_LIMIT": "2000"}
    more = Api(webtest.TestApp(make_service({}, environ).app))
    check.status(more.post(S, with_values(1001)), 201, "as configured")
    environ = {"SERVICE_STRATEGY_SEGMENTS_LIMIT": "1"}
    less = Api(webtest.TestApp(make_service({}, environ).app))
    path = f"{less.at(less.flag())}/strategies"
    two = {"name": "default", "segments": [id, less.segment("second")]}
    check.error(less.post(path, two), 400, message="segments of a strategy as configured")


def test_a_segment_in_use(api, check):
    id = api.segment("staff")
    free = api.segment("free")
    api.flag("demo")
    api.project("web")
    api.flag("theirs", "web")
    strategy = api.strategy("demo", segments=[id])
    api.strategy("theirs", project="web", segments=[id])
    answer = api.delete(f"{S}/{id}")
    check.error(answer, 409)
    check("demo" in answer.text and "theirs" in answer.text, f"names its users: {answer.text}")
    segments_by_id = {s["id"]: s for s in api.get(S).json["segments"]}
    check.equal(segments_by_id[id].get("usedInFeatures"), 2, "usedInFeatures")
    check.equal(segments_by_id[id].get("usedInProjects"), 2, "usedInProjects")
    check.equal(segments_by_id[free].get("usedInFeatures"), 0, "not in use")

    usage = api.get(f"{S}/{id}/strategies")
    if check.status(usage, 200):
        actual = {s["featureName"]: s for s in usage.json["strategies"]}
        check.equal(sorted(actual), ["demo", "theirs"], "flags")
        check.equal(
            {k: actual["demo"].get(k) for k in ("id", "projectId", "environment", "strategyName")},
            {"id": strategy["id"], "projectId": "default", "environment": "development",
             "strategyName": "default"},
            "usage",
        )  # fmt: skip
    of = api.get(f"{S}/strategies/{strategy['id']}")
    if check.status(of, 200):
        check.equal([s["id"] for s in of.json["segments"]], [id], "of one strategy")

    other = api.segment("other")
    body = {
        "projectId": "default", "strategyId": strategy["id"], "environmentId": "development",
        "segmentIds": [other],
    }  # fmt: skip
    check.status(api.post(f"{S}/strategies", body), 201, "exchange the segments")
    (now,) = api.state("demo")["strategies"]
    check.equal(now.get("segments"), [other], "exchanged")
    check.error(api.post(f"{S}/strategies", {}), 400)
    check.error(api.post(f"{S}/strategies", body | {"segmentIds": "x"}), 400)
    check.error(api.post(f"{S}/strategies", body | {"segmentIds": [999_999]}), (400, 404))

    api.done("DELETE", f"{api.at('demo')}/strategies/{strategy['id']}")
    check.status(api.delete(f"{S}/{other}"), 204, "free when its strategy is gone")
    check.status(api.delete(f"{S}/{id}"), 409, "still in use by the other")
