"""Registration of applications: what is stored and what is rejected."""

from __future__ import annotations

import json

from tests.conftest import ADMIN
from tests.routes.sdk import CLIENT, FRONTEND, PRODUCTION

PATH = "/api/client/register"
FRONTEND_PATHS = ("/api/frontend/client/register", "/api/frontend/register")
BODY = {
    "appName": "shop",
    "instanceId": "a1",
    "sdkVersion": "unleash-python-sdk:6.9.1",
    "strategies": ["default", "custom"],
    "started": "2026-11-21T10:00:00.123456789Z",
    "interval": 15,
    "environment": "production",
    "platformName": "CPython",
}


def test_application_and_instance_are_stored_in_the_environment_of_the_token(sdk):
    answer = sdk.web.post_json(PATH, BODY, headers=CLIENT, status=202)
    assert answer.body == b""
    sdk.web.post_json(PATH, BODY | {"started": 1690449593000, "interval": 0}, headers=PRODUCTION)
    version = "unleash-python-sdk:6.9.1"
    assert sdk.instances() == {
        ("shop", "a1", "development", version, "backend"),
        ("shop", "a1", "production", version, "backend"),
    }
    ((strategies,),) = sdk.rows("SELECT strategies::text FROM client_applications")
    assert json.loads(strategies) == ["default", "custom"]


def test_second_registration_updates_the_instance(sdk, clock):
    sdk.web.post_json(PATH, BODY, headers=CLIENT)
    old = "now() - interval '1 day'"
    sdk.rows(f"UPDATE client_applications SET seen_at = {old}")
    sdk.rows(f"UPDATE client_instances SET last_seen = {old}")
    clock.advance(10)  # the rows of the first one are no longer recent
    less = {key: value for key, value in BODY.items() if key != "sdkVersion"} | {"strategies": []}
    sdk.web.post_json(PATH, less, headers=CLIENT)
    ((was_seen, strategies),) = sdk.rows(
        "SELECT seen_at > now() - interval '1 minute', strategies::text FROM client_applications"
    )
    assert (was_seen, json.loads(strategies)) == (True, ["default", "custom"])
    assert sdk.rows(
        "SELECT sdk_version, last_seen > now() - interval '1 minute' FROM client_instances"
    ) == [("unleash-python-sdk:6.9.1", True)]
    sdk.web.post_json(PATH, BODY | {"strategies": ["other"]}, headers=CLIENT)
    assert sdk.rows("SELECT strategies::text FROM client_applications") == [('["other"]',)]


def test_instance_without_a_name_is_the_default(sdk):
    for name in ("", None):
        sdk.web.post_json(PATH, BODY | {"instanceId": name}, headers=CLIENT)
    assert {row[1] for row in sdk.instances()} == {"default"}


def test_invalid_registrations_are_rejected(sdk):
    bodies = [
        {key: value for key, value in BODY.items() if key != name}
        for name in ("appName", "interval", "started", "strategies")
    ]
    bodies += [
        BODY | more
        for more in (
            {"appName": ""}, {"appName": None}, {"appName": "x" * 256}, {"interval": -1},
            {"interval": "x"}, {"started": "now"}, {"started": None}, {"strategies": "default"},
            {"strategies": [1]}, {"instanceId": "x" * 256}, {"sdkVersion": "x" * 256},
        )
    ]  # fmt: skip
    for body in [*bodies, [], "x"]:
        answer = sdk.web.post_json(PATH, body, headers=CLIENT, expect_errors=True)
        assert answer.status_int == 400, body
        assert answer.json["name"] == "BadDataError"
    sdk.web.post(PATH, "{", headers=CLIENT, content_type="application/json", status=400)
    sdk.web.post(PATH, json.dumps(BODY), headers=CLIENT, content_type="text/plain", status=415)
    sdk.web.post_json(PATH, BODY | {"x": "y" * 102_400}, headers=CLIENT, status=413)
    sdk.web.post_json(PATH, BODY, status=401)
    sdk.web.post_json(PATH, BODY, headers=FRONTEND, status=403)
    sdk.web.post_json(PATH, BODY, headers=ADMIN, status=403)
    assert sdk.rows("SELECT 1 FROM client_applications") == []


def test_frontend_registration_stores_nothing(sdk):
    for path in FRONTEND_PATHS:
        answer = sdk.web.post_json(path, BODY, headers=FRONTEND, status=200)
        assert (answer.text, answer.content_type) == ("OK", "text/plain")
        sdk.web.post_json(path, {}, headers=FRONTEND, status=400)
        sdk.web.post_json(path, BODY, headers=CLIENT, status=403)
        sdk.web.post_json(path, BODY, status=401)
    assert sdk.rows("SELECT 1 FROM client_applications") == []
