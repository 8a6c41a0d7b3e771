"""The requests of official SDKs, as their sources send them: nothing is refused, and what they
report is stored. docs/sdk.md says which SDKs other tests run."""

from __future__ import annotations

import contextlib
import http.client
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pytest

from tests.conftest import ADMIN_TOKEN
from tests.sdk.conftest import CLIENT_TOKEN, FRONTEND_TOKEN, PROJECT, Server

Headers = Mapping[str, str]

ID = "0b8a8f6e-6c7e-4d67-9f2e-1f9c2c7a9d11"
STRATEGIES = ["default", "flexibleRollout", "userWithId", "remoteAddress"]
TOGGLES = {
    "rollout": {"yes": 2, "no": 1},
    "color": {"yes": 3, "no": 0, "variants": {"red": 3}},
}
WITH_VARIANTS = {name: {"variants": {}} | counts for name, counts in TOGGLES.items()}
BROWSER = {"Accept": "application/json", "unleash-appname": "app", "unleash-connection-id": ID}


class Answer(NamedTuple):
    status: int
    headers: Headers
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


def send(
    server: Server, method: str, path: str, token: str, headers: Headers, body: Any = None
) -> Answer:
    """Sends exactly these headers."""
    conn = http.client.HTTPConnection("127.0.0.1", server.port)
    headers = {"Authorization": token} | dict(headers)
    data = None if body is None else json.dumps(body).encode()
    if data is not None:
        headers.setdefault("Content-Type", "application/json")
    with contextlib.closing(conn):
        conn.request(method, path, data, headers)
        answer = conn.getresponse()
        return Answer(answer.status, answer.headers, answer.read())


def make_bucket(start: Any, stop: Any, toggles: Any = TOGGLES) -> dict[str, Any]:
    return {"start": start, "stop": stop, "toggles": toggles}


@dataclass(frozen=True)
class ServerSdk:
    """`metrics` is the report of TOGGLES, `empty` what it sends without any."""

    name: str
    headers: Headers
    registration: Any
    metrics: Any
    empty: Any = None
    revalidates: bool = True
    interval: Headers = field(default_factory=dict)


