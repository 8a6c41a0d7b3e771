"""Flags: caches, the legacy API, segment limits, the edge."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tests.server.process import Process
from tests.spec.kit import ADMIN_SECRET, Answer, Case, Row
from tests.waiting import until

FEATURES = "/api/admin/projects/default/features"
SEGMENTS = "/api/admin/segments"
LEGACY = "/api/admin/features"


@contextmanager
def create_flag(case: Case, service: Process | None = None) -> Iterator[str]:
    """A flag that is on in development, archived and deleted at the end."""
    path = f"{FEATURES}/{case.name}"
    case.admin("POST", FEATURES, {"name": case.name}, service=service)
    case.admin("POST", f"{path}/environments/development/on", service=service)
    yield case.name
    case.admin("DELETE", path, service=service)
    case.admin("DELETE", f"/api/admin/archive/{case.name}", service=service)


# Caches ---------------------------------------------------------------------------------------


def poll_features(case: Case, token: str, service: Process | None = None, etag: str = "") -> Answer:
    headers = {"If_None_Match": etag} if etag else {}
    return case.request("GET", "/api/client/features", token=token, service=service, **headers)


def read_impression(answer: Answer, name: str) -> bool:
    (feature,) = (row for row in answer.json["features"] if row["name"] == name)
    return bool(feature["impressionData"])


def change_in_database(case: Case, service: Process, name: str) -> None:
    """Changes the database directly, so that the service doesn't notice."""
    statement = "UPDATE features SET impression_data = NOT impression_data WHERE name = %s"
    case.services.query(service, statement, name)


def check_client_cache(case: Case) -> None:
    """On: the same answer again. Off: the database is asked each time. A change by the API is in
    the next answer, and an unchanged ETag is 304, either way."""
    long = {"clientFeatureCaching": {"maxAge": 86_400_000}}
    service = case.start(options=long) if case.row.alone else case.service
    with (
        create_flag(case, service) as name,
        case.create_api_token("client", service=service) as token,
    ):

        def is_repeated() -> bool:
            first = read_impression(poll_features(case, token, service), name)
            change_in_database(case, service, name)
            return read_impression(poll_features(case, token, service), name) == first

        if case.value:  # a busy machine may take longer than an answer is kept
            until(is_repeated, "the same answer again")
        else:
            assert not any(is_repeated() for _ in range(5))
        etag = poll_features(case, token, service).headers["ETag"]
        unchanged = poll_features(case, token, service, etag)
        assert (unchanged.status, unchanged.body) == (304, b"")
        for path, state in (("off", False), ("on", True)):
            case.admin(
                "POST", f"{FEATURES}/{name}/environments/development/{path}", service=service
            )
            answer = poll_features(case, token, service, etag)
            assert answer.status == 200
            assert [f["enabled"] for f in answer.json["features"] if f["name"] == name] == [state]
            etag = answer.headers["ETag"]
            assert poll_features(case, token, service, etag).status == 304


def check_client_cache_age(case: Case) -> None:
    with create_flag(case) as name, case.create_api_token("client") as token:

        def fetch() -> bool:
            return read_impression(poll_features(case, token), name)

        check_maximum_age(
            case.value / 1000, fetch, lambda: change_in_database(case, case.service, name)
        )


def check_maximum_age(
    seconds: float, fetch: Callable[[], Any], change_in_database: Callable[[], None]
) -> None:
    """An answer is the same for as long, and no longer; true on a machine of any speed."""
    started_at, current, requested_at = time.monotonic(), fetch(), [0.0]
    while len(requested_at) < 2:  # else no answer was the same: the machine is busy
        changed_at = time.monotonic()
        change_in_database()
        requested_at = []

        def is_new(
            current: Any = current, changed_at: float = changed_at, requested_at: Any = requested_at
        ) -> bool:
            requested_at.append(time.monotonic())
            is_same = fetch() == current
            assert not is_same or requested_at[-1] - changed_at <= seconds
            return not is_same

        until(is_new, "a new answer")
        assert time.monotonic() - started_at > seconds
        started_at, current = requested_at[-1], not current


