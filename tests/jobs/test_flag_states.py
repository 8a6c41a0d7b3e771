"""jobs/flag_states.py: a difference between memory and database is reported and read again."""

from __future__ import annotations

import pytest
import webtest

from sigservice.jobs.flag_states import verify_quiet
from tests.conftest import ADMIN

FEATURES = "/api/admin/projects/default/features"


@pytest.fixture
def node(service):
    return Node(service)


class Node:
    def __init__(self, service):
        self.context, self.web = service.context, webtest.TestApp(service.app)

    def create(self, name):
        self.web.post_json(FEATURES, {"name": name}, headers=ADMIN)
        return self.get_state()

    def get_state(self):
        return self.context.flag_states.get_current("development")

    def is_stale(self, name):
        return b'"stale" : true' in self.get_state().flags.find(name).text


def change_without_record(rows):
    rows("UPDATE features SET stale = true")


def test_a_difference_is_counted_logged_and_read(node, rows, monkeypatch):
    node.create("a")
    node.create("b")
    change_without_record(rows)
    assert verify_quiet(node.context) == 0  # it has just changed
    assert not node.is_stale("a")
    lines = []
    monkeypatch.setattr(
        type(node.context.get_logger("flags")),
        "error",
        lambda _, text, *values: lines.append(text % values),
    )
    assert verify_quiet(node.context) == 2
    assert len(lines) == 1
    assert "development" in lines[0]
    assert "a, b" in lines[0]
    assert node.is_stale("a")
    assert b"flag_state_drift_total 2" in node.context.telemetry.write_exposition()
    assert [verify_quiet(node.context) for _ in range(3)] == [0, 0, 0]


def test_equal_states_are_checked_once(node, monkeypatch):
    node.get_state()
    node.create("a")
    checked = []
    original = node.context.flag_states.find_drift
    monkeypatch.setattr(
        node.context.flag_states, "find_drift", lambda it: (checked.append(it), original(it))[1]
    )
    for _ in range(4):
        assert verify_quiet(node.context) == 0
    assert len(checked) == 1
    node.create("b")
    for _ in range(4):
        verify_quiet(node.context)
    assert len(checked) == 2


def test_a_state_that_was_read_whole_is_not_checked(node):
    node.get_state()
    assert [node.context.flag_states.list_quiet() for _ in range(3)] == [[], [], []]


def test_a_change_during_the_check_is_no_difference(node):
    node.get_state()
    state = node.create("a")
    node.web.post_json(FEATURES, {"name": "b"}, headers=ADMIN)
    assert node.context.flag_states.find_drift(state) == []
