"""The admin API of context fields and their legal values."""

from __future__ import annotations

import json

from tests.conftest import ADMIN

PATH = "/api/admin/context"


def create(web, status=201, **body):
    return web.post_json(PATH, {"name": "plan", **body}, headers=ADMIN, status=status)


def read(web, name="plan", status=200):
    return web.get(f"{PATH}/{name}", headers=ADMIN, status=status).json


def newest(web):
    return web.get("/api/admin/events", {"limit": 1}, headers=ADMIN).json["events"][0]


def test_built_in_fields_are_listed_by_sort_order(web):
    fields = web.get(PATH, headers=ADMIN).json
    names = ["environment", "userId", "appName", "currentTime", "sessionId"]
    assert [field["name"] for field in fields] == names
    assert [field["name"] for field in fields if field["stickiness"]] == ["userId", "sessionId"]
    assert fields[1].pop("createdAt").endswith("Z")
    assert fields[1] == {
        "name": "userId",
        "description": "Allows you to constrain on userId",
        "stickiness": True,
        "sortOrder": 1,
        "legalValues": [],
        "usedInFeatures": 0,
        "usedInProjects": 0,
    }


def test_a_field_is_created_updated_and_deleted(web):
    legal = [{"value": "free"}, {"value": "paid", "description": "since May"}]
    body = {"description": " Tariff ", "stickiness": True, "sortOrder": -1, "legalValues": legal}
    answer = create(web, **body)
    created = answer.json
    assert created == read(web)
    assert answer.headers["Location"] == f"{PATH}/plan"
    assert created | body | {"description": "Tariff"} == created
    assert web.get(PATH, headers=ADMIN).json[0] == created
    assert newest(web)["data"]["legalValues"] == legal

    path = f"{PATH}/plan"
    updated = web.put_json(path, {"stickiness": False}, headers=ADMIN, status=200).json
    assert updated == created | {"stickiness": False}
    event = newest(web)
    assert event["type"] == "context-field-updated"
    assert (event["preData"]["stickiness"], event["data"]["stickiness"]) == (True, False)
    web.put_json(path, {"stickiness": False}, headers=ADMIN)
    assert newest(web)["id"] == event["id"]
    assert web.put_json(path, {"description": None}, headers=ADMIN).json["description"] is None
    web.put_json(path, {"legalValues": []}, headers=ADMIN)
    assert read(web)["legalValues"] == []

    web.delete(path, headers=ADMIN, status=200)
    assert newest(web)["type"] == "context-field-deleted"
    for request in (web.get, web.delete):
        request(path, headers=ADMIN, status=404)
    web.put_json(path, {}, headers=ADMIN, status=404)


def test_names_are_unique_and_can_be_validated(web):
    assert create(web, name="userId", status=409).json["name"] == "NameExistsError"
    for name, status in (("userId", 409), ("new", 200), ("a b", 400), ("", 400)):
        web.post_json(f"{PATH}/validate", {"name": name}, headers=ADMIN, status=status)


BAD = (
    ({"name": "a b"}, "name"),
    ({"name": "x" * 101}, "name"),
    ({"description": "x" * 1001}, "description"),
    ({"sortOrder": 2**31}, "sortOrder"),
    ({"legalValues": [{"value": "a"}, {"value": ""}]}, "legalValues[1].value"),
    ({"legalValues": [{"value": "a"}, {"value": "a"}]}, "legalValues[1].value"),
    ({"legalValues": [{"value": "x" * 101}]}, "legalValues[0].value"),
    (
        {"legalValues": [{"value": "a", "description": "x" * 1001}]},
        "legalValues[0].description",
    ),
    ({"legalValues": [{"value": str(n)} for n in range(1001)]}, "legalValues"),
)


def test_invalid_bodies_are_rejected_with_a_path(web):
    for body, path in BAD:
        answer = create(web, status=400, **body)
        assert answer.json["details"][0]["path"] == path, body
        read(web, status=404)


def test_built_in_fields_can_be_updated_but_not_deleted(web):
    web.put_json(f"{PATH}/userId", {"description": "Who"}, headers=ADMIN)
    assert read(web, "userId")["description"] == "Who"
    answer = web.delete(f"{PATH}/userId", headers=ADMIN, status=403)
    assert answer.json["name"] == "OperationDeniedError"
    read(web, "userId")


