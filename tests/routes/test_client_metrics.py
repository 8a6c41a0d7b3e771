"""Metrics of flags from SDKs and relays: what is stored and what is rejected."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest

from sigservice.clock import format_iso
from sigservice.services.usage.client_metrics import Usage, find_hour
from sigservice.services.usage.reports import Report, ReportLimits, ReportWriter
from tests.conftest import ADMIN
from tests.routes.kit import give_projects
from tests.routes.sdk import CLIENT, FRONTEND, PRODUCTION, Sdk
from tests.telemetry.test_metrics import MetricsPage

PATH, BULK = "/api/client/metrics", "/api/client/metrics/bulk"
# Rows that a report has in common with others, and when they were written.
REPORTED = {
    "client_application_environments": "seen_at",
    "client_applications": "seen_at",
    "client_instances": "last_seen",
    "feature_last_seen": "seen_at",
}
FRONTEND_PATHS = ("/api/frontend/client/metrics", "/api/frontend/metrics")


def bucket(clock, **toggles):
    now = clock.now()
    return {
        "start": format_iso(now - timedelta(minutes=1)),
        "stop": format_iso(now),
        "toggles": toggles,
    }


def report(clock, **toggles):
    return {"appName": "shop", "instanceId": "a1", "bucket": bucket(clock, **toggles)}


def test_counts_are_summed_by_hour_and_stored_before_the_response(sdk, clock):
    body = report(clock, one={"yes": 3, "no": 1, "variants": {"blue": 2, "red": 0}}, two={"no": 4})
    for _ in range(2):
        answer = sdk.web.post_json(PATH, body, headers=CLIENT, status=202)
        assert answer.body == b""
    other = body | {"appName": "office", "environment": "production"}
    sdk.web.post_json(PATH, other, headers=CLIENT)
    assert sdk.sums() == {
        ("one", "shop", "development"): (6, 2),
        ("two", "shop", "development"): (0, 8),
        ("one", "office", "development"): (3, 1),
        ("two", "office", "development"): (0, 4),
    }
    assert sdk.variants() == {("one", "blue"): 6}
    hour = clock.now().replace(minute=0, second=0, microsecond=0)
    assert sdk.rows("SELECT DISTINCT hour FROM client_metrics") == [(hour,)]
    assert len(sdk.rows("SELECT 1 FROM client_metrics")) == 4


BLUE = {"yes": 1_000_000, "variants": {"blue": 9}}


@pytest.mark.parametrize(
    ("path", "headers"), [(PATH, CLIENT), *((path, FRONTEND) for path in FRONTEND_PATHS)]
)
def test_flags_outside_of_the_projects_of_the_token_are_dropped(sdk, clock, path, headers):
    """And leave no time of use."""
    sdk.rows("INSERT INTO projects (id, name) VALUES ('shop', 'shop')")
    sdk.rows("UPDATE features SET project = 'shop' WHERE name = 'two'")
    give_projects(sdk.service, headers["Authorization"], ["shop"])
    body = report(clock, one=BLUE, two={"yes": 2, "variants": {"blue": 1}}, gone={"yes": 1})
    sdk.web.post_json(path, body, headers=headers, status="2*")
    assert sdk.sums() == {("two", "shop", "development"): (2, 0)}
    assert sdk.variants() == {("two", "blue"): 1}
    assert sdk.rows("SELECT feature FROM feature_last_seen") == [("two",)]
    metrics = MetricsPage(sdk.web)
    assert metrics['client_metrics_dropped_total{kind="flags"}'] == 1
    assert metrics["unknown_flags"] == 1
    assert 'toggle="one"' not in metrics.text


def test_flags_outside_of_the_projects_are_dropped_from_bulk_reports(sdk, clock):
    give_projects(sdk.service, CLIENT["Authorization"], ["shop", "other"])
    metric = {"featureName": "one", "appName": "shop", "environment": "development", "yes": 1}
    body = {"applications": [], "metrics": [metric]}
    sdk.web.post_json(BULK, body, headers=CLIENT, status=202)
    assert sdk.sums() == {}


def test_reports_of_other_tokens_in_the_same_group_are_stored(sdk, clock):
    """The projects of one token say nothing about another one."""
    usage = Usage("one", "shop", "development", find_hour(clock.now(), clock.now()), 1, 0, {})
    reports = [
        Report([], [usage], "backend", "", is_anonymous=False, projects=projects)
        for projects in (("shop",), None, ("shop", "default"))
    ]
    writer = ReportWriter(ReportLimits.from_config(sdk.service.config), clock.monotonic)
    with sdk.service.context.database.autocommit() as conn:
        result = writer.store(conn, reports)
    assert sdk.sums() == {("one", "shop", "development"): (2, 0)}
    assert result.dropped["flags"] == 1


def test_usage_that_frontend_tokens_report_is_a_part_of_the_counts(sdk, clock):
    """Of the same application: in the table and in JSON."""
    counts = {"yes": 3, "no": 1, "variants": {"blue": 2}}
    sdk.web.post_json(PATH, report(clock, one=counts), headers=CLIENT)
    forged = {"yes": 500, "variants": {"blue": 70}}
    for path in FRONTEND_PATHS:
        sdk.web.post_json(path, report(clock, one=forged), headers=FRONTEND)
    assert sdk.sums() == {("one", "shop", "development"): (1003, 1)}
    assert sdk.variants() == {("one", "blue"): 142}
    path = "/api/admin/client-metrics/features/one/raw?hoursBack=1"
    (row,) = sdk.web.get(path, headers=ADMIN).json["data"]
    assert (row["yes"], row["no"], row["frontend"]) == (1003, 1, {"yes": 1000, "no": 0})


def test_usage_that_frontend_tokens_report_has_an_origin_in_the_metrics(sdk, clock):
    sdk.web.post_json(PATH, report(clock, one={"yes": 3}), headers=CLIENT)
    sdk.web.post_json(FRONTEND_PATHS[0], report(clock, one={"yes": 5, "no": 1}), headers=FRONTEND)
    metrics = MetricsPage(sdk.web)
    labels = 'toggle="one",active="true",appName="shop"'
    assert metrics[f"feature_toggle_usage_total{{{labels}}}"] == 3
    assert metrics[f'feature_toggle_usage_total{{{labels},origin="frontend"}}'] == 5


def test_new_flag_counts_and_an_unknown_one_is_ignored(sdk, clock):
    body = report(clock, fresh={"yes": 1}, one={"yes": 1})
    sdk.web.post_json(PATH, body, headers=CLIENT, status=202)
    assert sdk.sums() == {("one", "shop", "development"): (1, 0)}
    sdk.rows(
        "INSERT INTO features (name, project, type, created_by) "
        "VALUES ('fresh', 'default', 'release', 't')"
    )
    sdk.web.post_json(PATH, body, headers=CLIENT, status=202)
    assert sdk.sums()["fresh", "shop", "development"] == (1, 0)


def test_report_updates_the_times_of_flags_instance_and_application(sdk, clock):
    headers = CLIENT | {"Unleash-SDK": "unleash-python-sdk:6.9.1"}
    recent_flags = "SELECT feature, environment FROM feature_last_seen "
    recent_flags += "WHERE seen_at > now() - interval '1 minute'"
    here = {"REMOTE_ADDR": "192.0.2.7"}
    body = report(clock, one={"yes": 1}, two={})
    sdk.web.post_json(PATH, body, headers=headers, extra_environ=here)
    assert sdk.rows(recent_flags) == [("one", "development")]
    version = "unleash-python-sdk:6.9.1"
    assert sdk.instances() == {("shop", "a1", "development", version, "backend")}
    assert sdk.rows("SELECT client_ip FROM client_instances") == [("192.0.2.7",)]
    before = sdk.rows("SELECT seen_at FROM feature_last_seen")
    sdk.web.post_json(PATH, report(clock, one={"yes": 1}), headers=CLIENT)
    assert sdk.rows("SELECT seen_at FROM feature_last_seen") == before
    sdk.rows("UPDATE feature_last_seen SET seen_at = now() - interval '61 seconds'")
    clock.advance(10)
    sdk.web.post_json(PATH, report(clock, one={"no": 1}), headers=CLIENT)
    assert sdk.rows(recent_flags) == [("one", "development")]
    assert sdk.instances() == {("shop", "a1", "development", version, "backend")}


def test_repeated_report_writes_only_counts_for_some_seconds(sdk, clock):
    def send():
        """Which rows were written."""
        for table in REPORTED:
            sdk.rows(f"UPDATE {table} SET {REPORTED[table]} = 'epoch'")
        sdk.web.post_json(PATH, report(clock, one={"yes": 1}), headers=CLIENT)
        return {
            table
            for table, column in REPORTED.items()
            if sdk.rows(f"SELECT 1 FROM {table} WHERE {column} > 'epoch'")
        }

    assert send() == set(REPORTED)
    clock.advance(4)
    assert send() == set()
    clock.advance(6)
    assert send() == set(REPORTED)
    assert sdk.sums() == {("one", "shop", "development"): (3, 0)}


def test_changed_report_of_an_instance_is_stored_at_once(sdk, clock):
    for address in ("192.0.2.1", "192.0.2.2", "192.0.2.1"):
        here = {"REMOTE_ADDR": address}
        sdk.web.post_json(PATH, report(clock), headers=CLIENT, extra_environ=here)
        assert sdk.rows("SELECT client_ip FROM client_instances") == [(address,)]


def test_deleted_application_is_listed_again_after_some_seconds(sdk, clock):
    def send():
        """The listed applications."""
        sdk.web.post_json(PATH, report(clock, one={"yes": 1}), headers=CLIENT)
        return [name for (name,) in sdk.rows("SELECT app_name FROM client_applications")]

    assert send() == ["shop"]
    sdk.web.delete("/api/admin/metrics/applications/shop", headers=ADMIN)
    assert send() == []
    clock.advance(10)
    assert send() == ["shop"]


@pytest.mark.parametrize(
    "stop",
    ["nanoseconds", "without zone", "offset", "milliseconds", "float", "long ago", "future", 0],
)
def test_times_are_parsed_as_sdks_write_them(sdk, clock, stop):
    now = clock.now()
    stamp = now.strftime("%Y-%m-%dT%H:%M:%S")
    shifted = (now + timedelta(hours=2)).strftime("%Y-%m-%dT%H:%M:%S")
    text = {
        "nanoseconds": f"{stamp}.245528481Z",
        "without zone": stamp,
        "offset": f"{shifted}+02:00",
        "milliseconds": int(now.timestamp() * 1000),
        "float": now.timestamp() * 1000,
        "long ago": "2016-11-03T07:16:43.572Z",
        "future": format_iso(now + timedelta(hours=2)),
    }.get(stop, stop)
    body = {
        "appName": "shop",
        "bucket": {"start": text, "stop": text, "toggles": {"one": {"yes": 1}}},
    }
    sdk.web.post_json(PATH, body, headers=CLIENT, status=202)
    hour = now.replace(minute=0, second=0, microsecond=0)
    assert sdk.rows("SELECT hour FROM client_metrics") == [(hour,)]


def test_late_report_counts_for_its_hour(sdk, clock):
    then = clock.now() - timedelta(hours=47)
    late = {"start": format_iso(then), "stop": format_iso(then), "toggles": {"one": {"yes": 1}}}
    sdk.web.post_json(PATH, {"appName": "shop", "bucket": late}, headers=CLIENT)
    hour = then.replace(minute=0, second=0, microsecond=0)
    assert sdk.rows("SELECT hour FROM client_metrics") == [(hour,)]


def test_counts_are_rounded_down_and_empty_reports_accepted(sdk, clock):
    odd = {"yes": 1.5, "no": "2", "variants": {"blue": "1.9", "red": 2.2}, "more": [1]}
    sdk.web.post_json(PATH, report(clock, one=odd), headers=CLIENT, status=202)
    assert sdk.sums() == {("one", "shop", "development"): (1, 2)}
    assert sdk.variants() == {("one", "blue"): 1, ("one", "red"): 2}
    for more in ({}, {"bucket": None}, {"bucket": bucket(clock)}, {"impactMetrics": [{"x": 1}]}):
        sdk.web.post_json(PATH, {"appName": "shop", "instanceId": None} | more, headers=CLIENT)
    empty = {"yes": 0, "variants": {"blue": 0}}
    sdk.web.post_json(PATH, report(clock, two=empty, one={"variants": None}), headers=CLIENT)
    assert set(sdk.sums()) == {("one", "shop", "development")}
    assert {row[1] for row in sdk.instances()} == {"a1", "default"}


def wrong_reports():
    time = "2026-11-21T10:00:00Z"
    good = {"start": time, "stop": time, "toggles": {"one": {"yes": 1}}}

    def counts(**entry):
        return {"appName": "shop", "bucket": good | {"toggles": {"one": entry}}}

    yield "array", [1]
    yield "null", None
    yield "no appName", {"bucket": good}
    yield "empty appName", {"appName": "", "bucket": good}
    yield "long appName", {"appName": "x" * 256, "bucket": good}
    yield "appName number", {"appName": 7, "bucket": good}
    yield "long instanceId", {"appName": "shop", "instanceId": "x" * 256}
    yield "no toggles", {"appName": "shop", "bucket": {"start": time, "stop": time}}
    yield "no stop", {"appName": "shop", "bucket": {"start": time, "toggles": {}}}
    yield "bad stop", {"appName": "shop", "bucket": good | {"stop": "yesterday"}}
    yield "bad start", {"appName": "shop", "bucket": good | {"start": True}}
    yield "year 0", {"appName": "shop", "bucket": good | {"stop": "0001-01-01T00:00:00+23:00"}}
    yield "bucket text", {"appName": "shop", "bucket": "x"}
    yield "toggles array", {"appName": "shop", "bucket": good | {"toggles": []}}
    yield "entry number", {"appName": "shop", "bucket": good | {"toggles": {"one": 1}}}
    for value in (-1, -0.5, "-1", "x", "", "1e3", True, None, 10**30, 10**12 + 1, [], {}):
        yield f"yes {value!r}", counts(yes=value)
    yield "variant negative", counts(yes=1, variants={"blue": -1})
    yield "variant array", counts(yes=1, variants=["blue"])
    yield "long variant", counts(yes=1, variants={"x" * 256: 1})
    yield "NUL", {"appName": "a\x00b"}


def wrong_bulks():
    app = {"appName": "shop", "environment": "development", "instanceId": "i"}
    metric = {"featureName": "one", "appName": "shop", "environment": "development", "yes": 1}
    yield "nothing", {}
    yield "no metrics", {"applications": [app]}
    yield "no applications", {"metrics": [metric]}
    for name in app:
        less = {key: value for key, value in app.items() if key != name}
        yield f"application without {name}", {"applications": [app, less], "metrics": [metric]}
    for name in ("featureName", "appName", "environment"):
        less = {key: value for key, value in metric.items() if key != name}
        yield f"metric without {name}", {"applications": [app], "metrics": [metric, less]}
    for more in ({"no": -1}, {"timestamp": "x"}, {"variants": {"a": "b"}}, {"yes": None}):
        yield f"metric with {more}", {"applications": [app], "metrics": [metric, metric | more]}
    for more in ({"interval": -1}, {"started": "x"}, {"strategies": "x"}, {"sdkType": 3}):
        yield f"application with {more}", {"applications": [app | more], "metrics": [metric]}


def test_invalid_report_is_rejected_with_its_path_and_not_stored(sdk):
    cases = [(PATH, CLIENT, *case) for case in wrong_reports()]
    cases += [(path, FRONTEND, *case) for path in FRONTEND_PATHS for case in wrong_reports()]
    cases += [(BULK, CLIENT, *case) for case in wrong_bulks()]
    for path, headers, name, body in cases:
        answer = sdk.web.post_json(path, body, headers=headers, expect_errors=True)
        assert (name, answer.status_int) == (name, 400), answer.text
        assert answer.json["name"] == "BadDataError"
        assert answer.json["details"][0]["message"]
    answer = sdk.web.post_json(BULK, dict(wrong_bulks())["metric with {'no': -1}"],
                               headers=CLIENT, status=400)  # fmt: skip
    assert answer.json["details"][0]["path"] == "metrics[1]"
    assert (sdk.sums(), sdk.instances()) == ({}, set())
    assert sdk.rows("SELECT 1 FROM client_applications") == []


def test_only_json_up_to_the_size_limit_is_read(sdk, clock):
    text = json.dumps(report(clock, one={"yes": 1}))
    for path, limit in ((PATH, 102_400), (BULK, 1_000_000)):
        sdk.web.post(path, "{", headers=CLIENT, content_type="application/json", status=400)
        sdk.web.post(path, text, headers=CLIENT, content_type="text/plain", status=415)
        long = text + " " * limit
        sdk.web.post(path, long, headers=CLIENT, content_type="application/json", status=413)
    exact = text + " " * (102_400 - len(text))
    sdk.web.post(PATH, exact, headers=CLIENT, content_type="application/json", status=202)


def test_each_api_accepts_only_its_tokens(sdk, clock):
    body, bulk = report(clock, one={"yes": 1}), {"applications": [], "metrics": []}
    for path, good in ((PATH, CLIENT), (BULK, CLIENT), *((p, FRONTEND) for p in FRONTEND_PATHS)):
        report_body = bulk if path == BULK else body
        sdk.web.post_json(path, report_body, status=401)
        sdk.web.post_json(
            path, report_body, headers={"Authorization": "*:development.x"}, status=401
        )
        for other in (CLIENT, FRONTEND, ADMIN):
            if other is not good:
                sdk.web.post_json(path, report_body, headers=other, status=403)
    assert sdk.sums() == {}


def test_frontend_reports_on_both_paths_and_gets_ok(sdk, clock):
    body = report(clock, one={"yes": 1, "variants": {"blue": 1}})
    for path in FRONTEND_PATHS:
        answer = sdk.web.post_json(path, body, headers=FRONTEND, status=200)
        assert (answer.text, answer.content_type) == ("OK", "text/plain")
    assert sdk.sums() == {("one", "shop", "development"): (2, 0)}
    assert sdk.instances() == {("shop", "a1", "development", None, "frontend")}


def bulk_body(clock):
    now = format_iso(clock.now())

    def metric(environment, flag="one", **more):
        return {"featureName": flag, "appName": "shop", "environment": environment} | more

    def app(environment, instance):
        return {"appName": "shop", "environment": environment, "instanceId": instance,
                "started": now, "interval": 10, "strategies": ["default"], "connectVia": [],
                "sdkVersion": "go:1", "sdkType": "backend"}  # fmt: skip

    return {
        "applications": [app("development", "d"), app("development", "d"), app("production", "p"),
                         app("nowhere", "n")],
        "metrics": [
            metric("development", yes=1, timestamp=now, variants={"blue": 1}),
            metric("development", yes=2, no=1),
            metric("development", flag="unknown", yes=9),
            metric("production", yes=5),
            metric("nowhere", yes=5),
        ],
        "seenTokens": ["x"],
    }  # fmt: skip


def test_relay_reports_in_bulk_for_its_environment(sdk, clock):
    sdk.web.post_json(BULK, bulk_body(clock), headers=CLIENT, status=202)
    assert sdk.sums() == {("one", "shop", "development"): (3, 1)}
    assert sdk.variants() == {("one", "blue"): 1}
    assert sdk.instances() == {("shop", "d", "development", "go:1", "backend")}
    sdk.web.post_json(BULK, bulk_body(clock), headers=PRODUCTION, status=202)
    assert sdk.sums()["one", "shop", "production"] == (5, 0)
    sdk.web.post_json(BULK, {"applications": [], "metrics": []}, headers=CLIENT, status=202)


def test_old_path_for_relays_is_disabled(sdk, clock):
    for headers in (None, CLIENT):
        answer = sdk.web.post("/edge/metrics", "{", headers=headers, status=404)
        assert answer.json["name"] == "NotFoundError"
        assert answer.json["status"] == "disabled"
        assert "SERVICE_EXPERIMENTAL_EDGE_BULK_METRICS" in answer.json["help"]


def test_old_path_for_relays_can_be_enabled(make_service, database, clock):
    sdk = Sdk(make_service, database, SERVICE_EXPERIMENTAL_EDGE_BULK_METRICS="true")
    body = bulk_body(clock)
    sdk.web.post_json("/edge/metrics", body, status=401)
    sdk.web.post_json("/edge/metrics", body, headers=FRONTEND, status=403)
    sdk.web.post_json("/edge/metrics", {"metrics": []}, headers=CLIENT, status=400)
    sdk.web.post_json("/edge/metrics", body, headers=CLIENT, status=202)
    assert sdk.sums() == {("one", "shop", "development"): (3, 1)}
    sdk.web.post_json("/edge/metrics", body, headers=ADMIN, status=202)
    assert sdk.sums() == {
        ("one", "shop", "development"): (6, 2),
        ("one", "shop", "production"): (5, 0),
    }
    sdk.close()


def test_limits_apply_to_each_address_and_both_paths_together(make_service, database, clock):
    names = ("REGISTER_CLIENT", "CLIENT_METRICS", "FRONTEND_METRICS", "REGISTER_FRONTEND")
    limits = {f"{name}_RATE_LIMIT_PER_MINUTE": str(n + 2) for n, name in enumerate(names)}
    sdk = Sdk(make_service, database, **limits)
    body = report(clock) | {"started": 0, "interval": 0, "strategies": []}
    groups = {
        (PATH,): (2, CLIENT),
        ("/api/client/register",): (3, CLIENT),
        FRONTEND_PATHS: (4, FRONTEND),
        ("/api/frontend/client/register", "/api/frontend/register"): (5, FRONTEND),
    }
    for paths, (amount, headers) in groups.items():
        for n in range(amount):
            sdk.web.post_json(paths[n % len(paths)], body, headers=headers)
        for path in paths:
            answer = sdk.web.post_json(path, body, headers=headers, status=429)
            assert answer.headers["RateLimit-Limit"] == str(amount)
            assert answer.json["name"] == "RateLimitError"
    clock.advance(60)
    sdk.web.post_json(PATH, body, headers=CLIENT, status=202)
    sdk.close()


def test_concurrent_reports_of_the_same_flags_are_all_counted(sdk, clock):
    """Each report has another order: no deadlock, no lost count."""
    import threading

    import webtest

    names = ["one", "two", *(f"flag-{n}" for n in range(20))]
    sdk.rows(
        "INSERT INTO features (name, project, type, created_by) "
        "SELECT 'flag-' || n, 'default', 'release', 't' FROM generate_series(0, 19) n"
    )
    sdk.rows(
        "INSERT INTO feature_environments (feature, environment, variants) "
        'SELECT name, \'development\', \'[{"name": "blue"}, {"name": "red"}]\' FROM features '
        "WHERE starts_with(name, 'flag-')"
    )
    statuses = []

    def send(turn):
        order = names[turn:] + names[:turn]
        toggles = {name: {"yes": 1, "variants": {"red": 1, "blue": 1}} for name in order}
        web = webtest.TestApp(sdk.service.app)
        for _ in range(4):
            answer = web.post_json(PATH, report(clock, **toggles), headers=CLIENT, status="*")
            statuses.append(answer.status_int)

    threads = [threading.Thread(target=send, args=(turn * 4,)) for turn in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(statuses) == {202}
    assert set(sdk.sums().values()) == {(16, 0)}
    assert set(sdk.variants().values()) == {16}
