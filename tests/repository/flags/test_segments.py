"""sql/queries/flags/segments.sql: unique names, and the strategies that use them."""

from __future__ import annotations

import pytest

from sigservice.db.errors import UniqueViolation
from sigservice.errors import ConflictError
from sigservice.repository.flags import features, segments
from tests.repository.kit import (
    add_built_ins,
    add_flag,
    add_project,
    add_segment,
    add_strategy,
    attempt,
    ids,
)


@pytest.fixture
def conn(conn):
    add_built_ins(conn)
    add_project(conn)
    return conn


def test_a_segment_is_found_by_id_and_name(conn):
    id = add_segment(conn, "é", constraints=[{"a": 1}], description="d", project="other")
    row = segments.find(conn, id)
    assert (row["name"], row["description"], row["project"]) == ("é", "d", "other")
    assert row["constraints"] == '[{"a": 1}]'
    assert segments.find_by_name(conn, "é") == row
    assert segments.find(conn, 0) is segments.find_by_name(conn, "E") is None
    other = add_segment(conn)
    assert ids(segments.list_by_id(conn, [other, id, 0])) == [id, other]
    assert segments.list_by_id(conn, []) == []
    assert segments.count(conn) == 2


def test_names_are_unique(conn):
    id = add_segment(conn)
    add_segment(conn, "other")
    values = {"description": "d", "project": None, "constraints": [1]}
    with pytest.raises(UniqueViolation), attempt(conn):
        segments.update(conn, id, {"name": "other"} | values)
    row = segments.update(conn, id, {"name": "beta"} | values)
    assert row == segments.find(conn, id)
    assert (row["description"], row["constraints"]) == ("d", "[1]")


def test_use_is_counted_by_flag_and_project(conn):
    in_use, unused = add_segment(conn, "used"), add_segment(conn, "unused")
    for name, project in (("a", "default"), ("b", "default"), ("o", "other")):
        add_flag(conn, name, project)
    add_strategy(conn, "1", uses=(in_use,))
    add_strategy(conn, "2", uses=(in_use,))
    add_strategy(conn, "3", "b", "production", uses=(in_use,))
    add_strategy(conn, "4", "o", "production", uses=(in_use,))
    features.archive(conn, ["b"])
    items = [
        (row["name"], row["used_in_features"], row["used_in_projects"])
        for row in segments.list_all(conn)
    ]
    assert items == [("unused", 0, 0), ("used", 3, 2)]
    users = segments.list_strategies(conn, in_use)
    assert ids(users) == ["1", "2", "3", "4"]
    assert (users[3]["feature"], users[3]["project"]) == ("o", "other")
    assert segments.list_strategies(conn, unused) == []


def test_segment_in_use_is_not_deleted(conn):
    add_flag(conn)
    id = add_segment(conn)
    add_strategy(conn, "1", uses=(id,))
    with pytest.raises(ConflictError), attempt(conn):
        segments.delete(conn, id)
    features.archive(conn, ["a"])
    features.delete(conn, ["a"])
    segments.delete(conn, id)
    assert segments.find(conn, id) is None
