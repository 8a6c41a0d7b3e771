"""The configuration for a user interface, and the CORS origins."""

from __future__ import annotations

import webtest

from tests.conftest import ADMIN

PATH = "/api/admin/ui-config"


def origins(web):
    return web.get(PATH, headers=ADMIN).json["frontendApiOrigins"]


def set_origins(web, values, status=204):
    return web.post_json(
        f"{PATH}/cors", {"frontendApiOrigins": values}, headers=ADMIN, status=status
    )


def test_the_config_has_versions_limits_and_texts(make_service):
    options = {
        "ui": {"environment": "staging", "slogan": "Ship it"},
        "signals": {"endpointsLimit": 7},
        "segmentValuesLimit": 12,
        "email": {"host": "mail.example.org"},
        "server": {"baseUriPath": "/flags", "unleashUrl": "https://flags.example.org/flags"},
    }
    web = webtest.TestApp(make_service(options).app)
    config = web.get(f"/flags{PATH}", headers=ADMIN).json
    assert (config["environment"], config["slogan"]) == ("staging", "Ship it")
    limits = config["resourceLimits"]
    assert (limits["signalEndpoints"], limits["segmentValues"]) == (7, 12)
    assert (limits["environments"], limits["projects"], limits["strategySegments"]) == (50, 500, 5)
    assert limits["releaseTemplates"] == 0
    assert (config["baseUriPath"], config["emailEnabled"]) == ("/flags", True)
    assert config["unleashUrl"] == "https://flags.example.org/flags"
    version = config["versionInfo"]
    assert version["current"] == {"oss": config["version"], "enterprise": ""}
    assert (version["latest"], version["isLatest"], len(version["instanceId"])) == ({}, True, 36)


def test_the_config_has_defaults(web):
    config = web.get(PATH, headers=ADMIN).json
    assert (config["environment"], config["slogan"], config["emailEnabled"]) == ("", "", False)
    assert config["frontendApiOrigins"] == ["*"]


def test_origins_are_stored_and_bump_the_revision(web, service):
    cache = service.context.revision_cache
    before = cache.read_revisions().topics.get("tokens", 0)
    values = ["https://a.example", "http://localhost:3000", "https://[::1]:8443", "*"]
    set_origins(web, [*values, " https://A.example "])
    assert origins(web) == values
    changed = cache.read_revisions().topics["tokens"]
    assert changed > before
    set_origins(web, values)
    assert cache.read_revisions().topics["tokens"] == changed
    (event,) = web.get("/api/admin/events", {"type": "setting-updated"}, headers=ADMIN).json[
        "events"
    ]
    assert event["data"] == {"frontendApiOrigins": values}
    assert event["preData"] == {"frontendApiOrigins": ["*"]}
    set_origins(web, [])
    assert origins(web) == ["*"]


INVALID_ORIGINS = (
    "a.example",
    "https://",
    "https://a.example/",
    "https://a.example/x",
    "https://a.example?x",
    "https://u@a.example",
    "https://*.example",
    "https://a.example:",
    "https://a.example:123456",
    "https://a..example",
    "https://-a.example",
    "ftp://a.example",
    "null",
    "",
    "https://a.example\nx",
    "https://" + "a" * 300,
)


def test_invalid_origins_are_rejected(web):
    for value in INVALID_ORIGINS:
        answer = set_origins(web, ["*", value], status=400)
        assert answer.json["details"][0]["path"] == "frontendApiOrigins[1]", value
    assert origins(web) == ["*"]


def test_invalid_bodies_are_rejected(web):
    for body in ({}, {"frontendApiOrigins": "*"}, {"frontendApiOrigins": [1]}, []):
        web.post_json(f"{PATH}/cors", body, headers=ADMIN, status=400)


def test_only_admins_set_origins(cast):
    user = cast.signed_in("vera")
    user.get(PATH, status=200)
    body, csrf = {"frontendApiOrigins": []}, {"X-CSRF-Token": user.csrf}
    user.post_json(f"{PATH}/cors", body, headers=csrf, status=403)
