"""sql/queries/flags/client_features.sql: JSON documents for new and old SDKs."""

from __future__ import annotations

import hashlib
import json

import pytest

from sigservice.repository import revisions
from sigservice.repository.flags import (
    client_features,
)
from sigservice.repository.revisions import RevisionBump
from tests.repository.kit import (
    add_built_ins,
    add_flag,
    add_segment,
    add_strategy,
    touch,
)


@pytest.fixture
def conn(conn):
    add_built_ins(conn)
    add_flag(conn)
    return conn


def list_items(conn, environment="development", item_type="flag", since=None):
    rows = client_features.list_items(conn, environment, since=since)
    items = [row for row in rows if row["item_type"] == item_type]
    return sorted(items, key=lambda row: int(row["name"]) if row["name"].isdigit() else row["name"])


def bodies(conn, environment="development", item_type="flag", since=None):
    return [json.loads(row["body"]) for row in list_items(conn, environment, item_type, since)]


def test_segments_of_flags_are_listed(conn):
    two = add_segment(conn, "two", constraints=[{"n": 2}, {"n": 3}])
    one = add_segment(conn, "one", constraints=[{"n": 4}])
    add_segment(conn, "unused")
    empty = add_segment(conn, "empty")
    add_strategy(conn, "1", constraints='[{"n": 1}]', uses=(one, two))
    add_strategy(conn, "2", sort_order=1, uses=(empty,))
    add_strategy(conn, "3", sort_order=2)
    first, second, third = bodies(conn)[0]["strategies"]
    assert (first["segments"], first["constraints"]) == ([two, one], [{"n": 1}])
    assert (second["segments"], "segments" in third) == ([empty], False)
    items = bodies(conn, item_type="segment")
    assert items == [
        {"id": two, "name": "two", "constraints": [{"n": 2}, {"n": 3}]},
        {"id": one, "name": "one", "constraints": [{"n": 4}]},
        {"id": empty, "name": "empty", "constraints": []},
    ]
    (row,) = list_items(conn)
    assert sorted(row["segment_ids"]) == sorted([one, two, empty])


def test_a_text_has_one_line(conn):
    add_flag(conn, "a", description="x\ny")
    for id in ("1", "2"):
        add_strategy(conn, id)
    (row,) = list_items(conn)
    assert "\n" not in row["body"]
    assert json.loads(row["body"])["description"] == "x\ny"


def test_changes_of_the_environment_select_flags_and_segments(conn):
    for name in ("b", "c", "d"):
        add_flag(conn, name)
    segment = add_segment(conn, "one")
    revisions.bump(conn, touch([""]))
    since = revisions.find_generation(conn)
    revisions.bump(conn, RevisionBump(["", "in/development"], ["development"], ["b"], [segment]))
    revisions.bump(conn, RevisionBump(["", "in/production"], ["production"], ["c"], []))
    revisions.bump(conn, RevisionBump(["", "all"], None, ["d", "gone"], []))
    assert [row["name"] for row in list_items(conn, since=since)] == ["b", "d"]
    assert [body["id"] for body in bodies(conn, item_type="segment", since=since)] == [segment]
    changes = bodies(conn, item_type="change", since=since)
    assert [change["flags"] for change in changes] == [["b"], ["c"], ["d", "gone"]]
    numbers = [since, *(change["revision"] for change in changes)]
    assert [change["previous"] for change in changes] == numbers[:-1]


def test_digests_replace_texts(conn):
    (row,) = list_items(conn)
    (digest,) = client_features.list_items(conn, "development", since=None, digests=True)[:1]
    assert digest["body"] == hashlib.md5(row["body"].encode()).hexdigest()
