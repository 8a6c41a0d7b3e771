"""The flags of environments are counted without archived ones."""

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
