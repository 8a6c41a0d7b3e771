"""Floods of reports: stored data stays bounded, and changes of flags are not blocked."""

from __future__ import annotations

import threading
from contextlib import closing

import pytest

from tests.conftest import ADMIN
from tests.routes.sdk import CLIENT, FRONTEND, PRODUCTION, Sdk
from tests.routes.test_client_metrics import BULK, PATH, bucket
from tests.server.process import until
from tests.telemetry.test_metrics import MetricsPage

FRONTEND_PATH = "/api/frontend/client/metrics"
SWITCH = "/api/admin/projects/default/features/one/environments/development"
LIMITS = {
    "SERVICE_CLIENT_APPLICATIONS_LIMIT": "4",
    "SERVICE_FRONTEND_APPLICATIONS_LIMIT": "3",
    "SERVICE_CLIENT_INSTANCES_LIMIT": "5",
    "SERVICE_CLIENT_METRICS_VARIANTS_LIMIT": "50",
}


@pytest.fixture
def small(make_service, database):
    sdk = Sdk(make_service, database, **LIMITS)
    yield sdk
    sdk.close()


def count(sdk, table):
    return sdk.rows(f"SELECT count(*) FROM {table}")[0][0]


def dropped(sdk):
    metrics = MetricsPage(sdk.web)
    kinds = ("applications", "instances", "strategies", "variants")
    values = {kind: metrics[f'client_metrics_dropped_total{{kind="{kind}"}}'] for kind in kinds}
    return {kind: value for kind, value in values.items() if value}


def report(clock, app="shop", instance="a1", **variants):
    toggles = {"one": {"yes": 1, "variants": variants}}
    return {"appName": app, "instanceId": instance, "bucket": bucket(clock, **toggles)}


def test_invented_variants_are_not_stored(small, clock):
    for n in range(5):
        invented = {f"v{n}-{i}": 1 for i in range(20)}
        body = report(clock, blue=2, disabled=1, **invented)
        small.web.post_json(FRONTEND_PATH, body, headers=FRONTEND, status=200)
    assert small.variants() == {("one", "blue"): 10, ("one", "disabled"): 5}
    assert dropped(small) == {"variants": 100}


def test_variants_beyond_the_limit_of_a_report_are_dropped(small, clock):
    body = report(clock, **{f"v{i}": 1 for i in range(80)}, blue=1)
    small.web.post_json(PATH, body, headers=CLIENT, status=202)
    assert (small.variants(), small.sums()) == ({}, {("one", "shop", "development"): (1, 0)})
    assert dropped(small) == {"variants": 81}


def test_invented_applications_are_stored_up_to_the_limit(small, clock):
    for n in range(10):
        small.web.post_json(FRONTEND_PATH, report(clock, f"app-{n}"), headers=FRONTEND, status=200)
    apps = {("one", f"app-{n}", "development") for n in range(3)}
    assert set(small.sums()) == apps
    for table in ("client_applications", "client_application_environments", "client_instances"):
        assert count(small, table) == 3
    assert dropped(small) == {"applications": 7}
    small.web.post_json(FRONTEND_PATH, report(clock, "app-0"), headers=FRONTEND)
    assert small.sums()["one", "app-0", "development"] == (2, 0)


def test_flood_by_a_frontend_token_does_not_block_backend_applications(small, clock):
    for n in range(10):
        small.web.post_json(FRONTEND_PATH, report(clock, f"app-{n}", f"{n}"), headers=FRONTEND)
    small.web.post_json(PATH, report(clock, "server"), headers=CLIENT, status=202)
    small.web.post_json(PATH, report(clock, "server"), headers=PRODUCTION, status=202)
    assert small.sums()["one", "server", "development"] == (1, 0)
    assert ("server", "a1", "development", None, "backend") in small.instances()


def test_invented_instances_are_stored_up_to_the_limit(small, clock):
    for n in range(12):
        body = report(clock, instance=f"i{n}")
        small.web.post_json(FRONTEND_PATH, body, headers=FRONTEND, status=200)
    assert count(small, "client_instances") == 5
    assert small.sums() == {("one", "shop", "development"): (12, 0)}, "their counts are stored"
    assert dropped(small) == {"instances": 7}


def test_deleted_instances_make_room_after_a_second(small, clock):
    def send(name):
        body = report(clock, instance=name)
        small.web.post_json(FRONTEND_PATH, body, headers=FRONTEND, status=200)
        return count(small, "client_instances")

    assert [send(f"i{n}") for n in range(6)][-1] == 5
    small.rows("DELETE FROM client_instances WHERE instance_id <> 'i1'")
    assert send("new") == 1
    clock.advance(1)
    assert [send(f"n{n}") for n in range(5)] == [2, 3, 4, 5, 5]