def test_legal_values_are_set_and_deleted(web):
    create(web)
    path = f"{PATH}/plan/legal-values"
    for body in ({"value": "a/b"}, {"value": "é ?"}, {"value": "a/b", "description": "both"}):
        web.post_json(path, body, headers=ADMIN, status=200)
    both = [{"value": "a/b", "description": "both"}, {"value": "é ?"}]
    assert read(web)["legalValues"] == both
    web.delete(f"{path}/%C3%A9%20%3F", headers=ADMIN, status=200)
    assert read(web)["legalValues"] == both[:1]
    before = newest(web)
    web.delete(f"{path}/missing", headers=ADMIN, status=200)
    assert newest(web) == before
    web.delete(f"{path}/a/b", headers=ADMIN, status=200)
    assert read(web)["legalValues"] == []
    for bad in ({}, {"value": ""}, {"value": "x" * 101}, {"value": 1}):
        web.post_json(path, bad, headers=ADMIN, status=400)
    web.post_json(f"{PATH}/nothing/legal-values", {"value": "a"}, headers=ADMIN, status=404)
    web.delete(f"{PATH}/nothing/legal-values/a", headers=ADMIN, status=404)


def test_strategies_of_a_field_are_listed(web, service):
    constraints = json.dumps([{"contextName": "plan", "operator": "IN", "values": ["x"]}])
    with service.context.database.transaction() as conn, conn.cursor() as cursor:
        cursor.execute(
            """
            INSERT INTO features (name, project, type, created_by, archived_at) VALUES
                ('own', 'default', 'release', 'a', NULL), ('by', 'default', 'release', 'a', NULL),
                ('not', 'default', 'release', 'a', NULL), ('old', 'default', 'release', 'a', now());
            INSERT INTO feature_strategies (id, feature, environment, name, sort_order, constraints)
            VALUES ('1', 'own', 'production', 'default', 1, %(constraints)s),
                   ('2', 'own', 'development', 'default', 1, %(constraints)s),
                   ('3', 'by', 'production', 'flexibleRollout', 1, '[]'),
                   ('4', 'not', 'production', 'default', 1, '[]'),
                   ('5', 'old', 'production', 'default', 1, %(constraints)s);
            INSERT INTO segments (name, created_by, constraints) VALUES ('s', 'a', %(constraints)s);
            INSERT INTO strategy_segments SELECT '3', id FROM segments;
            """,
            {"constraints": constraints},
        )
    create(web)
    strategies = web.get(f"{PATH}/plan/strategies", headers=ADMIN).json["strategies"]
    assert [(row["featureName"], row["environment"]) for row in strategies] == [
        ("by", "production"),
        ("own", "development"),
        ("own", "production"),
    ]
    assert strategies[0] == {
        "id": "3",
        "projectId": "default",
        "featureName": "by",
        "strategyName": "flexibleRollout",
        "environment": "production",
    }
    assert (read(web)["usedInFeatures"], read(web)["usedInProjects"]) == (2, 1)
    assert read(web, "userId")["usedInFeatures"] == 0
    web.get(f"{PATH}/nothing/strategies", headers=ADMIN, status=404)
    web.delete(f"{PATH}/plan", headers=ADMIN, status=200)


def test_only_editors_change_fields(cast):
    for name, status in (("ed", 200), ("vera", 403)):
        user = cast.signed_in(name)
        csrf = {"X-CSRF-Token": user.csrf}
        user.get(PATH, status=200)
        body = {"name": name}
        user.post_json(PATH, body, headers=csrf, status=201 if status == 200 else 403)
        user.put_json(f"{PATH}/userId", {}, headers=csrf, status=status)
        legal = f"{PATH}/userId/legal-values"
        user.post_json(legal, {"value": "a"}, headers=csrf, status=status)
        user.delete(f"{legal}/a", headers=csrf, status=status)
        user.delete(f"{PATH}/{'ed' if name == 'ed' else 'userId'}", headers=csrf, status=status)
