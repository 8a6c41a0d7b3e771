"""Export, validation and import of flags in the format of Unleash."""

from __future__ import annotations

import copy
import json
import time

import pytest

from tests.conftest import ADMIN

BATCH = "/api/admin/features-batch"
FLAGS = "/api/admin/projects/default/features"
EU = {"contextName": "region", "operator": "IN", "values": ["eu"]}
DOCUMENT = {
    "features": [
        {"name": "parent", "type": "release", "description": None, "archived": False},
        {"name": "child", "type": "experiment", "description": "c", "stale": True, "links": [1]},
    ],
    "featureStrategies": [
        {
            "featureName": "child",
            "name": "flexibleRollout",
            "id": "s-1",
            "title": "half",
            "disabled": None,
            "sortOrder": 9999,
            "parameters": {"rollout": 50, "stickiness": "region", "groupId": None},
            "constraints": [EU | {"inverted": None}],
            "variants": [{"name": "a", "weight": 1000, "weightType": "variable", "payload": None}],
            "segments": [70],
        },
        {"featureName": "child", "strategyName": "robots", "sortOrder": "9999"},
    ],
    "featureEnvironments": [
        {"featureName": "child", "name": "child", "environment": "other", "enabled": True},
        {
            "featureName": "parent",
            "environment": "other",
            "enabled": False,
            "variants": [{"name": "old", "weight": 1000, "overrides": []}],
        },
    ],
    "contextFields": [{"name": "region", "stickiness": True, "legalValues": [{"value": "eu"}]}],
    "featureTags": [
        {"featureName": "child", "tagType": "team", "tagValue": "core"},
        {"featureName": "parent", "tag": {"type": "simple", "value": "old"}},
    ],
    "segments": [{"id": 70, "name": "beta", "constraints": [EU]}],
    "tagTypes": [{"name": "team", "description": "", "icon": None}],
    "dependencies": [{"feature": "child", "dependencies": [{"feature": "parent"}]}],
    "strategies": [{"name": "robots", "parameters": [], "editable": True}],
    "somethingNew": {"x": 1},
}


def replace_value(path, value):
    """The document with another value at `path`; None removes the member."""
    document = copy.deepcopy(DOCUMENT)
    parent = document
    *parts, last = [int(p) if p.isdigit() else p for p in path.split(".")]
    for part in parts:
        parent = parent[part]
    if value is None:
        del parent[last]
    else:
        parent[last] = value
    return document


@pytest.fixture
def send(web):
    def post(path, document=DOCUMENT, status=200, **more):
        body = {"project": "default", "environment": "production", "data": document, **more}
        return web.post_json(f"{BATCH}/{path}", body, headers=ADMIN, status=status)

    return post


@pytest.fixture
def count(web):
    def events():
        return web.get("/api/admin/events?limit=1", headers=ADMIN).json["totalEvents"]

    return events


def test_an_import_creates_the_flags_of_the_document(web, send, service):
    send("import")
    child = web.get(f"{FLAGS}/child", headers=ADMIN).json
    assert (child["type"], child["description"], child["stale"]) == ("experiment", "c", True)
    assert child["tags"] == [{"type": "team", "value": "core"}]
    assert child["dependencies"] == [{"feature": "parent", "enabled": True, "variants": []}]
    states = {state["name"]: state for state in child["environments"]}
    assert [name for name, state in states.items() if state["enabled"]] == ["production"]
    first, second = states["production"]["strategies"]
    segments = web.get("/api/admin/segments", headers=ADMIN).json["segments"]
    assert [(segment["name"], segment["id"]) for segment in segments] == [
        ("beta", first["segments"][0])
    ]
    assert first["parameters"] == {"rollout": "50", "stickiness": "region", "groupId": "child"}
    assert first["constraints"] == [EU]
    assert (first["title"], first["disabled"], first["variants"][0]["weight"]) == (
        "half",
        False,
        1000,
    )
    assert (second["name"], first["sortOrder"] < second["sortOrder"]) == ("robots", True)
    parent = web.get(f"{FLAGS}/parent", headers=ADMIN).json
    old = {state["name"]: state["variants"] for state in parent["environments"]}
    assert [variant["name"] for variant in old["production"]] == ["old"]
    types = {event["type"] for event in web.get("/api/admin/events", headers=ADMIN).json["events"]}
    assert types >= {
        "feature-created",
        "feature-strategy-add",
        "feature-environment-enabled",
        "feature-tagged",
        "feature-dependency-added",
        "segment-created",
        "context-field-created",
        "tag-type-created",
        "strategy-created",
        "features-imported",
    }


