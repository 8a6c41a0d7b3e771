"""Environments and their use by projects: order, counts, deletion."""

from __future__ import annotations

from sigservice.repository.projects import environments, project_environments
from tests.repository.kit import run


def add(conn, *names, enabled=True):
    first = len(environments.list_all(conn)) + 1
    new = {"type": "test", "enabled": enabled, "protected": False}
    environments.put(conn, [new | {"name": n, "sortOrder": i} for i, n in enumerate(names, first)])


def add_project(conn, *ids):
    for id in ids:
        run(conn, "INSERT INTO projects (id, name) VALUES (%s, %s)", id, id)


def add_state(conn, feature, project, environment, enabled=True, archived=False):
    run(
        conn,
        "INSERT INTO features (name, project, type, created_by, archived_at) "
        "VALUES (%s, %s, 'release', 'ada', CASE WHEN %s THEN now() END)",
        feature,
        project,
        archived,
    )
    run(
        conn,
        "INSERT INTO feature_environments (feature, environment, enabled) VALUES (%s, %s, %s)",
        feature,
        environment,
        enabled,
    )


def names(conn):
    return [row["name"] for row in environments.list_all(conn)]


def test_enabled_names_are_in_the_same_order(conn):
    add(conn, "b")
    add(conn, "c", enabled=False)
    add(conn, "a")
    assert environments.list_enabled_names(conn) == ["b", "a"]


def test_enable_only_returns_the_changes(conn):
    add(conn, "a", "b")
    add(conn, "c", "d", enabled=False)
    changed = environments.enable_only(conn, ["a", "c"])
    assert sorted((row["name"], row["enabled"]) for row in changed) == [("b", False), ("c", True)]
    assert environments.enable_only(conn, ["a", "c"]) == []


def test_enabled_flags_are_counted_without_archived_ones(conn):
    add(conn, "a")
    add_project(conn, "p", "q")
    project_environments.link_all_projects(conn, ["a"])
    for n, (project, enabled, archived) in enumerate(
        [("p", True, False), ("p", False, False), ("p", True, True), ("q", True, False)]
    ):
        add_state(conn, f"f{n}", project, "a", enabled, archived)
    (row,) = environments.list_all(conn)
    assert (row["project_count"], row["enabled_toggle_count"], row["api_token_count"]) == (2, 2, 0)
    (row,) = environments.list_by_project(conn, "p")
    assert (row["visible"], row["enabled_toggle_count"]) == (True, 1)


def test_new_links_are_returned(conn):
    add(conn, "b", "a")
    add_project(conn, "p", "q")
    assert sorted(project_environments.link(conn, "p", ["a", "b"])) == ["a", "b"]
    assert project_environments.link(conn, "p", ["a"]) == []
    assert project_environments.link_all_projects(conn, ["a"]) == [
        {"project": "q", "environment": "a"}
    ]
    assert project_environments.link_all_projects(conn, []) == []
    assert project_environments.list_by_project(conn, "p") == [
        {"environment": "b", "default_strategy": None},
        {"environment": "a", "default_strategy": None},
    ]
    assert project_environments.update_default_strategy(conn, "p", "a", '{"name": "x"}')
    assert not project_environments.update_default_strategy(conn, "q", "b", "{}")
    assert project_environments.list_by_project(conn, "p")[1]["default_strategy"] == '{"name": "x"}'
