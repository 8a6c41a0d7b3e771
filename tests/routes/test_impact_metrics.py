"""Impact metrics of SDKs and relays: totals, limits, and what else a report contains."""

import threading
from contextlib import closing
from datetime import timedelta

import pytest
import webtest

from sigservice.clock import format_iso
from sigservice.services.usage.impact_samples import FRONTEND_LIMITS
from tests.conftest import ADMIN
from tests.routes.kit import give_projects
from tests.routes.sdk import AUTHENTICATION, CLIENT, FRONTEND, PRODUCTION, Sdk
from tests.routes.test_client_metrics import BULK, FRONTEND_PATHS, PATH, bucket
from tests.telemetry.test_metrics import MetricsPage
from tests.waiting import until

TOTALS = "/internal-backstage/impact/metrics"
LABELS = {"appName": "shop", "environment": "development"}


def counter(value, name="purchases", **labels):
    sample = {"labels": LABELS | labels, "value": value}
    return {"name": name, "help": "Help", "type": "counter", "samples": [sample]}


def report(*metrics, **more):
    return {"appName": "shop", "impactMetrics": [*metrics]} | more


def totals(web):
    """{line without the labels that all have: value}"""
    lines = web.get(TOTALS).text.splitlines()
    common = ('metric_type="counter"', 'origin="sdk"')
    values = {}
    for name, value in (line.rsplit(" ", 1) for line in lines if line[:1] not in ("", "#")):
        for label in common:
            name = name.replace(f",{label}", "")
        values[name.replace('appName="shop",environment="development"', "").replace("{,", "{")] = (
            float(value)
        )
    return {name.replace("{}", ""): value for name, value in values.items()}


def dropped(web):
    metrics = MetricsPage(web)
    kinds = ("impact_metrics", "impact_series", "applications")
    values = {kind: metrics[f'client_metrics_dropped_total{{kind="{kind}"}}'] for kind in kinds}
    return {kind: value for kind, value in values.items() if value}


def test_totals_include_all_reports_and_survive_a_restart(sdk, make_service, clock):
    web = sdk.web
    web.post_json(PATH, report(counter(2), counter(1, one="blue")), headers=CLIENT, status=202)
    body = report(counter(1.5), bucket=bucket(clock, one={"yes": 3}))
    web.post_json(PATH, body, headers=CLIENT, status=202)
    for path in FRONTEND_PATHS:
        web.post_json(path, report(counter(1)), headers=FRONTEND, status=200)
    frontend = 'purchases{origin="frontend"}'
    body = {"applications": [], "metrics": [], "impactMetrics": [counter(10)]}
    web.post_json(BULK, body, headers=CLIENT, status=202)
    expected = {"purchases": 13.5, 'purchases{one="blue"}': 1, frontend: 2}
    assert totals(web) == expected
    assert sdk.sums() == {("one", "shop", "development"): (3, 0)}
    assert web.get(TOTALS).headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    restarted = webtest.TestApp(make_service({"authentication": AUTHENTICATION}).app)
    restarted.post_json(PATH, report(counter(1)), headers=CLIENT, status=202)
    assert totals(restarted) == totals(web) == expected | {"purchases": 14.5}


def gauge(value, name="cache"):
    sample = {"labels": LABELS | {"one": "blue"}, "value": value}
    return {"name": name, "help": "Help", "type": "gauge", "samples": [sample]}


def test_frontend_token_changes_no_value_of_a_backend(sdk):
    """Neither in the exposition nor on the flag."""
    body = report(counter(5, one="blue"), gauge(7))
    sdk.web.post_json(PATH, body, headers=CLIENT, status=202)
    before = totals(sdk.web)
    forged = report(counter(1_000_000, one="blue"), gauge(-999))
    sdk.web.post_json(FRONTEND_PATHS[0], forged, headers=FRONTEND, status=200)
    after = totals(sdk.web)
    assert before == {name: after[name] for name in before}
    assert sorted(after[name] for name in after.keys() - before) == [-999, 1_000_000]
    data = sdk.web.get("/api/admin/impact-metrics/features/one", headers=ADMIN).json["data"]
    values = {(row["metricName"], row["sdkType"]): row["value"] for row in data}
    assert values == {
        ("cache", "backend"): 7,
        ("cache", "frontend"): -999,
        ("purchases", "backend"): 5,
        ("purchases", "frontend"): 1_000_000,
    }


def test_frontend_token_renames_no_metric_of_a_backend(sdk):
    forged = report(gauge(1, "purchases") | {"help": "Forged"})
    sdk.web.post_json(FRONTEND_PATHS[0], forged, headers=FRONTEND, status=200)
    sdk.web.post_json(PATH, report(counter(5)), headers=CLIENT, status=202)
    assert totals(sdk.web)["purchases"] == 5
    assert "# HELP purchases Help" in sdk.web.get(TOTALS).text