def check_frontend_refresh(case: Case) -> None:
    """The frontend API compiles flags after the interval. A change takes effect at the next
    request, in another process too."""
    with create_flag(case) as name, case.create_api_token("frontend") as token:

        def is_on(service: Process | None = None) -> bool:
            answer = case.request("GET", "/api/frontend", token=token, service=service)
            return name in {row["name"] for row in answer.json["toggles"]}

        def hide() -> None:
            statement = "UPDATE feature_environments SET enabled = NOT enabled WHERE feature = %s"
            case.services.query(case.service, statement, name)

        check_maximum_age(case.value / 1000, is_on, hide)
        with case.services.run_service(case.service.environ) as second:
            for state in ("off", "on", "off", "on"):
                case.admin("POST", f"{FEATURES}/{name}/environments/development/{state}")
                assert is_on(second) == is_on() == (state == "on")


# The legacy API ---------------------------------------------------------------------------------


def check_legacy_api(case: Case) -> None:
    """The list, validation and tags are there; the rest is 404."""
    with create_flag(case) as name:
        one = f"{LEGACY}/{name}"
        tag = {"type": "simple", "value": "spec"}
        assert name in {row["name"] for row in case.admin("GET", LEGACY)["features"]}
        case.admin("POST", f"{LEGACY}/validate", {"name": f"{name}-2"})
        case.admin("POST", f"{one}/tags", tag)
        assert case.admin("GET", f"{one}/tags")["tags"] == [tag]
        case.admin("DELETE", f"{one}/tags/simple/spec")
        other = f"{LEGACY}/{name}-2"
        body = {"name": f"{name}-2", "enabled": True, "strategies": [{"name": "default"}]}
        for method, path, payload in (
            ("POST", LEGACY, body),
            ("GET", other, None),
            ("PUT", other, body),
            ("POST", f"{other}/toggle", None),
            ("POST", f"{other}/toggle/on", None),
            ("POST", f"{other}/toggle/off", None),
            ("POST", f"{other}/stale/on", None),
            ("POST", f"{other}/stale/off", None),
            ("DELETE", other, None),
        ):
            rejection = case.request(method, path, payload, token=ADMIN_SECRET)
            assert (rejection.status, rejection.json["name"]) == (404, "NotFoundError"), path


# Segments ---------------------------------------------------------------------------------------


def fetch_limits(case: Case) -> dict[str, int]:
    limits: dict[str, int] = case.admin("GET", "/api/admin/ui-config")["resourceLimits"]
    return limits


def check_strategy_segments(case: Case) -> None:
    """So many on a strategy, and not one more: new, changed, or assigned."""
    maximum = case.value
    assert fetch_limits(case)["strategySegments"] == maximum
    ids = [
        case.admin("POST", SEGMENTS, {"name": f"{case.name}-{n}", "constraints": []})["id"]
        for n in range(maximum + 1)
    ]
    with create_flag(case) as name:
        path = f"{FEATURES}/{name}/environments/development/strategies"
        strategy = case.admin("POST", path, {"name": "default", "segments": ids[:maximum]})
        assert strategy["segments"] == ids[:maximum]
        whole = {"name": "default", "segments": ids}
        assignment = {
            "projectId": "default",
            "environmentId": "development",
            "strategyId": strategy["id"],
        }
        for method, at, body in (
            ("POST", path, whole),
            ("PUT", f"{path}/{strategy['id']}", whole),
            ("POST", f"{SEGMENTS}/strategies", assignment | {"segmentIds": ids}),
        ):
            rejection = case.request(method, at, body, token=ADMIN_SECRET)
            assert rejection.status == 400, at
            assert str(maximum) in rejection.json["message"]
        assert case.admin("GET", f"{path}/{strategy['id']}")["segments"] == ids[:maximum]
    for id in ids:
        case.admin("DELETE", f"{SEGMENTS}/{id}")


