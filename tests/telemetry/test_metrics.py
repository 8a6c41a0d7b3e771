"""The metrics of a running service: all that are promised, each with what happened."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path

import pytest
import webtest

from sigservice.services.identity import SYSTEM
from sigservice.services.system import events
from sigservice.telemetry import counts
from tests.conftest import ADMIN, Make

METRICS = "/internal-backstage/prometheus"
PAGE = Path(__file__).resolve().parents[2] / "docs" / "metrics.md"
FEATURES = "/api/admin/projects/default/features"
# What tools of the field ask for, by the name that stands in the answer.
PROMISED = """
http_request_duration_milliseconds http_sdk_request_duration_milliseconds
db_query_duration_seconds function_duration_seconds scheduler_duration_seconds
feature_toggle_update_total feature_toggle_usage_total client_registration_total
client_sdk_versions feature_toggles_total feature_toggles_archived_total users_total
users_active_7 users_active_30 users_active_60 users_active_90 projects_total environments_total
groups_total roles_total segments_total strategies_total context_total api_tokens_total
client_apps_total unknown_flags addon_events_handled db_pool_min db_pool_max db_pool_free
db_pool_used db_pool_pending_creates db_pool_pending_acquires postgres_version rate_limits
resource_limit exceeds_limit_error feature_created_by_migration_count
event_created_by_migration_count request_origin_counter signals_received_total
signal_payload_bytes client_metrics_dropped_total
"""


class MetricsPage:
    """The samples of one scrape."""

    def __init__(self, web):
        self.text = web.get(METRICS).text

    def __getitem__(self, sample):
        """The value of `name{a="b"}`, labels in any order; None when it is not there."""
        name, _, rest = sample.partition("{")
        expected = set(re.findall(r'\w+="[^"]*"', rest))
        for line in self.text.splitlines():
            head, _, value = line.rpartition(" ")
            result, _, labels = head.partition("{")
            if result == name and set(re.findall(r'\w+="[^"]*"', labels)) == expected:
                return float(value)
        return None

    def names(self):
        return re.findall(r"^# TYPE (\w+) ", self.text, re.M)


@pytest.fixture
def token(web):
    def make(type="client"):
        body = {"tokenName": "t", "type": type, "environment": "development"}
        created_item = web.post_json("/api/admin/api-tokens", body, headers=ADMIN).json
        return {"Authorization": created_item["secret"]}

    return make


def test_every_promised_metric_is_there_with_its_type(web):
    messages = MetricsPage(web)
    assert set(PROMISED.split()) <= set(messages.names())
    assert len(messages.names()) == len(set(messages.names()))
    for name in ("request_origin_counter", "client_sdk_versions", "feature_toggle_usage_total"):
        assert f"# TYPE {name} counter" in messages.text
    assert "# TYPE http_request_duration_milliseconds histogram" in messages.text


def test_the_page_lists_what_there_is_and_nothing_else(web):
    names = {
        name: (kind.strip(), labels)
        for cell, kind, labels in re.findall(
            r"^\| (`[^|\n]+`) \|([^|\n]*)\|([^|\n]*)\|", PAGE.read_text(), re.M
        )
        for name in re.findall(r"[a-z_0-9]+\*?", cell)
    }
    prefixes = tuple(name[:-1] for name in names if name.endswith("*"))
    messages = MetricsPage(web)
    types = dict(re.findall(r"^# TYPE (\w+) (\w+)$", messages.text, re.M))
    own = {name: kind for name, kind in types.items() if not name.startswith(prefixes)}
    assert own == {n: kind for n, (kind, _) in names.items() if not n.endswith("*")}
    for sample, labels in re.findall(r"^(\w+)\{(.*)\} ", messages.text, re.M):
        name = sample if sample in own else re.sub(r"_(bucket|sum|count)$", "", sample)
        occupied = set(re.findall(r'(\w+)="', labels)) - {"le"}
        if name in own:
            assert occupied == set(re.findall(r"\w+", names[name][1])), name


def test_requests_by_route_application_and_origin(web, token):
    client = token()
    web.get("/api/client/features", headers=client | {"Unleash-AppName": "shop"})
    web.get("/api/client/features?appName=till&x=1", headers=client)
    web.get("/api/client/features", headers={"X-Unleash-AppName": "unknown-app"}, status=401)
    web.get("/api/client/features?appName=%ff", headers=client, status=400)
    for path in ("/api/admin/no", "/api/client/no", "/api/frontend/no", "/api/no", "/edge/no",
                 "/auth/no", "/no/such/page"):  # fmt: skip
        web.get(path, headers=ADMIN | {"User-Agent": "curl/8.1"}, status=404)
    web.get("/api/admin/projects/default/features/none", headers=ADMIN, status=404)
    web.get("/sign-in")
    messages = MetricsPage(web)
    for app, status in (("shop", 200), ("till", 200), ("", 401), ("", 400)):
        labels = f'path="/api/client/features",method="GET",status="{status}",appName="{app}"'
        assert messages[f"http_request_duration_milliseconds_count{{{labels}}}"] == 1
    sdk = 'path="/api/client/features",method="GET",status="200"'
    assert messages[f"http_sdk_request_duration_milliseconds_count{{{sdk}}}"] == 2
    for path in ("/api/admin/(hidden)", "/api/client/(hidden)", "/api/frontend/(hidden)",
                 "/api/(hidden)", "/edge/(hidden)", "/auth/(hidden)", "(hidden)"):  # fmt: skip
        labels = f'path="{path}",method="GET",status="404",appName=""'
        assert messages[f"http_request_duration_milliseconds_count{{{labels}}}"] == 1, path
    route = "/api/admin/projects/:project/features/:name"
    assert f'path="{route}",status="404"' in messages.text
    assert messages['request_origin_counter{type="UI",method="GET",source=""}'] == 1
    assert messages['request_origin_counter{type="API",method="GET",source="curl"}'] == 4
    assert messages['request_origin_counter{type="API",method="GET",source="sdk"}'] == 7
    query = 'db_query_duration_seconds_count{store="api_tokens",action="insert_api_token"}'
    assert messages[query] >= 1  # 2 if the start has inserted the token of ADMIN


def test_the_kill_switch_leaves_application_names_empty(make_service):
    environ = {"SERVICE_RESPONSE_TIME_WITH_APP_NAME_KILL_SWITCH": "true"}
    web = webtest.TestApp(make_service(environ=environ).app)
    web.get("/api/admin/projects", headers=ADMIN | {"Unleash-AppName": "zz"})
    messages = MetricsPage(web)
    assert "zz" not in messages.text
    labels = 'path="/api/admin/projects",method="GET",status="200",appName=""'
    assert messages[f"http_request_duration_milliseconds_count{{{labels}}}"] == 1


@pytest.mark.parametrize("headers", [{}, {"Authorization": "*:development.wrong"}])
def test_names_of_callers_without_a_good_token_are_not_counted(web, token, headers):
    for n in range(9):
        strange = {"Unleash-AppName": f"x{n}"}
        path = ("/api/client/features", "/sign-in", f"/no/such/page?appName=y{n}")[n % 3]
        web.get(path, headers=headers | strange, expect_errors=True)
    web.get("/api/client/features", headers=token() | {"Unleash-AppName": "shop"})
    web.get("/api/admin/projects", headers=ADMIN | {"Unleash-AppName": "tool"})
    messages = MetricsPage(web)
    assert set(re.findall(r'appName="(\w*)"', messages.text)) == {"", "shop", "tool"}


def test_names_of_anonymous_reports_are_not_counted(make_service):
    options = {"authentication": {"type": "none", "enableApiToken": False}}
    web = webtest.TestApp(make_service(options).app)
    web.post_json(FEATURES, {"name": "a"})
    body = {"appName": "strange", "interval": 15_001, "started": 1, "strategies": []}
    web.post_json("/api/client/register", body | {"sdkVersion": "odd:1"}, status=202)
    bucket = {"start": 1, "stop": 2, "toggles": {"a": {"yes": 3}}}
    for path in ("/api/client/metrics", "/api/frontend/client/metrics"):
        web.post_json(path, {"appName": "strange", "bucket": bucket})
    messages = MetricsPage(web)
    assert messages['feature_toggle_usage_total{toggle="a",active="true",appName=""}'] == 6
    where = 'appName="",environment="default",interval=""'
    assert messages[f"client_registration_total{{{where}}}"] == 1
    assert not re.search('strange|"15001"|odd:1', messages.text)


def test_changes_of_flags_count_when_they_are_committed(web, service):
    web.post_json(FEATURES, {"name": "a"}, headers=ADMIN)
    web.post_json(FEATURES, {"name": "a"}, headers=ADMIN, status=409)
    web.post(f"{FEATURES}/a/environments/production/on", headers=ADMIN)
    web.delete(f"{FEATURES}/a", headers=ADMIN)
    with contextlib.suppress(ZeroDivisionError), service.context.database.transaction() as conn:
        events.record(conn, "feature-created", SYSTEM, feature_name="undone")
        raise ZeroDivisionError
    messages = MetricsPage(web)
    at = 'toggle="a",project="default"'
    none = 'environment="n/a",environmentType="n/a"'
    assert messages[f'feature_toggle_update_total{{{at},{none},action="created"}}'] == 1
    assert messages[f'feature_toggle_update_total{{{at},{none},action="archived"}}'] == 1
    where = 'environment="production",environmentType="production"'
    assert messages[f'feature_toggle_update_total{{{at},{where},action="updated"}}'] >= 1
    assert "undone" not in messages.text


def test_what_sdks_report(web, token):
    client = token()
    web.post_json(FEATURES, {"name": "a"}, headers=ADMIN)
    body = {"appName": "shop", "interval": 15_000, "started": 1, "strategies": []}
    sdk = {"sdkVersion": "unleash-client-node:5.6.1", "platformName": "node", "specVersion": "5.1"}
    web.post_json("/api/client/register", body | sdk, headers=client, status=202)
    web.post_json("/api/client/register", body, headers=client, status=202)
    toggles = {"a": {"yes": 3, "no": 1}, "gone": {"yes": 2}, "never": {"yes": 0}}
    bucket = {"start": 1, "stop": 2, "toggles": toggles}
    metrics = {"appName": "shop", "bucket": bucket}
    web.post_json("/api/client/metrics", metrics, headers=client, status=202)
    messages = MetricsPage(web)
    assert messages['feature_toggle_usage_total{toggle="a",active="true",appName="shop"}'] == 3
    assert messages['feature_toggle_usage_total{toggle="a",active="false",appName="shop"}'] == 1
    assert not re.search("never|gone", messages.text)
    assert messages["unknown_flags"] == 1
    where = 'appName="shop",environment="development",interval="15000"'
    assert messages[f"client_registration_total{{{where}}}"] == 2
    assert messages['client_sdk_versions{sdk_name="unleash-client-node",sdk_version="5.6.1",'
                'platform_name="node",platform_version="",yggdrasil_version="",'
                'spec_version="5.1"}'] == 1  # fmt: skip
    assert messages['client_apps_total{range="7d"}'] == 1


def test_how_much_there_is_and_limits_that_hold(make_service):
    service = make_service(environ={"SERVICE_SIGNAL_ENDPOINTS_LIMIT": "1"})
    web = webtest.TestApp(service.app)
    web.post_json(FEATURES, {"name": "a"}, headers=ADMIN)
    Make(web).endpoint("first")
    web.post_json("/api/admin/signal-endpoints", {"name": "second"}, headers=ADMIN, status=400)
    messages = MetricsPage(web)
    version = web.get("/api/admin/ui-config", headers=ADMIN).json["version"]
    assert messages[f'feature_toggles_total{{version="{version}"}}'] == 1
    assert (messages["users_total"], messages['api_tokens_total{type="admin"}']) == (1, 1)
    assert (messages['projects_total{mode="open"}'], messages["environments_total"]) == (1, 3)
    assert re.search(r'^postgres_version\{version="[0-9.]+.*"\} 1.0$', messages.text, re.M)
    assert messages['resource_limit{resource="signalEndpoints"}'] == 1
    assert messages['exceeds_limit_error{resource="signalEndpoints",limit="1"}'] == 1


def test_a_scrape_asks_once_and_remembers_for_some_seconds(web, clock):
    requests = 'db_query_duration_seconds_count{store="statistics",action="count_for_metrics"}'
    queries = re.compile(r"^db_query_duration_seconds_count.* (\S+)$", re.M)

    def total():
        return sum(map(float, queries.findall(MetricsPage(web).text)))

    before = total()
    web.post_json(FEATURES, {"name": "a"}, headers=ADMIN)
    MetricsPage(web)
    assert MetricsPage(web)[requests] == 1
    clock.advance(counts.CACHE_SECONDS + 0.1)
    old = total()
    assert total() - old == 0
    assert MetricsPage(web)[requests] == 2
    assert old > before


def test_while_the_database_is_away_the_rest_is_told_at_once(web, service, clock, monkeypatch):
    assert MetricsPage(web)["users_total"] == 1
    service.context.database.close()
    assert MetricsPage(web)["users_total"] == 1, "remembered"
    clock.advance(6)
    messages = MetricsPage(web)
    assert messages["users_total"] is None
    assert messages["db_pool_max"] == 4
    assert "# TYPE users_total gauge" in messages.text


def test_every_limit_has_its_row(web, service):
    messages = MetricsPage(web)
    rows = re.findall(r"^rate_limits\{", messages.text, re.M)
    assert len(rows) == len(service.context.limiter.buckets)


def test_off_there_is_nothing(make_service, make):
    service = make_service({"server": {"serverMetrics": False}})
    web = webtest.TestApp(service.app)
    web.get(METRICS, status=404)
    assert service.context.telemetry.write_exposition() == b"\n"
    assert service.context.database.observer is None
