"""What a user interface asks first, and the origins that browsers may come from."""

from __future__ import annotations

import webtest

from sigservice.flags.revision_cache import RevisionCache
from tests.conftest import ADMIN

PATH = "/api/admin/ui-config"


def origins(web):
    return web.get(PATH, headers=ADMIN).json["frontendApiOrigins"]


def set_origins(web, wanted, status=204):
    return web.post_json(
        f"{PATH}/cors", {"frontendApiOrigins": wanted}, headers=ADMIN, status=status
    )


def test_it_tells_versions_limits_and_texts(make_service):
    options = {
        "ui": {"environment": "staging", "slogan": "Ship it"},
        "signals": {"endpointsLimit": 7},
        "segmentValuesLimit": 12,
        "email": {"host": "mail.example.org"},
        "server": {"baseUriPath": "/flags", "unleashUrl": "https://flags.example.org/flags"},
    }
    web = webtest.TestApp(make_service(options).app)
    shown = web.get(f"/flags{PATH}", headers=ADMIN).json
    assert (shown["environment"], shown["slogan"]) == ("staging", "Ship it")
    limits = shown["resourceLimits"]
    assert (limits["signalEndpoints"], limits["segmentValues"]) == (7, 12)
    assert (limits["environments"], limits["projects"], limits["strategySegments"]) == (50, 500, 5)
    assert (shown["baseUriPath"], shown["emailEnabled"]) == ("/flags", True)
    assert shown["unleashUrl"] == "https://flags.example.org/flags"
    version = shown["versionInfo"]
    assert version["current"] == {"oss": shown["version"], "enterprise": ""}
    assert (version["latest"], version["isLatest"], len(version["instanceId"])) == ({}, True, 36)


def test_what_nobody_set(web):
    shown = web.get(PATH, headers=ADMIN).json
    assert (shown["environment"], shown["slogan"], shown["emailEnabled"]) == ("", "", False)
    assert shown["frontendApiOrigins"] == ["*"]


def test_origins_are_kept_and_told_to_all_processes(web, service):
    state = RevisionCache(service.context.database, service.context.clock)
    before = state.read_revisions().topics.get("tokens", 0)
    wanted = ["https://a.example", "http://localhost:3000", "https://[::1]:8443", "*"]
    set_origins(web, [*wanted, " https://A.example "])
    assert origins(web) == wanted
    changed = state.read_revisions().topics["tokens"]
    assert changed > before
    set_origins(web, wanted)
    assert state.read_revisions().topics["tokens"] == changed
    (event,) = web.get("/api/admin/events", {"type": "setting-updated"}, headers=ADMIN).json[
        "events"
    ]
    assert event["data"] == {"frontendApiOrigins": wanted}
    assert event["preData"] == {"frontendApiOrigins": ["*"]}
    set_origins(web, [])
    assert origins(web) == ["*"]


NO_ORIGINS = (
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


def test_what_is_no_origin_is_400(web):
    for wrong in NO_ORIGINS:
        answer = set_origins(web, ["*", wrong], status=400)
        assert answer.json["details"][0]["path"] == "frontendApiOrigins[1]", wrong
    assert origins(web) == ["*"]


def test_bad_bodies_are_400(web):
    for body in ({}, {"frontendApiOrigins": "*"}, {"frontendApiOrigins": [1]}, []):
        web.post_json(f"{PATH}/cors", body, headers=ADMIN, status=400)


def test_admins_set_origins_and_everybody_reads(cast):
    person = cast.signed_in("vera")
    person.get(PATH, status=200)
    body, csrf = {"frontendApiOrigins": []}, {"X-CSRF-Token": person.csrf}
    person.post_json(f"{PATH}/cors", body, headers=csrf, status=403)