SERVER_SDKS = [
    ServerSdk(
        "java",
        {"Content-Type": "application/json", "Accept": "application/json", "UNLEASH-APPNAME": "app",
         "UNLEASH-INSTANCEID": "i", "Unleash-Client-Spec": "4.2.0", "unleash-connection-id": ID,
         "unleash-sdk": "unleash-java-sdk:12.0.0", "UNLEASH-INTERVAL": "10000"},
        {"appName": "app", "instanceId": "i", "connectionId": ID, "environment": "default",
         "sdkVersion": "unleash-java-sdk:12.0.0", "strategies": STRATEGIES, "interval": 60000,
         "started": "2026-11-20T10:00:00.123Z", "platformName": "OpenJDK Runtime Environment",
         "platformVersion": "21.0.5", "specVersion": "4.2.0", "yggdrasilVersion": None},
        {"appName": "app", "instanceId": "i", "connectionId": ID, "environment": "default",
         "bucket": make_bucket("2026-11-20T10:00:00.123Z", "2026-11-20T10:01:00.456Z",
                               WITH_VARIANTS), "impactMetrics": []},
        interval={"UNLEASH-INTERVAL": "60000"},
    ),
    ServerSdk(
        "dotnet",
        {"User-Agent": "app", "UNLEASH-INSTANCEID": "i", "Unleash-Client-Spec": "5.2.2",
         "unleash-appname": "app", "unleash-sdk": "unleash-dotnet-sdk:6.0.0",
         "unleash-connection-id": ID, "Unleash-Interval": "15000"},
        {"appName": "app", "instanceId": "i", "connectionId": ID, "interval": 60000,
         "sdkVersion": "unleash-dotnet-sdk:6.0.0", "started": "2026-11-20T10:00:00.1234567+00:00",
         "strategies": STRATEGIES, "platformName": ".NET", "platformVersion": "8.0.1",
         "yggdrasilVersion": "2.0.1", "specVersion": "5.2.2"},
        {"appName": "app", "instanceId": "i", "connectionId": ID, "impactMetrics": [],
         "bucket": make_bucket("2026-11-20T10:00:00.123456789Z", "2026-11-20T10:01:00.5Z",
                               WITH_VARIANTS)},
        {"appName": "app", "instanceId": "i", "connectionId": ID, "impactMetrics": [],
         "bucket": make_bucket("2026-11-20T10:00:00.1234567+00:00",
                               "2026-11-20T10:00:00.1234567+00:00", {})},
        interval={"Unleash-Interval": "60000"},
    ),
    ServerSdk(
        "go",
        {"User-Agent": "app", "UNLEASH-APPNAME": "app", "UNLEASH-INSTANCEID": "i",
         "Unleash-Client-Spec": "5.2.2", "unleash-sdk": "unleash-go-sdk:6.0.0",
         "unleash-connection-id": ID, "unleash-interval": "15000"},
        {"appName": "app", "instanceId": "i", "connectionId": ID, "interval": 60,
         "sdkVersion": "unleash-go-sdk:6.0.0", "strategies": STRATEGIES, "platformName": "go1.24",
         "started": "2026-11-20T12:00:00.123456789+02:00", "platformVersion": "go1.24",
         "yggdrasilVersion": None, "specVersion": "5.2.2"},
        {"appName": "app", "instanceId": "i", "connectionId": ID,
         "bucket": make_bucket("2026-11-20T12:00:00.123456789+02:00", "2026-11-20T12:01:00+02:00",
                               {name: {"variants": None} | it for name, it in TOGGLES.items()})},
    ),
    ServerSdk(
        "ruby",
        {"Content-Type": "application/json", "UNLEASH-APPNAME": "app", "UNLEASH-INSTANCEID": "i",
         "User-Agent": "UnleashClientRuby/6.0.0 ruby/3.4", "Unleash-Client-Spec": "5.2.0",
         "unleash-sdk": "unleash-ruby-sdk:6.0.0", "unleash-connection-id": ID,
         "UNLEASH-INTERVAL": "15"},
        {"appName": "app", "instanceId": "i", "connectionId": ID, "interval": 60,
         "sdkVersion": "unleash-ruby-sdk:6.0.0", "strategies": STRATEGIES, "platformName": "ruby",
         "started": "2026-11-20T10:00:00.123Z", "platformVersion": "3.4.1",
         "yggdrasilVersion": "0.13.3", "specVersion": "5.2.0"},
        {"platformName": "ruby", "platformVersion": "3.4.1", "yggdrasilVersion": "0.13.3",
         "specVersion": "5.2.0", "appName": "app", "instanceId": "i", "connectionId": ID,
         "bucket": make_bucket("2026-11-20T10:00:00Z", "2026-11-20T10:01:00Z", WITH_VARIANTS)},
        {"appName": "app", "instanceId": "i",
         "bucket": make_bucket("2026-11-20T10:00:00Z", "2026-11-20T10:01:00Z", {})},
        interval={"UNLEASH-INTERVAL": "60"},
    ),
    ServerSdk(
        "php",
        {"UNLEASH-APPNAME": "app", "UNLEASH-INSTANCEID": "i", "Unleash-Client-Spec": "5.1.9",
         "x-unleash-appname": "app", "x-unleash-sdk": "unleash-client-php:2.9.0",
         "x-unleash-connection-id": ID, "Unleash-Interval": "30000"},
        {"appName": "app", "instanceId": "i", "sdkVersion": "unleash-client-php:2.9.0",
         "strategies": STRATEGIES, "started": "2026-11-20T10:00:00+00:00", "interval": 60000,
         "platformName": "fpm-fcgi", "platformVersion": "8.4.1", "yggdrasilVersion": None,
         "specVersion": "5.1.9"},
        {"appName": "app", "instanceId": "i", "platformName": "fpm-fcgi",
         "platformVersion": "8.4.1", "yggdrasilVersion": None, "specVersion": "5.1.9",
         "bucket": make_bucket("2026-11-20T10:00:00+00:00", "2026-11-20T10:01:00+00:00")},
        revalidates=False,
        interval={"Unleash-Interval": "60000"},
    ),
    ServerSdk(
        "rust",
        {"Content-Type": "application/json", "appname": "app", "instance_id": "i",
         "unleash-appname": "app", "unleash-sdk": "unleash-rust-sdk:0.15.0",
         "unleash-connection-id": ID, "unleash-interval": "15000"},
        {"appName": "app", "instanceId": "i", "connectionId": ID, "interval": 15000,
         "sdkVersion": "unleash-rust-sdk:0.15.0", "strategies": STRATEGIES,
         "started": "2026-11-20T10:00:00.123456789Z", "platformName": "rust",
         "platformVersion": "1.84.0"},
        {"appName": "app", "instanceId": "i", "connectionId": ID, "platformName": "rust",
         "platformVersion": "1.84.0",
         "bucket": make_bucket("2026-11-20T10:00:00.123456789Z", "2026-11-20T10:00:15.123456789Z",
                               WITH_VARIANTS)},
        revalidates=False,
    ),
    ServerSdk(
        "node",
        {"UNLEASH-APPNAME": "app", "UNLEASH-INSTANCEID": "i", "User-Agent": "app",
         "Unleash-Client-Spec": "5.2.0", "unleash-appname": "app", "unleash-connection-id": ID,
         "unleash-sdk": "unleash-node-sdk:6.12.1", "unleash-interval": "undefined"},
        {"appName": "app", "instanceId": "i", "connectionId": ID, "interval": 60000,
         "sdkVersion": "unleash-node-sdk:6.12.1", "strategies": STRATEGIES,
         "started": "2026-11-20T10:00:00.123Z", "platformName": "node", "sdkFlavor": "nestjs",
         "sdkFlavorVersion": "11.0.0", "platformVersion": "20.20.2", "specVersion": "5.2.0"},
        {"appName": "app", "instanceId": "i", "connectionId": ID, "sdkFlavor": "nestjs",
         "sdkFlavorVersion": "11.0.0",
         "bucket": make_bucket("2026-11-20T10:00:00.123Z", "2026-11-20T10:01:00.123Z")},
    ),
]  # fmt: skip


