"""SDKs after an import of thousands of flags, whose tables nothing has analyzed yet."""

from __future__ import annotations

from typing import Any

import webtest

from tests.conftest import ADMIN

FLAGS_PER_REQUEST = 500
REQUESTS = 10
CONSTRAINT = {"contextName": "userId", "operator": "IN", "values": ["1", "2", "3"]}


def build_document(first: int) -> dict[str, Any]:
    """Flags with three strategies each."""
    names = [f"flag-{n}" for n in range(first, first + FLAGS_PER_REQUEST)]
    return {
        "features": [{"name": name} for name in names],
        "featureEnvironments": [{"featureName": name, "enabled": True} for name in names],
        "featureStrategies": [
            {
                "featureName": name,
                "name": "flexibleRollout",
                "parameters": {"rollout": "50", "stickiness": "default", "groupId": name},
                "constraints": [CONSTRAINT],
            }
            for name in names
            for _ in range(3)
        ],
    }


def import_flags(web: webtest.TestApp, first: int) -> None:
    body = {"project": "default", "environment": "development", "data": build_document(first)}
    web.post_json("/api/admin/features-batch/import", body, headers=ADMIN, status=200)


def create_token(web: webtest.TestApp, project: str) -> str:
    token = {"tokenName": project, "type": "client", "environment": "development"}
    body = token | {"projects": [project]}
    answer = web.post_json("/api/admin/api-tokens", body, headers=ADMIN, status=201)
    return str(answer.json["secret"])


def test_sdks_get_thousands_of_flags_right_after_their_import(temporary_database, make_service):
    options = temporary_database.create_database("imported")
    web = webtest.TestApp(make_service({"db": options}).app)
    for n in range(REQUESTS):
        import_flags(web, n * FLAGS_PER_REQUEST)
    for project in ("*", "default"):
        headers = {"Authorization": create_token(web, project)}
        answer = web.get("/api/client/features", headers=headers, status=200)
        assert len(answer.json["features"]) == FLAGS_PER_REQUEST * REQUESTS
