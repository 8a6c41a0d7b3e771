"""The state of an environment: what it remembers, and its order."""

from __future__ import annotations

import pytest
import webtest

from sigservice.delivery import flag_state
from tests.conftest import ADMIN
from tests.repository.kit import run

FEATURES = "/api/admin/projects/default/features"


@pytest.fixture
def node(service):
    return Node(service)


class Node:
    def __init__(self, service):
        self._states, self._web = service.context.flag_states, webtest.TestApp(service.app)

    def create(self, name, description):
        body = {"name": name, "description": description}
        self._web.post_json(FEATURES, body, headers=ADMIN)
        return self.get_state()

    def describe(self, name, description):
        self._web.put_json(f"{FEATURES}/{name}", {"description": description}, headers=ADMIN)
        return self.get_state()

    def add_segment(self, flag):
        body = {"name": f"for {flag}", "constraints": []}
        id = self._web.post_json("/api/admin/segments", body, headers=ADMIN).json["id"]
        path = f"{FEATURES}/{flag}/environments/development/strategies"
        self._web.post_json(path, {"name": "default", "segments": [id]}, headers=ADMIN)
        return id

    def get_state(self):
        return self._states.get_current("development")


def test_segments_are_in_the_order_of_their_numbers(node, database):
    conn = database.connect()
    run(conn, "ALTER SEQUENCE segments_id_seq RESTART WITH 9")
    conn.close()
    ids = []
    for name in ("a", "b", "c"):
        node.create(name, "")
        ids.append(node.add_segment(name))
    assert list(node.get_state().segments) == ids == [9, 10, 11]


def test_former_texts_have_a_limit(node, monkeypatch):
    node.get_state()
    node.create("a", "x" * 1000)
    monkeypatch.setattr(flag_state, "MAX_CHANGE_BYTES", 2500)
    sizes = [len(node.describe("a", letter * 1000).changes) for letter in "bcdef"]
    assert sizes == [2, 3, 2, 2, 2]


def test_a_text_above_the_limit_is_not_remembered(node, monkeypatch):
    node.get_state()
    node.create("a", "x" * 1000)
    monkeypatch.setattr(flag_state, "MAX_CHANGE_BYTES", 500)
    assert node.describe("a", "").changes == ()