@pytest.mark.parametrize("sdk", SERVER_SDKS, ids=lambda sdk: sdk.name)
def test_a_server_side_sdk_gets_flags_and_reports(flags, sdk):
    first = send(flags, "GET", "/api/client/features", CLIENT_TOKEN, sdk.headers)
    assert first.status == 200
    assert {flag["name"] for flag in first.json["features"]} >= {"rollout", "beta", "color"}
    etag = first.headers["ETag"]
    assert re.fullmatch('"[^"]+"', etag)  # .NET ignores others
    if sdk.revalidates:
        headers = dict(sdk.headers) | {"If-None-Match": etag}
        second = send(flags, "GET", "/api/client/features", CLIENT_TOKEN, headers)
        assert (second.status, second.headers["ETag"], second.body) == (304, etag, b"")
    else:
        second = send(flags, "GET", "/api/client/features", CLIENT_TOKEN, sdk.headers)
        assert (second.status, second.body) == (200, first.body)

    path, headers = "/api/client/register", dict(sdk.headers) | dict(sdk.interval)
    answer = send(flags, "POST", path, CLIENT_TOKEN, headers, sdk.registration)
    assert (answer.status, answer.body) == (202, b"")
    assert list_instances(flags) == [("i", sdk.registration["sdkVersion"])]
    for report in filter(None, (sdk.metrics, sdk.empty)):
        answer = send(flags, "POST", "/api/client/metrics", CLIENT_TOKEN, headers, report)
        assert (answer.status, answer.body) == (202, b"")
    assert_stored(flags)


@dataclass(frozen=True)
class PageSdk:
    """`context` is the user in the query or, for POST, in the body."""

    name: str
    headers: Headers
    metrics: Any
    method: str = "GET"
    query: str = "?appName=app&environment=default&sessionId=1&userId=7"
    revalidates: bool = True