def test_registrations_are_limited_too(small):
    for n in range(9):
        body = {"appName": f"app-{n}", "interval": 1, "started": 1, "strategies": []}
        small.web.post_json("/api/client/register", body, headers=CLIENT, status=202)
    assert count(small, "client_applications") == count(small, "client_instances") == 4
    assert dropped(small) == {"applications": 5}


@pytest.mark.parametrize("by", ["SDK", "relay"])
def test_invented_strategies_are_stored_up_to_the_limit(small, by):
    body = {"appName": "shop", "strategies": ["x" * 5000, *(f"s{n}" for n in range(5000))]}
    if by == "SDK":
        body |= {"interval": 1, "started": 1}
        small.web.post_json("/api/client/register", body, headers=CLIENT, status=202)
    else:
        body |= {"instanceId": "1", "environment": "development"}
        body = {"applications": [body], "metrics": []}
        small.web.post_json(BULK, body, headers=CLIENT, status=202)
    ((strategies,),) = small.rows("SELECT strategies FROM client_applications")
    assert strategies == [f"s{n}" for n in range(100)]
    assert dropped(small) == {"strategies": 4901}


def test_report_of_a_relay_is_stored_up_to_each_limit(small):
    where = {"environment": "development"}
    apps = [{"appName": f"app-{n % 6}", "instanceId": f"{n}"} | where for n in range(30)]
    metrics = [{"featureName": "one", "appName": f"app-{n}", "yes": 1} | where for n in range(9)]
    body = {"applications": apps, "metrics": metrics}
    small.web.post_json(BULK, body, headers=CLIENT, status=202)
    assert count(small, "client_applications") == 4
    assert count(small, "client_instances") == 5
    assert len(small.sums()) == 4
    assert dropped(small) == {"applications": 5, "instances": 15}


def send_at_once(number, send):
    """Threads that run `send(n)`; the caller joins them."""
    threads = [threading.Thread(target=send, args=(n,)) for n in range(number)]
    for thread in threads:
        thread.start()
    return threads


def test_concurrent_reports_do_not_exceed_the_limit_of_applications(small, clock):
    statuses = []

    def send(n):
        for turn in range(5):
            body = report(clock, f"app-{n}-{turn}")
            answer = small.web.post_json(FRONTEND_PATH, body, headers=FRONTEND, status="*")
            statuses.append(answer.status_int)

    for thread in send_at_once(6, send):
        thread.join(60)
    assert set(statuses) <= {200, 503}
    assert 200 in statuses
    assert count(small, "client_application_environments") == 3, "one connection for reports"


def test_flag_is_switched_while_reports_use_all_their_connections(sdk, clock, database):
    """In earlier versions they used all connections until their locks timed out."""
    statuses = []

    def send(n):
        answer = sdk.web.post_json(FRONTEND_PATH, report(clock), headers=FRONTEND, status="*")
        statuses.append(answer.status_int)

    def blocked():
        return len(
            sdk.rows(
                "SELECT 1 FROM pg_stat_activity "
                "WHERE wait_event_type = 'Lock' AND datname = current_database()"
            )
        )

    with closing(database.connect()) as holder:
        holder.autocommit = False
        holder.cursor().execute("LOCK TABLE client_metrics IN SHARE ROW EXCLUSIVE MODE")
        threads = send_at_once(8, send)
        until(lambda: statuses.count(503) >= 2 or blocked() > 1, "reports that are refused")
        assert blocked() <= 1, "reports have one connection"
        sdk.web.post(f"{SWITCH}/on", headers=ADMIN, status=200)
        features = sdk.web.get("/api/client/features", headers=CLIENT).json["features"]
        assert {f["name"]: f["enabled"] for f in features}["one"] is True
    for thread in threads:
        thread.join(60)
    assert set(statuses) <= {200, 503}


def test_reports_are_stored_during_an_open_change_of_their_flag(sdk, clock, database):
    body = report(clock, blue=1)
    with closing(database.connect()) as holder:
        holder.autocommit = False
        for statement in (
            "SELECT id FROM revisions FOR UPDATE",
            "UPDATE features SET stale = true",
            "UPDATE feature_environments SET enabled = true",
        ):
            holder.cursor().execute(statement)
        sdk.web.post_json(FRONTEND_PATH, body, headers=FRONTEND, status=200)
        sdk.web.post_json(PATH, body, headers=CLIENT, status=202)
    assert sdk.sums() == {("one", "shop", "development"): (2, 0)}
    assert sdk.rows("SELECT feature, environment FROM feature_last_seen") == [
        ("one", "development")
    ]
