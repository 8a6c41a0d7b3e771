"""Metrics of SDKs are summed for the flag."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import webtest

from tests.contract.kit import Api

M = "/api/client/metrics"


def format_iso(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + "000Z"


@pytest.fixture
def bucket(clock) -> Any:
    stop = clock.now()

    def make(**toggles: Any) -> dict[str, Any]:
        return {
            "start": format_iso(stop - timedelta(seconds=60)),
            "stop": format_iso(stop),
            "toggles": toggles,
        }

    return make


def raw(api, flag: str = "demo") -> list[dict[str, Any]]:
    data = api.done("GET", f"/api/admin/client-metrics/features/{flag}/raw?hoursBack=2")["data"]
    return [row for row in data if row["yes"] or row["no"]]


def sums(api, flag: str = "demo") -> dict[tuple[str, str], tuple[int, int]]:
    result: dict[tuple[str, str], tuple[int, int]] = {}
    for row in raw(api, flag):
        key = (row["environment"], row["appName"])
        yes, no = result.get(key, (0, 0))
        result[key] = (yes + row["yes"], no + row["no"])
    return result


def test_counts_are_summed_at_once(api, check, bucket):
    api.flag()
    red = {"name": "red", "weight": 1000, "weightType": "variable", "stickiness": "default"}
    api.strategy("demo", name="flexibleRollout", variants=[red])
    api.flag("second")
    development, production = api.client(), api.client("production")
    one = bucket(
        demo={"yes": 3, "no": 1, "variants": {"red": 2, "disabled": 1}},
        second={"yes": 0, "no": 0},
        unknown={"yes": 9, "no": 9},
    )
    body = {"appName": "shop", "instanceId": "i1", "bucket": one}
    for headers, report in (
        (development, body),
        (development, body | {"instanceId": "i2", "environment": "production"}),
        (production, {"appName": "shop", "bucket": bucket(demo={"yes": 1})}),
        (development, {"appName": "desk", "bucket": bucket(demo={"no": 5})}),
    ):
        answer = api.post(M, report, headers)
        check.status(answer, 202)
        check.equal(answer.body, b"", "empty body")
    actual = sums(api)
    check.equal(
        actual,
        {("development", "shop"): (6, 2), ("production", "shop"): (1, 0),
         ("development", "desk"): (0, 5)},
        "by environment and application",
    )  # fmt: skip
    variants = [r["variants"] for r in raw(api) if r.get("variants")]
    check.equal(variants, [{"red": 4, "disabled": 2}], "variants")
    check.equal(raw(api, "second"), [], "nothing counted is nothing stored")

    answer = api.get("/api/admin/client-metrics/features/demo")
    if check.status(answer, 200):
        check.equal(answer.json["featureName"], "demo", "featureName")
        check.equal(sorted(answer.json["seenApplications"]), ["desk", "shop"], "seenApplications")
        usage = {u["environment"]: u for u in answer.json["lastHourUsage"]}
        check.equal(
            (usage["development"]["yes"], usage["development"]["no"]), (6, 7), "lastHourUsage"
        )
        check({"version", "maturity"} <= set(answer.json), f"keys {set(answer.json)}")
    nothing = api.get("/api/admin/client-metrics/features/nothing")
    check.status(nothing, 200, "unknown flag")
    check.equal(nothing.json["seenApplications"], [], "unknown flag")
    results = {e["name"]: e["lastSeenAt"] for e in api.read("demo")["environments"]}
    check(results["development"], "last seen in the environment")
    check(not results["default"], "not seen elsewhere")


def test_raw_is_filled_with_zeros(api, check, bucket):
    api.flag()
    api.post(M, {"appName": "shop", "bucket": bucket(demo={"yes": 1})}, api.client())
    path = "/api/admin/client-metrics/features/demo/raw"
    for query, hours in (("?hoursBack=3", 3), ("", 24)):
        answer = api.get(f"{path}{query}")
        if check.status(answer, 200):
            rows = [r for r in answer.json["data"] if r["environment"] == "development"]
            check(hours <= len(rows) <= hours + 1, f"{query}: {len(rows)} hours")
            times = [r["timestamp"] for r in rows]
            check(all(t.endswith("00:00.000Z") for t in times), f"hours: {times[:2]}")
    for bad in ("0", "49", "x", "-1"):
        answer = api.get(f"{path}?hoursBack={bad}")
        check(answer.status_int in (200, 400), f"hoursBack={bad}: {answer.status}")


def test_a_bucket_belongs_to_the_hour_it_stopped_in(api, check, clock):
    api.flag()
    stop = clock.now().replace(minute=0, second=1, microsecond=0) - timedelta(hours=1)
    bucket = {"start": format_iso(stop - timedelta(minutes=5)), "stop": format_iso(stop),
            "toggles": {"demo": {"yes": 1}}}  # fmt: skip
    api.post(M, {"appName": "shop", "bucket": bucket}, api.client())
    data = api.done("GET", "/api/admin/client-metrics/features/demo/raw?hoursBack=4")["data"]
    hours = [r["timestamp"] for r in data if r["yes"]]
    check.equal(hours, [format_iso(stop.replace(second=0))], "hour")


def test_times_in_every_form(api, check, clock):
    api.flag()
    client = api.client()
    now = clock.now()
    milliseconds = int(now.timestamp() * 1000)
    stem = now.strftime("%Y-%m-%dT%H:%M:%S")
    forms = [
        milliseconds,
        f"{stem}Z",
        f"{stem}.245528481Z",
        f"{stem}.2Z",
        f"{stem}.245+00:00",
        now.astimezone(UTC).isoformat(),
    ]
    for form in forms:
        bucket = {"start": form, "stop": form, "toggles": {"demo": {"yes": 1, "no": 0}}}
        answer = api.post(M, {"appName": "shop", "bucket": bucket}, client)
        check.status(answer, 202, str(form))
    check.equal(sums(api), {("development", "shop"): (len(forms), 0)}, "all counted")


def test_valid_reports_are_accepted_and_invalid_ones_rejected(api, check, bucket):
    api.flag()
    client = api.client()
    for body in (
        {"appName": "a"},
        {"appName": "a", "bucket": None},
        {"appName": "a", "bucket": bucket()},
        {"appName": "a", "bucket": bucket(demo={})},
        {"appName": "a", "bucket": bucket(demo={"yes": 0, "no": 0, "variants": None})},
        {"appName": "a", "impactMetrics": [], "sdkFlavor": "edge", "unknown": 1},
        {"appName": "a", "instanceId": "", "connectionId": "c"},
        {"appName": "a", "bucket": bucket(demo={"yes": 1.5})},
    ):
        check.status(api.post(M, body, client), 202)
    good = bucket(demo={"yes": 1})
    for body in (
        {},
        {"appName": ""},
        {"appName": None},
        {"bucket": good},
        {"appName": "a", "bucket": "x"},
        {"appName": "a", "bucket": {}},
        {"appName": "a", "bucket": {k: v for k, v in good.items() if k != "toggles"}},
        {"appName": "a", "bucket": {k: v for k, v in good.items() if k != "stop"}},
        {"appName": "a", "bucket": good | {"stop": "yesterday"}},
        {"appName": "a", "bucket": good | {"toggles": []}},
        {"appName": "a", "bucket": bucket(demo={"yes": -1})},
        {"appName": "a", "bucket": bucket(demo={"yes": "many"})},
        {"appName": "a", "bucket": bucket(demo=3)},
        {"appName": "a", "bucket": bucket(demo={"variants": {"red": -1}})},
        {"appName": "a", "bucket": bucket(demo={"variants": ["red"]})},
        {"appName": "a", "bucket": bucket(demo={"yes": 10**30})},
        [],
        b"{",
        b"",
    ):
        check.error(api.post(M, body, client), 400, message=str(body)[:150])
    check.equal(sums(api), {("development", "a"): (1, 0)}, "1.5 is floored, the rest refused")
    check.error(api.post(M, b"{}", client | {"Content-Type": "text/plain"}), 415)
    big = b'{"appName":"' + b"a" * 102_401 + b'"}'
    check.error(api.post(M, big, client), 413)


def test_in_bulk(api, check, clock, bucket):
    api.flag()
    client = api.client()
    path = f"{M}/bulk"
    application = {"appName": "shop", "environment": "development", "instanceId": "i1"}
    metric = {"featureName": "demo", "appName": "shop", "environment": "development",
              "timestamp": format_iso(clock.now()), "yes": 2, "no": 1,
              "variants": {"red": 2}}  # fmt: skip
    elsewhere = metric | {"environment": "production"}
    body = {"applications": [application], "metrics": [metric, metric, elsewhere]}
    check.status(api.post(path, body, client), 202)
    check.equal(sums(api), {("development", "shop"): (4, 2)}, "the token's environment only")
    apps = api.done("GET", "/api/admin/metrics/applications")["applications"]
    check.equal([a["appName"] for a in apps], ["shop"], "applications")
    for bad in (
        {},
        {"applications": []},
        {"applications": [{}], "metrics": []},
        {"applications": [], "metrics": [{}]},
        {"applications": [application], "metrics": [metric, metric | {"yes": -1}]},
        {"applications": [application], "metrics": [metric | {"timestamp": "yesterday"}]},
        {"applications": "x", "metrics": []},
        [],
    ):
        check.error(api.post(path, bad, client), 400, message=str(bad)[:100])
    check.equal(sums(api), {("development", "shop"): (4, 2)}, "nothing of a bad body is stored")
    check.status(api.post(path, body, api.frontend()), 403, "frontend token")
    check.status(api.post("/edge/metrics", {}, client), (404, 401), "disabled unless asked for")


def test_from_a_browser(api, check, bucket):
    api.flag()
    browser = api.frontend()
    body = {"appName": "page", "bucket": bucket(demo={"yes": 2, "no": 1})}
    for path in (
        "frontend/client/metrics",
        "frontend/metrics",
        "frontend/all/client/metrics",
        "proxy/client/metrics",
        "proxy/all/client/metrics",
    ):
        check.status(api.post(f"/api/{path}", body, browser), 200)
    check.equal(sums(api), {("development", "page"): (10, 5)}, "summed")


def test_the_report_of_a_relay_about_itself_is_taken(api, check):
    path = f"{M}/edge"
    report = {"identifier": "01HX", "appName": "edge", "started": 1, "traffic": {"x": ["y"] * 9000}}
    answer = api.post(path, report, api.client())
    check.status(answer, 202)
    check.equal(answer.body, b"", "empty body")
    check.error(api.post(path, b"{", api.client()), 400)
    check.error(api.post(path, [], api.client()), 400)
    check.error(api.post(path, report, api.frontend()), 403)
    check.error(api.post(path, report, {}), 401)


def test_the_old_address_for_relays(make_service, check):
    environ = {"SERVICE_EXPERIMENTAL_EDGE_BULK_METRICS": "true"}
    api = Api(webtest.TestApp(make_service({}, environ).app))
    empty = {"applications": [], "metrics": []}
    check.status(api.post("/edge/metrics", empty, api.client()), (200, 202), "asked for")
