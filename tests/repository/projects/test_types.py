"""Strategy types, flag types, tag types and tags: order, uniqueness, deletion."""

from __future__ import annotations

from sigservice.repository.flags import feature_tags
from sigservice.repository.projects import feature_types, strategy_types, tag_types, tags
from tests.repository.kit import run


def test_flags_and_projects_of_a_strategy_type_are_listed(conn):
    run(
        conn,
        """
        INSERT INTO environments (name, type, sort_order) VALUES ('e', 'test', 1);
        INSERT INTO projects (id, name) VALUES ('p', 'P'), ('q', 'Q');
        INSERT INTO project_environments (project, environment, default_strategy)
        VALUES ('p', 'e', '{"name": "own"}'), ('q', 'e', NULL);
        INSERT INTO features (name, project, type, created_by) VALUES ('f', 'p', 'release', 'a');
        INSERT INTO feature_strategies (id, feature, environment, name, sort_order)
        VALUES ('1', 'f', 'e', 'own', 1), ('2', 'f', 'e', 'own', 2), ('3', 'f', 'e', 'other', 3)
        """,
    )
    assert strategy_types.list_flags(conn, "own") == ["f"]
    assert strategy_types.list_projects(conn, "own") == ["p"]
    assert strategy_types.list_flags(conn, "none") == strategy_types.list_projects(conn, "") == []


def test_migrations_insert_the_feature_types(conn):
    assert {row["id"] for row in feature_types.list_all(conn)} >= {"release", "kill-switch"}
    feature_types.put(conn, [{"id": "release", "lifetimeDays": 7}, {"id": "new"}])
    assert feature_types.find(conn, "release")["lifetime_days"] == 7
    assert feature_types.find(conn, "new") is None


def test_tags_are_deleted_with_their_type(conn):
    assert tag_types.list_all(conn) == []
    tag_types.put(conn, [{"name": "team"}, {"name": "module"}])
    tags.put(conn, [{"type": type, "value": "web"} for type in ("team", "module", "team")])
    changed = {"name": "team", "description": "d", "icon": "i", "color": "#000000"}
    tag_types.put(conn, [changed])
    assert tag_types.find(conn, "team") == changed
    team = {"type": "team", "value": "web", "color": "#000000"}
    assert tags.list_all(conn)[1:] == tags.list_all(conn, "team") == [team]
    assert tags.find(conn, "team", "web") == team
    assert tags.find(conn, "team", "other") is None
    assert tags.delete(conn, "module", "web") is True
    assert tags.delete(conn, "module", "web") is False
    tag_types.delete(conn, "team")
    assert tags.list_all(conn) == []


def test_each_missing_type_of_tags_is_listed_once(conn):
    tag_types.put(conn, [{"name": "team"}])
    assert feature_tags.list_missing_types(conn, ["team", "x", "x"]) == ["x"]
