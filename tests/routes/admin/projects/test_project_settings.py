"""Settings of a project: what is stored and shown, and the pattern for names of flags."""

from __future__ import annotations

import time

from tests.routes.kit import FEATURES, PROJECT

PATH = f"{PROJECT}/settings"
NAMING = {"pattern": "(web|app)-[a-z]+", "example": "web-shop", "description": "Team and topic."}
LINKS = [{"title": "Issue", "urlTemplate": "https://issues.example/{{project}}/{{feature}}"}]
NONE = {"pattern": None, "example": None, "description": None}


def settings(admin):
    project = admin.get(PROJECT)
    return {name: project[name] for name in ("mode", "featureNaming", "linkTemplates")}


def test_settings_are_stored_and_shown(admin):
    assert settings(admin) == {"mode": "open", "featureNaming": NONE, "linkTemplates": []}
    body = {"mode": "private", "featureNaming": NAMING, "linkTemplates": LINKS}
    assert admin.put(PATH, body) is None
    assert settings(admin) == body
    overview = admin.get(f"{PROJECT}/overview")
    assert (overview["featureNaming"], overview["linkTemplates"]) == (NAMING, LINKS)
    (project,) = admin.get("/api/admin/projects")["projects"]
    assert project["mode"] == "private"
    (event,) = admin.events(1)
    assert (event["type"], event["project"]) == ("project-updated", "default")
    assert body.items() <= event["data"].items()
    assert event["preData"]["mode"] == "open"
    assert event["preData"]["featureNaming"] == NONE


def test_absent_members_stay_but_link_templates_become_empty(admin):
    admin.put(PATH, {"mode": "protected", "featureNaming": NAMING, "linkTemplates": LINKS})
    admin.put(PATH, {})
    expected = {"mode": "protected", "featureNaming": NAMING, "linkTemplates": []}
    assert settings(admin) == expected
    before = admin.read_state()
    admin.put(PATH, {"unknown": 1})
    assert admin.read_state() == before
    for nothing in (None, {"pattern": ""}, NONE):
        admin.put(PATH, {"featureNaming": NAMING})
        admin.put(PATH, {"featureNaming": nothing})
        assert settings(admin)["featureNaming"] == NONE


def test_settings_are_no_change_of_flags(admin):
    revision = admin.revision()
    admin.put(PATH, {"mode": "private", "featureNaming": NAMING})
    assert admin.revision() == revision


def test_names_of_new_flags_match_the_pattern(admin):
    admin.flag("old")
    admin.put(PATH, {"featureNaming": NAMING})
    before = admin.read_state()
    for method, path, body in (
        ("POST", FEATURES, {"name": "web-shop2"}),
        ("POST", FEATURES, {"name": "my-web-shop"}),
        ("POST", "/api/admin/features", {"name": "shop"}),
        ("POST", f"{FEATURES}/old/clone", {"name": "shop"}),
        ("POST", "/api/admin/features/validate", {"name": "shop", "projectId": "default"}),
    ):
        answer = admin.ask(method, path, body, 400)
        (detail,) = answer.json["details"]
        assert detail["path"] == "name"
        assert NAMING["pattern"] in detail["message"]
        assert "Team and topic. Example: web-shop." in detail["message"]
    assert admin.read_state() == before
    admin.flag("web-shop")
    admin.post(f"{FEATURES}/old/clone", {"name": "app-shop"}, 201)
    admin.post("/api/admin/features/validate", {"name": "shop"})
    admin.put(f"{FEATURES}/old", {"description": "Existing flags keep their names."})


def test_an_import_names_the_flags_that_do_not_match(admin):
    admin.flag("old")
    admin.put(PATH, {"featureNaming": NAMING})
    names = ["old", "shop", "web-shop"]
    body = {
        "project": "default",
        "environment": "development",
        "data": {"features": [{"name": name} for name in names]},
    }
    report = admin.post("/api/admin/features-batch/validate", body)
    assert [error["affectedItems"] for error in report["errors"]] == [["shop"]]
    admin.all_refused("POST", "/api/admin/features-batch/import", [(body, "data.features[1].name")])
    del body["data"]["features"][1]
    admin.post("/api/admin/features-batch/import", body)
    assert admin.get(f"{FEATURES}/web-shop")["name"] == "web-shop"


def test_invalid_settings_are_rejected_and_change_nothing(admin):
    admin.put(PATH, {"mode": "private", "featureNaming": NAMING, "linkTemplates": LINKS})
    before = settings(admin)
    table = [
        ({"mode": "closed"}, "mode"),
        ({"mode": None}, "mode"),
        *(
            ({"featureNaming": {"pattern": pattern}}, "featureNaming.pattern")
            for pattern in ("(", "a b", "a\tb", "(?=a)b", r"(a)\1", "a" * 1001, "(a{999}){999}")
        ),
        ({"featureNaming": {"pattern": 1}}, "featureNaming.pattern"),
        ({"featureNaming": {"pattern": "a", "example": "b"}}, "featureNaming.example"),
        ({"featureNaming": {"pattern": "a", "example": "ba"}}, "featureNaming.example"),
        ({"featureNaming": {"example": "b"}}, "featureNaming.example"),
        ({"featureNaming": {"description": "b"}}, "featureNaming.description"),
        (
            {"featureNaming": {"pattern": "a", "description": "b" * 1001}},
            "featureNaming.description",
        ),
        ({"featureNaming": []}, "featureNaming"),
        ({"linkTemplates": {}}, "linkTemplates"),
        ({"linkTemplates": [{}]}, "linkTemplates[0].urlTemplate"),
        *(
            ({"linkTemplates": [LINKS[0], {"urlTemplate": url}]}, "linkTemplates[1].urlTemplate")
            for url in ("", "x", "javascript:alert(1)", "https://", "http://[", "https://a/\n", 1)
        ),
        ({"linkTemplates": LINKS * 51}, "linkTemplates"),
        ({"linkTemplates": [{**LINKS[0], "title": "x" * 201}]}, "linkTemplates[0].title"),
    ]
    admin.all_refused("PUT", PATH, table)
    admin.ask("PUT", "/api/admin/projects/none/settings", {}, 404)
    assert settings(admin) == before


def test_a_hostile_pattern_stalls_no_request(admin):
    admin.put(PATH, {"featureNaming": {"pattern": "(a+)+(a+)+b"}})
    start = time.thread_time()
    admin.ask("POST", FEATURES, {"name": "a" * 100}, 400)
    assert time.thread_time() - start < 1
