"""Projects: counts of flags, updates, and what prevents their deletion."""

from __future__ import annotations

import pytest

from sigservice.errors import ConflictError
from sigservice.repository.projects import projects
from tests.repository.kit import add_user, attempt, run


def add(conn, id, name=None):
    values = {"mode": "open", "defaultStickiness": "default"}
    projects.put(conn, [{"id": id, "name": name or id} | values])


def add_flag(conn, name, project, archived=False, stale=False, type="release"):
    run(
        conn,
        "INSERT INTO features (name, project, type, created_by, archived_at, stale) "
        "VALUES (%s, %s, %s, 'ada', CASE WHEN %s THEN now() END, %s)",
        name,
        project,
        type,
        archived,
        stale,
    )


def test_projects_are_listed_by_name_with_counts(conn):
    add_user(conn)
    add(conn, "a", "Zoo")
    add(conn, "b", "Art")
    add_flag(conn, "one", "a")
    add_flag(conn, "two", "a", stale=True, type="experiment")
    add_flag(conn, "old", "a", archived=True, stale=True)
    rows = projects.list_all(conn)
    keys = ("id", "feature_count", "stale_feature_count", "member_count")
    assert [tuple(row[key] for key in keys) for row in rows] == [("b", 0, 0, 1), ("a", 2, 1, 1)]
    assert projects.find(conn, "a") == rows[1]
    assert projects.list_ids(conn) == {"a", "b"}
    assert projects.list_names(conn) == [{"id": "b", "name": "Art"}, {"id": "a", "name": "Zoo"}]
    assert projects.count_feature_types(conn, "a") == [
        {"type": "experiment", "count": 1},
        {"type": "release", "count": 1},
    ]
    assert projects.count_feature_types(conn, "b") == []


def test_flags_and_segments_prevent_deletion(conn):
    add(conn, "a")
    add_flag(conn, "new", "a")
    add_flag(conn, "old", "a", archived=True)
    assert projects.delete_archived_features(conn, "a") == ["old"]
    with pytest.raises(ConflictError), attempt(conn):
        projects.delete(conn, "a")
    run(conn, "DELETE FROM features")
    run(conn, "INSERT INTO segments (name, project, created_by) VALUES ('s', 'a', 'ada')")
    assert projects.list_segments(conn, "a") == ["s"]
    with pytest.raises(ConflictError), attempt(conn):
        projects.delete(conn, "a")