def check_segment_values(case: Case) -> None:
    """So many in all constraints together, and not one more: new or changed."""
    maximum = case.value
    assert fetch_limits(case)["segmentValues"] == maximum

    def body(first: int, second: int) -> dict[str, Any]:
        return {
            "name": case.name,
            "constraints": [
                {
                    "contextName": "userId",
                    "operator": "IN",
                    "values": [f"{n:0100}" for n in range(count)],
                }
                for count in (first, second)
            ],
        }

    half = maximum // 2
    rejection = case.request("POST", SEGMENTS, body(half, maximum - half + 1), token=ADMIN_SECRET)
    assert rejection.status == 400
    assert f"{maximum:,}" in rejection.json["message"]
    id = case.admin("POST", SEGMENTS, body(half, maximum - half))["id"]
    rejected_change = case.request(
        "PUT", f"{SEGMENTS}/{id}", body(half + 1, maximum - half), token=ADMIN_SECRET
    )
    assert rejected_change.status == 400
    constraints = case.admin("GET", f"{SEGMENTS}/{id}")["constraints"]
    assert [len(constraint["values"]) for constraint in constraints] == [half, maximum - half]
    case.admin("DELETE", f"{SEGMENTS}/{id}")


# The edge ---------------------------------------------------------------------------------------


def check_edge_bulk_metrics(case: Case) -> None:
    """404 while it is disabled; enabled, it needs a token and stores the counts."""
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    of = {"appName": "relayed", "environment": "development"}
    body = {
        "applications": [of | {"instanceId": "i", "started": now, "interval": 10}],
        "metrics": [of | {"featureName": case.name, "timestamp": now, "yes": 3, "no": 1}],
    }
    with case.create_api_token("client") as token:
        for credential in (token, ""):
            off = case.request("POST", "/edge/metrics", body, token=credential)
            assert (off.status, off.json["status"]) == (404, "disabled")
    service = case.start({"SERVICE_EXPERIMENTAL_EDGE_BULK_METRICS": "true"})
    with (
        create_flag(case, service) as name,
        case.create_api_token("client", service=service) as token,
    ):
        assert case.request("POST", "/edge/metrics", body, service=service).status == 401
        on = case.request("POST", "/edge/metrics", body, token=token, service=service)
        assert (on.status, on.body) == (202, b"")
        path = f"/api/admin/client-metrics/features/{name}"
        (usage,) = case.admin("GET", path, service=service)["lastHourUsage"]
        assert (usage["yes"], usage["no"]) == (3, 1)
        invalid = case.request("POST", "/edge/metrics", {}, token=token, service=service)
        assert invalid.status == 400


ROWS = (
    Row("clientFeatureCaching.enabled", check_client_cache, value=True),
    Row(
        "clientFeatureCaching.enabled",
        check_client_cache,
        "CLIENT_FEATURE_CACHING_ENABLED",
        "false",
        value=False,
        alone=True,
    ),
    Row(
        "clientFeatureCaching.maxAge",
        check_client_cache_age,
        "CLIENT_FEATURE_CACHING_MAXAGE",
        "150",
        150,
    ),
    Row(
        "frontendApi.refreshIntervalInMs",
        check_frontend_refresh,
        "FRONTEND_API_REFRESH_INTERVAL_MS",
        "250",
        250,
    ),
    Row("disableLegacyFeaturesApi", check_legacy_api, "DISABLE_LEGACY_FEATURES_API", "true"),
    Row(
        "strategySegmentsLimit", check_strategy_segments, "SERVICE_STRATEGY_SEGMENTS_LIMIT", "2", 2
    ),
    Row("segmentValuesLimit", check_segment_values, "SERVICE_SEGMENT_VALUES_LIMIT", "20", 20),
    Row("versioning: segment values 1000 by default", check_segment_values, value=1000),
    Row(
        "versioning: bulk metrics of the edge are off, SERVICE_EXPERIMENTAL_EDGE_BULK_METRICS on",
        check_edge_bulk_metrics,
    ),
)