def test_label_that_names_a_flag_of_another_project_is_dropped(sdk):
    """The amount is stored without it."""
    give_projects(sdk.service, FRONTEND["Authorization"], ["shop"])
    body = report(counter(1, one="blue", region="eu"))
    sdk.web.post_json(FRONTEND_PATHS[0], body, headers=FRONTEND, status=200)
    assert totals(sdk.web) == {'purchases{origin="frontend",region="eu"}': 1}
    data = sdk.web.get("/api/admin/impact-metrics/features/one", headers=ADMIN).json["data"]
    assert data == []


def test_environment_is_that_of_the_token(sdk):
    sdk.web.post_json(PATH, report(counter(1, environment="production")), headers=CLIENT)
    sdk.web.post_json(PATH, report(counter(2, environment="")), headers=PRODUCTION)
    production = 'purchases{appName="shop",environment="production"}'
    assert totals(sdk.web) == {"purchases": 1, production: 2}


def test_relay_reports_for_the_environments_of_its_token(sdk, make_service, database):
    environments = ("development", "production", "nowhere", "")
    metrics = [counter(2**n, environment=name) for n, name in enumerate(environments)]
    body = {"applications": [], "metrics": [], "impactMetrics": metrics}
    sdk.web.post_json(BULK, body, headers=CLIENT, status=202)
    assert totals(sdk.web) == {"purchases": 9}
    environ = {"SERVICE_EXPERIMENTAL_EDGE_BULK_METRICS": "true"}
    web = webtest.TestApp(make_service({"authentication": AUTHENTICATION}, environ).app)
    web.post_json("/edge/metrics", body, headers=ADMIN, status=202)
    production = 'purchases{appName="shop",environment="production"}'
    assert totals(web) == {"purchases": 10, production: 2}
    assert dropped(web) == {"applications": 1}


def test_bad_metric_is_dropped_and_the_rest_of_the_report_is_stored(sdk, clock):
    bad = [3, counter(-1), {"name": "x"}, counter(1) | {"type": "summary"}]
    body = report(counter(1), *bad, bucket=bucket(clock, one={"yes": 3}))
    sdk.web.post_json(PATH, body, headers=CLIENT, status=202)
    assert totals(sdk.web) == {"purchases": 1}
    assert sdk.sums() == {("one", "shop", "development"): (3, 0)}
    assert dropped(sdk.web) == {"impact_metrics": 4}


@pytest.mark.parametrize("metrics", [{}, "x", 3, True])
def test_what_is_not_a_list_is_rejected(sdk, metrics):
    sdk.web.post_json(PATH, report() | {"impactMetrics": metrics}, headers=CLIENT, status=400)
    body = {"applications": [], "metrics": [], "impactMetrics": metrics}
    sdk.web.post_json(BULK, body, headers=CLIENT, status=400)


def test_empty_lists_of_idle_sdks_store_nothing(sdk):
    zero = {"name": "a", "help": "b", "type": "counter", "samples": [{"labels": {}, "value": 0}]}
    for metrics in ([], None, [zero], [zero | {"samples": []}]):
        body = report() | {"impactMetrics": metrics, "bucket": None}
        sdk.web.post_json(PATH, body, headers=CLIENT, status=202)
    assert (totals(sdk.web), dropped(sdk.web)) == ({}, {})


def test_flood_of_series_is_bounded_and_does_not_displace_others(make_service, database):
    sdk = Sdk(make_service, database, SERVICE_IMPACT_SERIES_LIMIT="20")
    for n in range(3):
        flood = [counter(1, user=str(n * 5 + i)) for i in range(5)]
        sdk.web.post_json(FRONTEND_PATHS[0], report(*flood), headers=FRONTEND, status=200)
    sdk.web.post_json(PATH, report(counter(1), counter(2, one="blue")), headers=CLIENT)
    assert len(totals(sdk.web)) == 4
    assert dropped(sdk.web) == {"impact_series": 13}
    sdk.web.post_json(PATH, report(counter(1)), headers=CLIENT)
    assert totals(sdk.web)["purchases"] == 2
    sdk.close()


def test_metrics_of_a_flag_are_listed_by_variant_and_time(sdk):
    histogram = counter(0, "lat", one="red") | {"type": "histogram"}
    histogram["samples"][0] |= {"count": 2, "sum": 5, "buckets": [{"le": 1, "count": 1}]}
    metrics = counter(2, one="blue"), counter(9, two="blue"), histogram
    for _ in range(2):
        sdk.web.post_json(PATH, report(*metrics), headers=CLIENT)
    path = "/api/admin/impact-metrics/features/one"
    for query, name in (("", "day"), ("?range=day", "day"), ("?range=hour", "hour")):
        answer = sdk.web.get(path + query, headers=ADMIN).json
        assert (answer["featureName"], answer["range"]) == ("one", name)
        lat, purchases = answer["data"]
        assert (lat["metricName"], lat["type"], lat["variant"]) == ("lat", "histogram", "red")
        assert (lat["count"], lat["sum"]) == (4, 10)
        assert sum(window["count"] for window in lat["data"]) == 4
        assert (purchases["appName"], purchases["environment"]) == ("shop", "development")
        assert (purchases["variant"], purchases["value"], purchases["help"]) == ("blue", 4, "Help")
        assert sum(window["value"] for window in purchases["data"]) == 4
    answer = sdk.web.get(f"{path}?range=week", headers=ADMIN, status=400)
    assert answer.json["details"][0]["path"] == "range"
    assert sdk.web.get(f"{path}-none", headers=ADMIN).json["data"] == []


