"""The audit log, JSON."""

from __future__ import annotations

import pytest

from tests.conftest import ADMIN

FLAGS = "/api/admin/projects/default/features"
SEARCH = "/api/admin/search/events"


@pytest.fixture
def history(web):
    """Two flags; one goes on in production."""
    web.post_json(FLAGS, {"name": "checkout", "description": "Needle"}, headers=ADMIN)
    web.post_json(FLAGS, {"name": "other"}, headers=ADMIN)
    web.post(f"{FLAGS}/checkout/environments/production/on", headers=ADMIN)


def types(answer):
    return [event["type"] for event in answer.json["events"]]


@pytest.mark.usefixtures("history")
def test_events_of_a_flag(web, cast):
    answer = cast.signed_in("vera").get("/api/admin/events/checkout")
    assert types(answer) == [
        "feature-environment-enabled",
        "feature-strategy-add",
        "feature-created",
    ]
    assert answer.json["toggleName"] == "checkout"
    switched = answer.json["events"][0]
    assert switched["environment"] == "production"
    assert switched["createdByUserId"] == -42
    assert web.get("/api/admin/events/unknown", headers=ADMIN).json["events"] == []


QUERIES = {
    "feature=IS:other": ["feature-created"],
    "feature=IS_ANY_OF:other,checkout&type=IS:feature-created": ["feature-created"] * 2,
    "environment=IS:production": ["feature-environment-enabled", "feature-strategy-add"],
    "query=nEEdle": ["feature-created"],
    "project=IS:default&limit=1": ["feature-environment-enabled"],
    "project=IS:default&limit=1&offset=1": ["feature-strategy-add"],
    "createdBy=IS:nobody": [],
    "to=IS:2020-01-01": [],
}


@pytest.mark.usefixtures("history")
def test_search(web):
    wrong = {
        query: found
        for query, expected in QUERIES.items()
        if (found := types(web.get(f"{SEARCH}?{query}", headers=ADMIN))) != expected
    }
    assert not wrong


@pytest.mark.usefixtures("history")
def test_what_concerns_no_project_is_for_admins(web, cast):
    assert "user-created" in types(web.get(SEARCH, headers=ADMIN))
    seen = types(cast.signed_in("vera").get(SEARCH))
    assert "feature-created" in seen
    assert not {"user-created", "api-token-created"} & set(seen)


@pytest.mark.parametrize(
    "query", ["type=x", "type=IS:", "type=IS_ANY_OF:,", "from=2020", "limit=0", "before=-1"]
)
def test_a_wrong_filter_is_refused(web, query):
    answer = web.get(f"{SEARCH}?{query}", headers=ADMIN, status=400)
    assert answer.json["details"][0]["path"] == query.partition("=")[0]
