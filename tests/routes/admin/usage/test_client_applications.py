"""Applications and their instances in the admin API."""

from __future__ import annotations

from tests.conftest import ADMIN, Cast
from tests.routes.sdk import CLIENT, FRONTEND, PRODUCTION

PATH = "/api/admin/metrics/applications"
INSTANCES = "/api/admin/metrics/instances"


def register(sdk, app="shop", instance="a", headers=CLIENT, **more):
    body = {"appName": app, "instanceId": instance, "started": 0, "interval": 0}
    body |= {"strategies": ["default"], "sdkVersion": "py:1"} | more
    sdk.web.post_json("/api/client/register", body, headers=headers)


def report(sdk, app="shop", headers=CLIENT, **toggles):
    path = "/api/frontend/client/metrics" if headers is FRONTEND else "/api/client/metrics"
    bucket = {"start": 0, "stop": 0, "toggles": toggles}
    headers = headers | {"Unleash-SDK": "js:2"} if headers is FRONTEND else headers
    sdk.web.post_json(path, {"appName": app, "bucket": bucket}, headers=headers)


def get(sdk, path, status=200):
    return sdk.web.get(path, headers=ADMIN, status=status).json


def test_applications_are_listed_by_name_with_their_usage(sdk):
    assert get(sdk, PATH) == {"applications": [], "total": 0}
    register(sdk, "shop")
    register(sdk, "shop", headers=PRODUCTION)
    register(sdk, "100%_office")
    report(sdk, "shop", one={"yes": 1}, two={"no": 1})
    body = get(sdk, PATH)
    assert body["total"] == 2
    assert body["applications"] == [
        {
            "appName": "100%_office",
            "description": "",
            "strategies": ["default"],
            "usage": [{"project": "*", "environments": ["development"]}],
        },
        {
            "appName": "shop",
            "description": "",
            "strategies": ["default"],
            "usage": [{"project": "default", "environments": ["development"]}],
        },
    ]
    names = {"SHO": ["shop"], "0%_o": ["100%_office"], "%o": [], "_": ["100%_office"], "\\": []}
    for text, expected in names.items():
        body = sdk.web.get(PATH, {"query": text}, headers=ADMIN).json
        assert [row["appName"] for row in body["applications"]] == expected, text
        assert body["total"] == len(expected)
    page = get(sdk, f"{PATH}?limit=1&offset=1")
    assert ([row["appName"] for row in page["applications"]], page["total"]) == (["shop"], 2)
    get(sdk, f"{PATH}?limit=x", 400)


def test_application_has_an_overview_and_instances(sdk):
    register(sdk, strategies=["default", "mine"])
    register(sdk, instance="b", sdkVersion="go:3")
    register(sdk, instance="c", headers=PRODUCTION, sdkVersion=None, strategies=["default", "mine"])
    report(sdk, headers=FRONTEND, one={"yes": 1})
    assert get(sdk, f"{PATH}/shop")["usage"] == [
        {"project": "default", "environments": ["development"]}
    ]
    overview = get(sdk, f"{PATH}/shop/overview")
    times = [environment.pop("lastSeen") for environment in overview["environments"]]
    assert all(text.endswith("Z") for text in times)
    issues = {"missingFeatures": [], "outdatedSdks": []}
    assert overview == {
        "projects": ["default"],
        "featureCount": 1,
        "environments": [
            {
                "name": "production",
                "instanceCount": 1,
                "sdks": [],
                "frontendSdks": [],
                "backendSdks": [],
                "issues": issues,
            },
            {
                "name": "development",
                "instanceCount": 3,
                "sdks": ["go:3", "js:2", "py:1"],
                "frontendSdks": ["js:2"],
                "backendSdks": ["go:3", "py:1"],
                "issues": issues,
            },
        ],
        "issues": {"missingStrategies": ["mine"]},
    }
    instances = get(sdk, f"{INSTANCES}/shop/environment/development")["instances"]
    assert {row["instanceId"]: row["sdkVersion"] for row in instances} == {
        "a": "py:1",
        "b": "go:3",
        "default": "js:2",
    }
    assert set(instances[0]) == {"instanceId", "sdkVersion", "clientIp", "lastSeen"}
    assert get(sdk, f"{INSTANCES}/nobody/environment/development") == {"instances": []}
    for path in (f"{PATH}/nobody", f"{PATH}/nobody/overview"):
        assert get(sdk, path, 404)["name"] == "NotFoundError"


def test_only_admins_read_addresses_of_instances(sdk):
    body = {"appName": "shop", "instanceId": "a", "started": 0, "interval": 0, "strategies": []}
    here = {"REMOTE_ADDR": "192.0.2.7"}
    sdk.web.post_json("/api/client/register", body, headers=CLIENT, extra_environ=here)
    path = f"{INSTANCES}/shop/environment/development"
    assert [row["clientIp"] for row in get(sdk, path)["instances"]] == ["192.0.2.7"]
    vera = Cast(sdk.service).signed_in("vera")
    assert [row["clientIp"] for row in vera.get(path).json["instances"]] == [None]


def test_name_may_be_any_text(sdk):
    for name, path in (("a/b", "a%2Fb"), ("é ü", "%C3%A9%20%C3%BC"), ("%s", "%25s")):
        register(sdk, name)
        assert get(sdk, f"{PATH}/{path}")["appName"] == name
        assert len(get(sdk, f"{PATH}/{path}/overview")["environments"]) == 1
        assert len(get(sdk, f"{INSTANCES}/{path}/environment/development")["instances"]) == 1


def test_delete_removes_the_instances_and_records_an_event(sdk):
    register(sdk, "shop")
    register(sdk, "office")
    for _ in range(2):
        sdk.web.delete(f"{PATH}/shop", headers=ADMIN, status=200)
    assert {row[0] for row in sdk.instances()} == {"office"}
    get(sdk, f"{PATH}/shop", 404)
    events = get(sdk, "/api/admin/events?type=application-deleted")["events"]
    assert [(event["preData"], event["createdBy"]) for event in events] == [
        ({"appName": "shop"}, "admin")
    ]


def test_viewers_read_but_do_not_delete(sdk):
    register(sdk)
    vera = Cast(sdk.service).signed_in("vera")
    for path in (PATH, f"{PATH}/shop", f"{PATH}/shop/overview",
                 f"{INSTANCES}/shop/environment/development"):  # fmt: skip
        vera.get(path, status=200)
        sdk.web.get(path, status=401)
        sdk.web.get(path, headers=CLIENT, status=403)
    vera.delete(f"{PATH}/shop", headers={"X-CSRF-Token": vera.csrf}, status=403)
    assert get(sdk, f"{PATH}/shop")["appName"] == "shop"