PAGE_SDKS = [
    PageSdk(
        "js",
        BROWSER | {"Content-Type": "application/json", "unleash-sdk": "unleash-js-sdk:3.8.2"},
        {"appName": "app", "instanceId": "browser", "impactMetrics": [],
         "bucket": make_bucket("2026-11-20T10:00:00.123Z", "2026-11-20T10:01:00.123Z",
                               WITH_VARIANTS)},
        "POST",
        "",
    ),
    PageSdk(
        "android",
        BROWSER | {"Content-Type": "application/json", "unleash-sdk": "unleash-android-sdk:3.0.0",
                   "unleash-sdk-flavor": "flutter", "unleash-sdk-flavor-version": "3.29.0"},
        {"appName": "app", "instanceId": ID,
         "bucket": make_bucket("2026-11-20T10:00:00.123Z", "2026-11-20T10:01:00.123Z",
                               WITH_VARIANTS)},
    ),
    PageSdk(
        "ios",
        BROWSER | {"Cache": "no-cache", "Content-Type": "application/json",
                   "unleash-sdk": "unleash-ios-sdk:2.0.0", "If-None-Match": ""},
        {"appName": "app", "instanceId": "swift",
         "bucket": make_bucket("2026-11-20T10:00:00Z", "", WITH_VARIANTS)},
    ),
    PageSdk(
        "flutter",
        {"Accept": "application/json", "Cache": "no-cache", "Content-Type": "application/json",
         "unleash-appname": "app", "unleash-connection-id": ID,
         "unleash-sdk": "unleash-flutter-sdk:1.9.0"},
        {"appName": "app", "instanceId": "flutter",
         "bucket": make_bucket("2026-11-20T10:00:00.123456Z", "2026-11-20T10:01:00.123456Z",
                               WITH_VARIANTS)},
        revalidates=False,
    ),
    PageSdk(
        "cpp",
        {"accept": "application/json", "'unleash-connection-id'": ID, "unleash-appname": "app",
         "unleash-sdk": "unleash-cpp-sdk:1.0.0", "user-agent": "unleash-cpp-sdk"},
        {"appName": "app", "instanceId": "cpp",
         "bucket": make_bucket("2026-11-20T10:00:00Z", "2026-11-20T10:01:00Z", WITH_VARIANTS)},
        "POST",
        "",
    ),
]  # fmt: skip


@pytest.mark.parametrize("sdk", PAGE_SDKS, ids=lambda sdk: sdk.name)
def test_a_client_side_sdk_gets_flags_and_reports(flags, sdk):
    path = f"/api/frontend{sdk.query}"
    context = {"appName": "app", "sessionId": "1", "userId": "7", "properties": {"country": "de"}}
    body = {"context": context} if sdk.method == "POST" else None
    answer = send(flags, sdk.method, path, FRONTEND_TOKEN, sdk.headers, body)
    assert answer.status == 200
    names = [toggle["name"] for toggle in answer.json["toggles"]]
    assert len(names) == len(set(names))  # the iOS SDK crashes on a name that comes twice
    assert {"rollout", "beta", "color"} <= set(names)
    if sdk.revalidates:
        headers = dict(sdk.headers) | {"If-None-Match": answer.headers["ETag"]}
        second = send(flags, sdk.method, path, FRONTEND_TOKEN, headers, body)
        assert second.status == (304 if sdk.method == "GET" else 200)
    report = send(
        flags, "POST", "/api/frontend/client/metrics", FRONTEND_TOKEN, sdk.headers, sdk.metrics
    )
    assert report.status == 200
    assert_stored(flags)


def test_java_gets_the_flags_of_its_project_and_prefix(flags):
    path = "/api/client/features?project=default&namePrefix=ro"
    answer = send(flags, "GET", path, CLIENT_TOKEN, SERVER_SDKS[0].headers)
    assert [flag["name"] for flag in answer.json["features"]] == ["rollout"]


def test_rust_gets_constraints_of_segments_and_parameters_as_text(flags):
    answer = send(flags, "GET", "/api/client/features", CLIENT_TOKEN, {"appname": "app"})
    assert "segments" not in answer.json
    features = {flag["name"]: flag["strategies"][0] for flag in answer.json["features"]}
    assert [it["contextName"] for it in features["beta"]["constraints"]] == ["userId"]
    assert features["rollout"]["parameters"]["rollout"] == "100"