def test_a_child_may_be_listed_before_its_parent(web, send):
    send("import", DOCUMENT | {"features": DOCUMENT["features"][::-1]})
    assert web.get(f"{FLAGS}/child", headers=ADMIN).json["dependencies"][0]["feature"] == "parent"


def test_second_import_changes_nothing(send, count, service):
    send("import")
    before, revision = count(), service.context.revision_cache.read_revisions()
    send("import")
    assert (count(), service.context.revision_cache.read_revisions()) == (before, revision)


def test_an_export_can_be_imported_into_another_environment(web, send, count):
    send("import")
    scope = {"environment": "production", "project": "default"}
    document = web.post_json(f"{BATCH}/export", scope, headers=ADMIN).json
    assert set(document) == {
        "features",
        "featureStrategies",
        "featureEnvironments",
        "contextFields",
        "featureTags",
        "segments",
        "tagTypes",
        "dependencies",
    }
    assert [item["name"] for item in document["contextFields"]] == ["region"]
    assert [item["name"] for item in document["tagTypes"]] == ["simple", "team"]
    (segment,) = document["segments"]
    assert set(segment) == {"id", "name"}
    before = count()
    send("import", document)
    assert count() == before
    send("import", document, environment="development")
    child = web.get(f"{FLAGS}/child", headers=ADMIN).json
    strategies = [
        [strategy | {"id": ""} for strategy in state["strategies"]]
        for state in child["environments"]
        if state["name"] in ("development", "production")
    ]
    assert strategies[0] == strategies[1]
    assert len(strategies[0]) == 2


@pytest.mark.parametrize(
    ("scope", "names"),
    [
        ({"features": ["child", "unknown"]}, ["child"]),
        ({"tag": "team:core"}, ["child"]),
        ({"tag": "core"}, ["child"]),
        ({"tag": "team:old"}, []),
        ({"project": "default"}, ["child", "parent"]),
        ({"features": []}, []),
    ],
)
def test_an_export_is_limited_to_the_requested_flags(web, send, scope, names):
    send("import")
    body = {"environment": "production", "downloadFile": True, **scope}
    answer = web.post_json(f"{BATCH}/export", body, headers=ADMIN)
    assert [feature["name"] for feature in answer.json["features"]] == names
    assert answer.headers["Content-Disposition"].startswith('attachment; filename="flags-')


def test_an_import_replaces_strategies_and_keeps_definitions(web, send):
    send("import")
    document = replace_value("featureStrategies.1", None)
    document["contextFields"][0]["description"] = "theirs"
    document["featureEnvironments"][0]["enabled"] = False
    result = send("validate", document).json
    assert result["errors"] == []
    assert result["warnings"][0]["affectedItems"] == ["parent", "child"]
    send("import", document)
    child = web.get(f"{FLAGS}/child", headers=ADMIN).json
    (state,) = [s for s in child["environments"] if s["name"] == "production"]
    assert [strategy["name"] for strategy in state["strategies"]] == ["flexibleRollout"]
    assert state["enabled"] is False
    region = web.get("/api/admin/context/region", headers=ADMIN).json
    assert region["description"] is None


