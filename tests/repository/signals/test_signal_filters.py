"""Signals found by a value at a path, status, severity and time."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from sigservice.errors import BadDataError
from sigservice.repository.signals import signals
from sigservice.services.signals import signal_search
from sigservice.services.signals.signal_search import SignalFilter, list_page
from tests.repository.kit import add_endpoint, add_signal, add_token, ids
from tests.table_tests import each

ALERTS = {"alerts": [{"labels": {"severity": "info"}}, {"labels": {"severity": "critical"}}]}
VALUES = [
    ("alerts[*].labels.severity", "critical", ALERTS),
    ("code", "500", {"code": 500.0}),
    ("code", "500", {"code": "500"}),
    ("ok", "true", {"ok": True}),
    ("a.b", "x", {"a.b": "x"}),
    ("none", "null", {"none": None}),
    ("object", "", {"object": {}}),
    ("none", "", {"none": None}),
    ("[0]", "1", [1]),
]
OTHERS = [
    ("alerts[*].labels.severity", "crit", ALERTS),
    ("code", "500", {"code": 501}),
    ("ok", "True", {"ok": True}),
    ("object", "{}", {"object": {}}),
    ("missing", "", {"a": 1}),
    ("a", "x", "a"),
]
INVALID = [
    ({"path": "a..b"}, "path"),
    ({"path": "x" * 501}, "path"),
    ({"value": "x"}, "path"),
    ({"status": "on"}, "status"),
    ({"severity": "bad"}, "severity"),
]


class World:
    def __init__(self, conn):
        self._conn = conn
        self.id = add_endpoint(conn, "a")
        self.token = add_token(conn, self.id, "ci")
        self.row = {"id": self.id, "options": "{}"}

    def send(self, value):
        return add_signal(self._conn, self.id, json.dumps(value), endpoint="a", token="ci")

    def find(self, limit=50, before=None, **filter):
        page = list_page(self._conn, self.row, SignalFilter(**filter), limit=limit, before=before)
        return ids(page.rows), page.next_before, page.searched_to_end


@pytest.fixture
def world(conn):
    return World(conn)


@each("row", VALUES)
def test_value_at_the_path_is_found(world, row):
    path, value, payload = row
    assert world.find(path=path, value=value)[0] == []
    id = world.send(payload)
    assert id in world.find(path=path, value=value)[0]
    with world._conn.cursor() as cursor:
        cursor.execute("DELETE FROM signals")


@each("row", OTHERS)
def test_other_value_is_not_found(world, row):
    path, value, payload = row
    world.send(payload)
    assert world.find(path=path, value=value)[0] == []


def test_filters_are_combined(world):
    world.send({"status": "firing", "app": "web", "n": "one"})
    hit = world.send({"status": "firing", "app": "shop", "n": "two", "severity": "fatal"})
    world.send({"status": "resolved", "app": "shop", "n": "two"})
    world.send({"status": "firing", "app": "shop", "n": "one"})
    query = {"path": "app", "value": "shop", "text": "TWO", "status": "firing"}
    assert world.find(**query) == ([hit], None, True)
    assert world.find(**query, severity="critical", token_id=world.token)[0] == [hit]
    assert world.find(**query, severity="error")[0] == []
    assert world.find(**query, token_id=world.token + 1)[0] == []


def test_status_is_that_of_the_endpoint(world):
    hit = world.send({"status": "resolved", "mine": "down"})
    world.row["options"] = '{"statusPath": "mine"}'
    assert world.find(status="firing")[0] == [hit]
    assert world.find(status="resolved")[0] == []


def test_times_are_a_half_open_interval(world):
    now = datetime.now(UTC)
    signal_ids = [world.send(n) for n in range(3)]
    with world._conn.cursor() as cursor:
        for age, id in enumerate(reversed(signal_ids)):
            at = now - timedelta(days=age)
            cursor.execute("UPDATE signals SET created_at = %s WHERE id = %s", (at, id))
    newest, middle, oldest = reversed(signal_ids)
    day = timedelta(days=1)
    assert world.find(from_time=now - day)[0] == [newest, middle]
    assert world.find(to_time=now - day)[0] == [oldest]
    assert world.find(from_time=now - day, to_time=now)[0] == [middle]


def test_pages_of_a_search_by_value_are_complete(world, monkeypatch):
    monkeypatch.setattr(signals, "SEARCH_WINDOW", signals.SearchWindow(5, 10_000))
    monkeypatch.setattr(signal_search, "CHUNK", 2)
    signal_ids = [world.send({"odd": bool(n % 2)}) for n in range(13)]
    all_ids, before, at_end = [], None, False
    for _ in range(20):
        page_ids, before, at_end = world.find(2, before, path="odd", value="true")
        all_ids += page_ids
        if before is None:
            break
    assert at_end
    assert all_ids == signal_ids[1::2][::-1]


@each("row", INVALID)
def test_invalid_filter_is_named(row):
    parameters, name = row
    with pytest.raises(BadDataError) as error:
        SignalFilter(**parameters).check()
    assert error.value.details[0]["path"] == name
