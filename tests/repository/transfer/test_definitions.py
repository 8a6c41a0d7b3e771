"""Bulk statements of export and import."""

from __future__ import annotations

import json

import pytest

from sigservice.db.errors import UniqueViolation
from sigservice.errors import ConflictError
from sigservice.repository.flags import feature_strategies, features, segments
from sigservice.repository.projects import environments, projects, tag_types, tags
from sigservice.repository.transfer import definitions
from tests.repository.kit import attempt, run

AUTHOR = {"created_by": "ada", "created_by_user_id": 7}
ENVIRONMENT = {"name": "prod", "type": "production", "sortOrder": 3, "enabled": True}
PROJECT = {"id": "p", "name": "P", "description": None, "mode": "open", "defaultStickiness": "x"}
FLAG = {"name": "f", "project": "p", "type": "release", "stale": False, "impressionData": True}
STRATEGY = {
    "id": "s",
    "feature": "f",
    "environment": "prod",
    "name": "default",
    "title": None,
    "disabled": False,
    "sortOrder": 1,
    "parameters": {"a": "1"},
    "constraints": [],
    "variants": [],
}


@pytest.fixture
def filled(conn):
    environments.put(conn, [ENVIRONMENT | {"protected": False}])
    projects.put(conn, [PROJECT])
    definitions.put_project_environments(
        conn, [{"project": "p", "environment": "prod", "strategy": None}]
    )
    features.put(conn, [FLAG, FLAG | {"name": "g"}], **AUTHOR)
    return conn


def test_default_strategies_are_written_and_removed(filled):
    link = {"project": "p", "environment": "prod"}
    definitions.put_project_environments(filled, [link | {"strategy": {"name": "default"}}])
    (row,) = definitions.list_project_environments(filled)
    assert json.loads(row["default_strategy"]) == {"name": "default"}
    definitions.put_project_environments(filled, [link | {"strategy": None}])
    assert definitions.list_project_environments(filled)[0]["default_strategy"] is None
    definitions.delete_project_environments(filled, [link, link | {"environment": "other"}])
    assert definitions.list_project_environments(filled) == []


def test_a_flag_keeps_its_project_and_creator(filled):
    creation = {"createdAt": "2020-01-02T03:04:05.678901Z", "createdBy": "eve"}
    features.put(filled, [FLAG | creation | {"name": "h"}], **AUTHOR)
    moved = FLAG | {"name": "h", "project": "elsewhere", "stale": True, "createdBy": "mallory"}
    features.put(filled, [moved], **AUTHOR)
    row = definitions.list_features(filled, ["h"])[0]
    assert (row["project"], row["stale"], row["created_by"]) == ("p", True, "eve")
    assert row["created_at"].isoformat().startswith("2020-01-02T03:04:05.678901")
    rows = run(filled, "SELECT name, created_by_user_id FROM features ORDER BY name")
    assert rows == [("f", 7), ("g", 7), ("h", None)]
    assert [row["name"] for row in definitions.list_features(filled)] == ["f", "g", "h"]
    with pytest.raises(ConflictError), attempt(filled):
        features.put(filled, [FLAG | {"name": "i", "project": "unknown"}], **AUTHOR)


def test_strategies_refer_to_segments_by_name(filled):
    segment = {"name": "beta", "description": None, "project": None, "constraints": []}
    segments.put(filled, [segment], **AUTHOR)
    segments.put(filled, [segment | {"description": "d"}], **AUTHOR)
    (beta,) = definitions.list_segments(filled)
    assert (beta["description"], beta["created_by"]) == ("d", "ada")
    feature_strategies.insert_many(filled, [STRATEGY, STRATEGY | {"id": "t", "feature": "g"}])
    definitions.insert_strategy_segments(filled, [{"strategy": "s", "segment": "beta"}])
    assert run(filled, "SELECT strategy_id, segment_id FROM strategy_segments") == [
        ("s", beta["id"])
    ]
    assert definitions.list_used_strategy_ids(filled, ["s", "u"]) == {"s"}
    definitions.delete_strategies(filled, [{"feature": "f", "environment": "prod"}])
    assert definitions.list_used_strategy_ids(filled, ["s", "t"]) == {"t"}
    with pytest.raises(UniqueViolation), attempt(filled):
        feature_strategies.insert_many(filled, [STRATEGY | {"id": "t"}])


def test_states_tags_and_parents_are_written(filled):
    state = {"feature": "f", "environment": "prod", "enabled": True, "variants": [{"name": "a"}]}
    definitions.put_states(filled, [state])
    definitions.put_states(filled, [state | {"enabled": False}])
    (row,) = definitions.list_states(filled, ["f", "g"])
    assert (row["enabled"], json.loads(row["variants"])) == (False, [{"name": "a"}])
    tag_types.put(filled, [{"name": "team"}])
    tags.put(filled, [{"type": "team", "value": "unused"}] * 2)
    tag = {"feature": "f", "type": "team", "value": "core"}
    definitions.put_feature_tags(filled, [tag, tag | {"feature": "g"}, tag])
    assert [row["value"] for row in tags.list_all(filled)] == ["core", "unused"]
    assert definitions.list_feature_names(filled, tag="team:core") == ["f", "g"]
    assert definitions.list_feature_names(filled, tag="core", project="q") == []
    assert definitions.list_feature_names(filled, tag="unused") == []
    parent = {"child": "f", "parent": "g", "enabled": True, "variants": []}
    definitions.put_dependencies(filled, [parent])
    definitions.put_dependencies(filled, [parent | {"enabled": False}])
    assert run(filled, "SELECT child, parent, enabled FROM feature_dependencies") == [
        ("f", "g", False)
    ]
    locations = {row["name"]: row for row in definitions.list_feature_locations(filled)}
    assert locations["f"] == {"name": "f", "project": "p", "archived": False, "parent": "g"}


def test_many_rows_are_written_in_batches(filled):
    names = [f"flag-{n}" for n in range(5001)]
    features.put(filled, [FLAG | {"name": name} for name in names], **AUTHOR)
    assert len(definitions.list_feature_locations(filled)) == 5003


def test_tables_of_another_owner_are_not_analyzed(pool):
    with pool.transaction() as conn:
        run(conn, "SET LOCAL ROLE pg_read_all_data")
        definitions.analyze_flags(conn)
        assert "permission denied to analyze" in conn.notices[0]