def test_flood_from_browsers_does_not_displace_what_servers_measure(sdk):
    sdk.web.post_json(PATH, report(counter(7, "zebra", one="blue")), headers=CLIENT)
    flood = [counter(1, "a", one=str(n)) for n in range(250)]
    sdk.web.post_json(FRONTEND_PATHS[0], report(*flood), headers=FRONTEND)
    answer = sdk.web.get("/api/admin/impact-metrics/features/one", headers=ADMIN).json["data"]
    assert [row["value"] for row in answer if row["metricName"] == "zebra"] == [7]


def histograms(count, bounds):
    pairs = [{"le": n, "count": 1} for n in range(bounds)]
    sample = {"labels": LABELS, "count": 1, "sum": 1, "buckets": pairs}
    return [{"name": f"h{n}", "type": "histogram", "samples": [sample]} for n in range(count)]


def test_a_report_of_an_hour_from_a_browser_counts_as_its_last_minutes(sdk, clock):
    times = {"start": clock.now() - timedelta(hours=1), "stop": clock.now()}
    times = {name: format_iso(at) for name, at in times.items()} | {"toggles": {}}
    body = report(*histograms(60, 50), counter(30), bucket=times)
    sdk.web.post_json(FRONTEND_PATHS[0], body, headers=FRONTEND, status=200)
    ((values,),) = sdk.rows("SELECT sum(1 + cardinality(buckets)) FROM impact_windows")
    assert values <= 2 * FRONTEND_LIMITS.values  # of each series and of its group
    oldest = "SELECT min(starts_at) FROM impact_windows WHERE seconds = 60"
    ((first,),) = sdk.rows(oldest)
    assert clock.now() - first <= timedelta(minutes=11)
    assert dropped(sdk.web)["impact_metrics"] > 0


def test_reports_of_servers_do_not_wait_for_those_of_browsers(sdk, database):
    body = report(counter(1), bucket=None)
    for path, headers in ((FRONTEND_PATHS[0], FRONTEND), (PATH, CLIENT)):
        sdk.web.post_json(path, body, headers=headers)
    with closing(database.connect()) as conn, conn.cursor() as cursor:
        cursor.execute("BEGIN")
        cursor.execute("SELECT 1 FROM impact_series WHERE sdk_type = 'frontend' FOR UPDATE")
        browser = threading.Thread(
            target=lambda: sdk.web.post_json(FRONTEND_PATHS[0], body, headers=FRONTEND)
        )
        browser.start()
        commits = sdk.service.context.report_commits["frontend"]
        until(lambda: commits._has_writer, "the report of the browser")
        sdk.web.post_json(PATH, body, headers=CLIENT, status=202)
        assert commits._has_writer
        cursor.execute("ROLLBACK")
        browser.join()
    assert totals(sdk.web) == {"purchases": 2, 'purchases{origin="frontend"}': 2}


def test_failed_statement_stores_neither_counts_nor_samples(sdk, clock):
    sdk.rows("ALTER TABLE impact_windows ADD CHECK (value < 5)")
    body = report(counter(9), bucket=bucket(clock, one={"yes": 1}))
    sdk.web.post_json(PATH, body, headers=CLIENT, expect_errors=True)
    assert (sdk.sums(), totals(sdk.web)) == ({}, {})
    sdk.rows("ALTER TABLE impact_windows DROP CONSTRAINT impact_windows_value_check")
    sdk.web.post_json(PATH, body, headers=CLIENT, status=202)
    assert sdk.sums() == {("one", "shop", "development"): (1, 0)}
    assert totals(sdk.web) == {"purchases": 9}


@pytest.mark.parametrize(("header", "status"), [("Bearer m3trics", 200), ("x", 401), (None, 401)])
def test_totals_require_the_token_of_metrics(make_service, header, status):
    service = make_service(environ={"SERVICE_METRICS_TOKEN": "m3trics"})
    headers = {"Authorization": header} if header else {}
    webtest.TestApp(service.app).get(TOTALS, headers=headers, status=status)


def test_totals_are_disabled_with_the_metrics(make_service):
    service = make_service({"server": {"serverMetrics": False}})
    webtest.TestApp(service.app).get(TOTALS, status=404)
