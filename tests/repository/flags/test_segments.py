"""sql/queries/flags/segments.sql: unique names, and the strategies that use them."""

from __future__ import annotations

import pytest

from sigservice.repository.flags import segments
from tests.repository.kit import (
    add_built_ins,
    add_project,
    add_segment,
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
