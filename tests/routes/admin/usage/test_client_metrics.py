"""How often a flag was evaluated, in the admin API."""

from __future__ import annotations

from datetime import timedelta

from sigservice.clock import format_iso
from tests.conftest import ADMIN
from tests.routes.sdk import CLIENT, FRONTEND, PRODUCTION

PATH = "/api/admin/client-metrics/features"


def report(sdk, at, headers=CLIENT, app="shop", **counts):
    path = "/api/frontend/client/metrics" if headers is FRONTEND else "/api/client/metrics"
    bucket = {"start": format_iso(at), "stop": format_iso(at), "toggles": {"one": counts}}
    sdk.web.post_json(path, {"appName": app, "bucket": bucket}, headers=headers)


def hour(at):
    return format_iso(at.replace(minute=0, second=0, microsecond=0))


def test_current_hour_is_summed_over_applications(sdk, clock):
    now = clock.now()
    report(sdk, now, yes=2, no=1)
    report(sdk, now, FRONTEND, app="browser", yes=1)
    report(sdk, now, PRODUCTION, no=5)
    report(sdk, now - timedelta(hours=3), app="old", yes=100)
    assert sdk.web.get(f"{PATH}/one", headers=ADMIN).json == {
        "version": 1,
        "maturity": "stable",
        "featureName": "one",
        "lastHourUsage": [
            {"environment": "development", "timestamp": hour(now), "yes": 3, "no": 1},
            {"environment": "production", "timestamp": hour(now), "yes": 0, "no": 5},
        ],
        "seenApplications": ["browser", "old", "shop"],
    }


def test_raw_has_every_hour_of_each_application_and_environment(sdk, clock):
    now = clock.now()
    report(sdk, now, yes=2, no=1, variants={"blue": 2})
    report(sdk, now - timedelta(hours=2), yes=7)
    report(sdk, now, PRODUCTION, no=5)
    answer = sdk.web.get(f"{PATH}/one/raw?hoursBack=3", headers=ADMIN).json
    assert (answer["version"], answer["maturity"]) == (1, "stable")
    start = {"featureName": "one", "appName": "shop"}
    hours = [hour(now - timedelta(hours=ago)) for ago in (2, 1, 0)]
    assert answer["data"] == [
        start | {"environment": environment, "timestamp": at, "yes": yes, "no": no} | more
        for environment, at, yes, no, more in (
            ("development", hours[0], 7, 0, {}),
            ("production", hours[0], 0, 0, {}),
            ("development", hours[1], 0, 0, {}),
            ("production", hours[1], 0, 0, {}),
            ("development", hours[2], 2, 1, {"variants": {"blue": 2}}),
            ("production", hours[2], 0, 5, {}),
        )
    ]
    for query, count in (("", 24), ("?hoursBack=1", 1), ("?hoursBack=48", 48)):
        data = sdk.web.get(f"{PATH}/one/raw{query}", headers=ADMIN).json["data"]
        assert len([entry for entry in data if entry["environment"] == "production"]) == count


def test_flag_without_reports_is_empty(sdk):
    for name in ("two", "unknown", "%27%20OR%201=1"):
        answer = sdk.web.get(f"{PATH}/{name}", headers=ADMIN).json
        assert (answer["lastHourUsage"], answer["seenApplications"]) == ([], [])
        assert sdk.web.get(f"{PATH}/{name}/raw", headers=ADMIN).json["data"] == []


def test_invalid_requests_are_rejected(sdk):
    for value in ("0", "49", "x", "-1", "1.5"):
        sdk.web.get(f"{PATH}/one/raw?hoursBack={value}", headers=ADMIN, status=400)
    for path in (f"{PATH}/one", f"{PATH}/one/raw"):
        sdk.web.get(path, status=401)
        sdk.web.get(path, headers=CLIENT, status=403)
