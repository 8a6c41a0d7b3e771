"""Action sets: rows with their actions, unique names, what goes with a project."""

from __future__ import annotations

import json

import pytest

from sigservice.db.errors import UniqueViolation
from sigservice.repository.actions import action_sets
from tests.repository.kit import (
    add_built_ins,
    add_endpoint,
    add_project,
    add_set,
    attempt,
    ids,
    is_locked_out,
    run,
)


@pytest.fixture(autouse=True)
def built_ins(request):
    if "conn" in request.fixturenames:
        add_built_ins(request.getfixturevalue("conn"))


def test_a_set_comes_back_with_its_actions_in_order(conn):
    id = add_set(conn, filters='[{"path": "a"}]', settings='{"latch": true}', description="d")
    actions = [
        {"sortOrder": 5, "action": "B", "executionParams": {"x": "é"}},
        {"sortOrder": 1, "action": "A", "executionParams": {}},
        {"sortOrder": 5, "action": "C", "executionParams": {}},
    ]
    action_sets.insert_actions(conn, id, json.dumps(actions), created_by_user_id=3)
    row = action_sets.find(conn, "default", id)
    assert (row["name"], row["enabled"], row["has_run_once"], row["version"]) == (
        "kill",
        True,
        False,
        1,
    )
    assert json.loads(row["filters"]) == [{"path": "a"}]
    assert json.loads(row["settings"]) == {"latch": True}
    actions = json.loads(row["actions"])
    assert [action["action"] for action in actions] == ["A", "B", "C"]
    assert actions[1]["executionParams"] == {"x": "é"}
    assert actions[1]["createdByUserId"] == 3
    assert actions[1]["createdAt"][10:] == actions[1]["createdAt"][10:23] + "Z"
    action_sets.delete_actions(conn, id)
    assert json.loads(action_sets.find(conn, None, id)["actions"]) == []


def test_sets_are_found_in_their_project(conn):
    add_project(conn)
    b, a = add_set(conn, "b"), add_set(conn, "a")
    other = add_set(conn, "a", "other")
    assert ids(action_sets.list_of_project(conn, "default")) == [a, b]
    assert action_sets.count(conn, "default") == 2
    assert action_sets.find(conn, "other", a) is None
    assert action_sets.find(conn, None, other)["project"] == "other"
    assert action_sets.list_of_project(conn, "none") == []
    run(conn, "DELETE FROM projects WHERE id = 'other'")
    assert action_sets.find(conn, None, other) is None


def test_names_are_unique_in_a_project(conn):
    add_project(conn)
    add_set(conn, "a")
    two = add_set(conn, "b")
    add_set(conn, "a", "other")
    with attempt(conn), pytest.raises(UniqueViolation):
        add_set(conn, "a")
    values = {
        "description": None,
        "enabled": True,
        "actor_id": 7,
        "endpoint_id": 1,
        "schedule": None,
    }
    values |= {"filters": "[]", "settings": "{}"}
    with attempt(conn), pytest.raises(UniqueViolation):
        action_sets.update(conn, two, name="a", **values)
    action_sets.update(conn, two, name="c", **values | {"endpoint_id": 9})
    row = action_sets.find(conn, "default", two)
    assert (row["name"], row["endpoint_id"], row["version"]) == ("c", 9, 2)


def test_only_what_is_on_listens(conn):
    on, off = add_endpoint(conn, "on"), add_endpoint(conn, "off", enabled=False)
    one = add_set(conn, "one", endpoint_id=on)
    add_set(conn, "disabled", endpoint_id=on, enabled=False)
    add_set(conn, "deaf", endpoint_id=off)
    add_set(conn, "orphan", endpoint_id=99)
    assert ids(action_sets.list_of_endpoints(conn, [on, off, 99])) == [one]
    assert action_sets.list_of_endpoints(conn, []) == []
    action_sets.set_enabled(conn, one, False)
    assert action_sets.list_of_endpoints(conn, [on]) == []
    assert action_sets.find(conn, None, one)["version"] == 2


def test_a_set_that_has_run_once_is_no_new_version(conn):
    one, two = add_set(conn, "a"), add_set(conn, "b")
    action_sets.set_has_run_once(conn, [one], True)
    results = {
        row["id"]: (row["has_run_once"], row["version"])
        for row in action_sets.list_of_project(conn, "default")
    }
    assert results == {one: (True, 1), two: (False, 1)}


def test_a_deleted_set_takes_its_actions(conn):
    id = add_set(conn)
    actions = [{"sortOrder": 1, "action": "A", "executionParams": {}}]
    action_sets.insert_actions(conn, id, json.dumps(actions), created_by_user_id=1)
    action_sets.delete(conn, id)
    assert run(conn, "SELECT count(*) FROM actions") == [(0,)]


def test_changes_take_turns(pool):
    with pool.transaction() as conn:
        action_sets.lock(conn)
        assert is_locked_out(pool, action_sets.lock)
    assert not is_locked_out(pool, action_sets.lock)