def test_a_flag_that_loses_its_strategies_is_disabled_unless_the_document_enables_it(web, send):
    send("import")
    document = replace_value("featureStrategies", [])
    for row, is_enabled in (([], False), ([{"featureName": "child", "enabled": True}], True)):
        document["featureEnvironments"] = row
        send("import", document)
        child = web.get(f"{FLAGS}/child", headers=ADMIN).json
        (state,) = [s for s in child["environments"] if s["name"] == "production"]
        assert (state["enabled"], state["strategies"]) == (is_enabled, [])


BAD = [
    ("features.0.name", "no blanks please", "features[0].name"),
    ("features.0.type", "unheard", "features[0].type"),
    ("features.1.description", "x" * 5001, "features[1].description"),
    ("features.1.archived", True, "features[1].archived"),
    ("features.1.stale", [], "features[1].stale"),
    ("features", "all", "features"),
    ("featureStrategies.0.featureName", "nobody", "featureStrategies[0].featureName"),
    ("featureStrategies.1.strategyName", "unheard", "featureStrategies[1].name"),
    ("featureStrategies.0.title", "x" * 201, "featureStrategies[0].title"),
    ("featureStrategies.0.segments", [71], "featureStrategies[0].segments"),
    (
        "featureStrategies.0.constraints.0.operator",
        "NOPE",
        "featureStrategies[0].constraints[0].operator",
    ),
    ("featureStrategies.0.parameters.rollout", 101, "featureStrategies[0].parameters.rollout"),
    ("featureStrategies.0.parameters.rollout", [1], "featureStrategies[0].parameters[...]"),
    ("featureStrategies.0.variants.0.weight", -1, "featureStrategies[0].variants[0].weight"),
    ("featureStrategies.0.sortOrder", 2**40, "featureStrategies[0].sortOrder"),
    (
        "featureEnvironments.1.variants.0.weight",
        1001,
        "featureEnvironments[1].variants[0].weight",
    ),
    ("featureTags.0.tagType", "unheard", "featureTags[0].type"),
    ("featureTags.0.tagValue", "x", "featureTags[0].value"),
    ("segments.0.constraints.0.values", [], "segments[0].constraints[0].values"),
    ("segments.0.constraints", None, "featureStrategies[0].segments"),
    ("contextFields.0.name", "a b", "contextFields[0].name"),
    ("contextFields.0.legalValues.0.value", "", "contextFields[0].legalValues[0].value"),
    ("tagTypes.0.color", "red", "tagTypes[0].color"),
    ("dependencies.0.feature", "nobody", "dependencies[0].feature"),
    ("dependencies.0.dependencies.0.feature", "child", "dependencies[0].dependencies[0].feature"),
    ("dependencies.0.dependencies.0.feature", "x", "dependencies[0].dependencies[0].feature"),
]


def test_invalid_values_are_reported_with_their_path(send, count):
    before = count()
    for path, value, expected in BAD:
        answer = send("import", replace_value(path, value), 400).json
        assert f"data.{expected}" in [detail.get("path") for detail in answer["details"]], answer
    assert count() == before


def test_all_findings_are_reported_together(send):
    document = replace_value("features.0.type", "unheard")
    document["featureStrategies"][0]["constraints"][0]["operator"] = "NOPE"
    document["featureTags"].append({"featureName": "nobody", "tagValue": "xx"})
    paths = [detail["path"] for detail in send("import", document, 400).json["details"]]
    assert set(paths) >= {
        "data.features[0].type",
        "data.featureStrategies[0].constraints[0].operator",
        "data.featureTags[2].featureName",
    }
    errors = send("validate", document).json["errors"]
    assert ["parent"] in [error["affectedItems"] for error in errors]


def test_flags_of_other_projects_and_archived_flags_are_errors(web, send):
    web.post_json("/api/admin/projects", {"id": "other", "name": "Other"}, headers=ADMIN)
    path = "/api/admin/projects/other/features"
    web.post_json(path, {"name": "child"}, headers=ADMIN, status=201)
    web.post_json(FLAGS, {"name": "parent"}, headers=ADMIN, status=201)
    web.delete(f"{FLAGS}/parent", headers=ADMIN, status=202)
    answer = send("import", status=400).json
    paths = {detail["path"] for detail in answer["details"]}
    assert paths >= {"data.features[0].name", "data.features[1].name"}