@pytest.mark.parametrize(
    ("token", "status"), [("*:development.unknown", 401), (FRONTEND_TOKEN, 403)]
)
def test_a_refused_stream_is_one_after_which_go_polls(flags, token, status):
    headers = {"Accept": "text/event-stream"} | dict(SERVER_SDKS[2].headers)
    answer = send(flags, "GET", "/api/client/streaming", token, headers)
    assert answer.status == status


@pytest.mark.parametrize("sdk", ["java", "go", "ruby"])
def test_a_stream_begins_with_all_flags(flags, sdk):
    (own,) = (it.headers for it in SERVER_SDKS if it.name == sdk)
    headers = {"Authorization": CLIENT_TOKEN, "Accept": "text/event-stream"} | dict(own)
    conn = http.client.HTTPConnection("127.0.0.1", flags.port)
    with contextlib.closing(conn):
        conn.request("GET", "/api/client/streaming", headers=headers)
        answer = conn.getresponse()
        lines = [answer.readline().decode() for _ in range(3)]
    assert (answer.status, answer.headers.get_content_type()) == (200, "text/event-stream")
    fields = dict(line.rstrip("\n").split(": ", 1) for line in lines)
    assert fields["event"] == "unleash-connected"
    (event,) = json.loads(fields["data"])["events"]
    assert {flag["name"] for flag in event["features"]} >= {"rollout", "beta", "color"}


def test_php_asks_for_one_flag_in_proxy_mode(flags):
    path = "/api/frontend/features/{}?userId=7&properties[country]=de"
    for name, is_enabled in (("rollout", True), ("german", True), ("nobody", False)):
        answer = send(flags, "GET", path.format(name), FRONTEND_TOKEN, SERVER_SDKS[4].headers)
        assert answer.status == 200
        toggle = answer.json
        assert (toggle["name"], toggle["enabled"]) == (name, is_enabled)
        assert isinstance(toggle["impressionData"], bool)
        assert (toggle["variant"]["name"], toggle["variant"]["enabled"]) == ("disabled", False)
    answer = send(flags, "GET", path.format("color"), FRONTEND_TOKEN, {})
    assert answer.json["variant"]["payload"] == {"type": "string", "value": "#f00"}
    assert send(flags, "GET", path.format("unknown"), FRONTEND_TOKEN, {}).status == 404
    report = send(
        flags,
        "POST",
        "/api/frontend/client/metrics",
        FRONTEND_TOKEN,
        SERVER_SDKS[4].headers,
        SERVER_SDKS[4].metrics,
    )
    assert report.status == 200
    assert_stored(flags)


def test_next_reports_with_a_client_token(flags):
    (js,) = (sdk for sdk in PAGE_SDKS if sdk.name == "js")
    answer = send(flags, "POST", "/api/client/metrics", CLIENT_TOKEN, js.headers, js.metrics)
    assert answer.status == 202
    assert_stored(flags)


@pytest.mark.parametrize("name", ["cache", "unleash-sdk-flavor", "if-none-match", "unleash-sdk"])
def test_pages_may_send_the_headers_of_sdks(flags, name):
    headers = {
        "Origin": "https://shop.example",
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": f"authorization,{name}",
    }
    answer = send(flags, "OPTIONS", "/api/frontend", "", headers)
    assert answer.status == 204
    assert name in answer.headers["Access-Control-Allow-Headers"].split(",")


def list_instances(server: Server) -> list[tuple[str, str]]:
    path = "/api/admin/metrics/instances/app/environment/development"
    rows = server.admin("GET", path)["instances"]
    return [(row["instanceId"], row["sdkVersion"]) for row in rows]


def assert_stored(server: Server) -> None:
    """TOGGLES are on the pages of the flags, and the application is listed."""
    assert server.usage("rollout") == (2, 1)
    assert server.usage("color") == (3, 0)
    status, raw = server.request(
        "GET", "/api/admin/client-metrics/features/color/raw?hoursBack=1", secret=ADMIN_TOKEN
    )
    assert status == 200
    assert {"red": 3} in [row.get("variants") for row in raw["data"]]
    applications = server.admin("GET", "/api/admin/metrics/applications")["applications"]
    assert [application["appName"] for application in applications] == ["app"]
    assert server.admin("GET", f"{PROJECT}/features/rollout")["lastSeenAt"]
