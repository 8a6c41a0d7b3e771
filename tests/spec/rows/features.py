"""Flags: caches, the legacy API, segment limits, the edge."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tests.server.process import Process
from tests.spec.kit import ADMIN_SECRET, Answer, Asked, Row
from tests.waiting import until

FEATURES = "/api/admin/projects/default/features"
SEGMENTS = "/api/admin/segments"
LEGACY = "/api/admin/features"


@contextmanager
def flag(asked: Asked, service: Process | None = None) -> Iterator[str]:
    """A flag that is on in development, archived and deleted at the end."""
    path = f"{FEATURES}/{asked.name}"
    asked.admin("POST", FEATURES, {"name": asked.name}, service=service)
    asked.admin("POST", f"{path}/environments/development/on", service=service)
    yield asked.name
    asked.admin("DELETE", path, service=service)
    asked.admin("DELETE", f"/api/admin/archive/{asked.name}", service=service)


# Caches ---------------------------------------------------------------------------------------


def poll(asked: Asked, token: str, service: Process | None = None, etag: str = "") -> Answer:
    headers = {"If_None_Match": etag} if etag else {}
    return asked.ask("GET", "/api/client/features", token=token, service=service, **headers)


def impression(answer: Answer, name: str) -> bool:
    (found,) = (row for row in answer.json["features"] if row["name"] == name)
    return bool(found["impressionData"])


def alter(asked: Asked, service: Process, name: str) -> None:
    """In the database, without a word to the service: only what it asks for anew shows it."""
    statement = "UPDATE features SET impression_data = NOT impression_data WHERE name = %s"
    asked.services.query(service, statement, name)


def kept(asked: Asked) -> None:
    """On: the same answer again. Off: the database is asked each time. A change by the API is in
    the next answer, and an unchanged ETag is 304, either way."""
    long = {"clientFeatureCaching": {"maxAge": 86_400_000}}
    service = asked.start(options=long) if asked.row.alone else asked.service
    with flag(asked, service) as name, asked.api_token("client", service=service) as token:

        def is_repeated() -> bool:
            first = impression(poll(asked, token, service), name)
            alter(asked, service, name)
            return impression(poll(asked, token, service), name) == first

        if asked.value:  # a busy machine may take longer than an answer is kept
            until(is_repeated, "the same answer again")
        else:
            assert not any(is_repeated() for _ in range(5))
        etag = poll(asked, token, service).headers["ETag"]
        unchanged = poll(asked, token, service, etag)
        assert (unchanged.status, unchanged.body) == (304, b"")
        for path, state in (("off", False), ("on", True)):
            asked.admin(
                "POST", f"{FEATURES}/{name}/environments/development/{path}", service=service
            )
            answer = poll(asked, token, service, etag)
            assert answer.status == 200
            assert [f["enabled"] for f in answer.json["features"] if f["name"] == name] == [state]
            etag = answer.headers["ETag"]
            assert poll(asked, token, service, etag).status == 304


def client_age(asked: Asked) -> None:
    with flag(asked) as name, asked.api_token("client") as token:

        def answered() -> bool:
            return impression(poll(asked, token), name)

        held_for(asked.value / 1000, answered, lambda: alter(asked, asked.service, name))


def held_for(seconds: float, answered: Callable[[], Any], alter: Callable[[], None]) -> None:
    """An answer is the same for as long, and no longer; true on a machine of any speed."""
    began, current, sent = time.monotonic(), answered(), [0.0]
    while len(sent) < 2:  # else no answer was the same: the machine is busy
        ended = time.monotonic()
        alter()
        sent = []

        def is_new(current: Any = current, ended: float = ended, sent: Any = sent) -> bool:
            sent.append(time.monotonic())
            is_same = answered() == current
            assert not is_same or sent[-1] - ended <= seconds
            return not is_same

        until(is_new, "a new answer")
        assert time.monotonic() - began > seconds
        began, current = sent[-1], not current


def frontend_refresh(asked: Asked) -> None:
    """What /api/frontend evaluates is made anew after the interval; without one, when something
    changes. A change counts at the next request, in another process too."""
    with flag(asked) as name, asked.api_token("frontend") as token:

        def is_on(service: Process | None = None) -> bool:
            answer = asked.ask("GET", "/api/frontend", token=token, service=service)
            return name in {row["name"] for row in answer.json["toggles"]}

        def hide() -> None:
            statement = "UPDATE feature_environments SET enabled = NOT enabled WHERE feature = %s"
            asked.services.query(asked.service, statement, name)

        if asked.value is not None:
            held_for(asked.value / 1000, is_on, hide)
        else:
            assert is_on()
            hide()
            assert all(is_on() for _ in range(3))
        if asked.way == "environment":
            with asked.services.started(asked.service.environ) as second:
                for state in ("off", "on", "off", "on"):
                    asked.admin("POST", f"{FEATURES}/{name}/environments/development/{state}")
                    assert is_on(second) == is_on() == (state == "on")


# The legacy API ---------------------------------------------------------------------------------


def legacy(asked: Asked) -> None:
    """The list, validation and tags are there in any case; 404 for the rest, when it is off."""
    with flag(asked) as name:
        one = f"{LEGACY}/{name}"
        tag = {"type": "simple", "value": "spec"}
        assert name in {row["name"] for row in asked.admin("GET", LEGACY)["features"]}
        asked.admin("POST", f"{LEGACY}/validate", {"name": f"{name}-2"})
        asked.admin("POST", f"{one}/tags", tag)
        assert asked.admin("GET", f"{one}/tags")["tags"] == [tag]
        asked.admin("DELETE", f"{one}/tags/simple/spec")
        other = f"{LEGACY}/{name}-2"
        body = {"name": f"{name}-2", "enabled": True, "strategies": [{"name": "default"}]}
        for method, path, sent in (
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
            if asked.value:
                refused = asked.ask(method, path, sent, token=ADMIN_SECRET)
                assert (refused.status, refused.json["name"]) == (404, "NotFoundError"), path
            else:
                asked.admin(method, path, sent)
        if not asked.value:
            asked.admin("DELETE", f"/api/admin/archive/{name}-2")


# Segments ---------------------------------------------------------------------------------------


def limits(asked: Asked) -> dict[str, int]:
    found: dict[str, int] = asked.admin("GET", "/api/admin/ui-config")["resourceLimits"]
    return found


def strategy_segments(asked: Asked) -> None:
    """So many on a strategy, and not one more: new, changed, or assigned."""
    most = asked.value
    assert limits(asked)["strategySegments"] == most
    ids = [
        asked.admin("POST", SEGMENTS, {"name": f"{asked.name}-{n}", "constraints": []})["id"]
        for n in range(most + 1)
    ]
    with flag(asked) as name:
        path = f"{FEATURES}/{name}/environments/development/strategies"
        made = asked.admin("POST", path, {"name": "default", "segments": ids[:most]})
        assert made["segments"] == ids[:most]
        whole = {"name": "default", "segments": ids}
        place = {"projectId": "default", "environmentId": "development", "strategyId": made["id"]}
        for method, at, body in (
            ("POST", path, whole),
            ("PUT", f"{path}/{made['id']}", whole),
            ("POST", f"{SEGMENTS}/strategies", place | {"segmentIds": ids}),
        ):
            refused = asked.ask(method, at, body, token=ADMIN_SECRET)
            assert refused.status == 400, at
            assert str(most) in refused.json["message"]
        assert asked.admin("GET", f"{path}/{made['id']}")["segments"] == ids[:most]
    for id in ids:
        asked.admin("DELETE", f"{SEGMENTS}/{id}")


def segment_values(asked: Asked) -> None:
    """So many in all constraints together, and not one more: new or changed."""
    most = asked.value
    assert limits(asked)["segmentValues"] == most

    def body(first: int, second: int) -> dict[str, Any]:
        return {
            "name": asked.name,
            "constraints": [
                {
                    "contextName": "userId",
                    "operator": "IN",
                    "values": [f"{n:0100}" for n in range(many)],
                }
                for many in (first, second)
            ],
        }

    half = most // 2
    refused = asked.ask("POST", SEGMENTS, body(half, most - half + 1), token=ADMIN_SECRET)
    assert refused.status == 400
    assert str(most) in refused.json["message"]
    id = asked.admin("POST", SEGMENTS, body(half, most - half))["id"]
    changed = asked.ask("PUT", f"{SEGMENTS}/{id}", body(half + 1, most - half), token=ADMIN_SECRET)
    assert changed.status == 400
    stored = asked.admin("GET", f"{SEGMENTS}/{id}")["constraints"]
    assert [len(constraint["values"]) for constraint in stored] == [half, most - half]
    asked.admin("DELETE", f"{SEGMENTS}/{id}")


# The edge ---------------------------------------------------------------------------------------


def edge_bulk_metrics(asked: Asked) -> None:
    """404 for everybody while it is off; on, a token is needed and its numbers are kept."""
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    of = {"appName": "relayed", "environment": "development"}
    body = {
        "applications": [of | {"instanceId": "i", "started": now, "interval": 10}],
        "metrics": [of | {"featureName": asked.name, "timestamp": now, "yes": 3, "no": 1}],
    }
    with asked.api_token("client") as token:
        for credential in (token, ""):
            off = asked.ask("POST", "/edge/metrics", body, token=credential)
            assert (off.status, off.json["status"]) == (404, "disabled")
    service = asked.start({"SERVICE_EXPERIMENTAL_EDGE_BULK_METRICS": "true"})
    with flag(asked, service) as name, asked.api_token("client", service=service) as token:
        assert asked.ask("POST", "/edge/metrics", body, service=service).status == 401
        on = asked.ask("POST", "/edge/metrics", body, token=token, service=service)
        assert (on.status, on.body) == (202, b"")
        path = f"/api/admin/client-metrics/features/{name}"
        (usage,) = asked.admin("GET", path, service=service)["lastHourUsage"]
        assert (usage["yes"], usage["no"]) == (3, 1)
        wrong = asked.ask("POST", "/edge/metrics", {}, token=token, service=service)
        assert wrong.status == 400


ROWS = (
    Row("clientFeatureCaching.enabled", kept, default=True),
    Row(
        "clientFeatureCaching.enabled",
        kept,
        "CLIENT_FEATURE_CACHING_ENABLED",
        text="false",
        value=False,
        code=True,
        alone=True,
    ),
    Row(
        "clientFeatureCaching.maxAge",
        client_age,
        "CLIENT_FEATURE_CACHING_MAXAGE",
        600,
        "150",
        150,
        code=300,
    ),
    Row(
        "frontendApi.refreshIntervalInMs",
        frontend_refresh,
        "FRONTEND_API_REFRESH_INTERVAL_MS",
        None,
        "250",
        250,
        code=400,
    ),
    Row(
        "disableLegacyFeaturesApi",
        legacy,
        "DISABLE_LEGACY_FEATURES_API",
        False,
        "true",
        True,
        code=False,
    ),
    Row(
        "strategySegmentsLimit",
        strategy_segments,
        "SERVICE_STRATEGY_SEGMENTS_LIMIT",
        5,
        "2",
        2,
        code=7,
    ),
    Row(
        "segmentValuesLimit",
        segment_values,
        "SERVICE_SEGMENT_VALUES_LIMIT",
        1000,
        "20",
        20,
        code=30,
    ),
    Row("versioning: segment values 1000 by default", segment_values, default=1000),
    Row(
        "versioning: bulk metrics of the edge are off, SERVICE_EXPERIMENTAL_EDGE_BULK_METRICS on",
        edge_bulk_metrics,
    ),
)
