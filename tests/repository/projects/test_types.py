"""Where strategy types are used, and types of tags that are missing."""

from __future__ import annotations

from sigservice.repository.flags import feature_tags
from sigservice.repository.projects import strategy_types, tag_types
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


def test_each_missing_type_of_tags_is_listed_once(conn):
    tag_types.put(conn, [{"name": "team"}])
    assert feature_tags.list_missing_types(conn, ["team", "x", "x"]) == ["x"]