def test_unknown_projects_and_environments_are_rejected(web, send):
    for path in ("validate", "import"):
        send(path, project="nowhere", status=404)
        answer = send(path, environment="nowhere", status=400)
        assert answer.json["details"][0]["path"] == "environment"
    for body, status in (
        ({"environment": "nowhere", "project": "default"}, 404),
        ({"environment": "production", "project": "nowhere"}, 404),
        ({"environment": "production"}, 400),
        ({"project": "default"}, 400),
    ):
        web.post_json(f"{BATCH}/export", body, headers=ADMIN, status=status)


def test_only_editors_import(cast, web):
    viewer, editor = cast.signed_in("vera"), cast.signed_in("ed")
    body = {"project": "default", "environment": "production", "data": {"features": []}}
    scope = {"project": "default", "environment": "production"}
    for user, status in ((viewer, 403), (editor, 200)):
        headers = {"X-CSRF-Token": user.csrf}
        user.post_json(f"{BATCH}/export", scope, headers=headers, status=200)
        user.post_json(f"{BATCH}/validate", body, headers=headers, status=status)
        user.post_json(f"{BATCH}/import", body, headers=headers, status=status)
    web.post_json(f"{BATCH}/export", scope, status=401)


@pytest.mark.external
def test_a_thousand_flags_are_imported_quickly(send):
    names = [f"flag-{n}" for n in range(1000)]
    constraint = {"contextName": "userId", "operator": "IN", "values": ["1", "2", "3"]}
    document = {
        "features": [{"name": name} for name in names],
        "featureStrategies": [
            {
                "featureName": name,
                "name": "flexibleRollout",
                "parameters": {"rollout": str(n)},
                "constraints": [constraint],
            }
            for name in names
            for n in range(3)
        ],
    }
    started = time.thread_time()
    send("import", document)
    assert time.thread_time() - started < 20


def test_the_body_is_limited(web):
    body = {"project": "default", "environment": "production", "data": {"features": []}}
    body["data"]["filler"] = "x" * 4_000_000
    web.post_json(f"{BATCH}/import", body, headers=ADMIN, status=200)
    body["data"]["filler"] = "x" * 6_000_000
    data = json.dumps(body)
    headers = ADMIN | {"Content-Type": "application/json"}
    web.post(f"{BATCH}/import", data, headers=headers, status=413)


@pytest.mark.external
def test_a_large_document_is_checked_quickly(send):
    """The time grows linearly with the document, because the import holds the lock."""
    names = [f"flag-{n}" for n in range(10_000)]
    strategies = [{"featureName": names[0], "name": "default", "id": "s"}] * 2000
    pairs = [{"featureStrategyId": "s", "segmentId": n} for n in range(2000)]
    started = time.thread_time()
    send("validate", {"features": [{"name": name, "type": "unheard"} for name in names]})
    answer = send(
        "import",
        {
            "features": [{"name": names[0]}],
            "featureStrategies": strategies,
            "featureStrategySegments": pairs,
        },
        400,
    )
    assert answer.json["details"][0]["path"] == "data.featureStrategies[0].id"
    assert time.thread_time() - started < 10


def test_a_segment_of_another_project_is_rejected(web, send, count):
    web.post_json("/api/admin/projects", {"id": "other", "name": "Other"}, headers=ADMIN)
    body = {"name": "beta", "project": "other", "constraints": [EU]}
    web.post_json("/api/admin/segments", body, headers=ADMIN, status=201)
    before = count()
    details = send("import", status=400).json["details"]
    assert [detail["path"] for detail in details] == ["data.featureStrategies[0].segments"]
    assert count() == before
