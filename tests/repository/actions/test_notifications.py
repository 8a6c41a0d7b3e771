"""Notifications of runs in the outbox."""

from __future__ import annotations

import json

import pytest

from sigservice.repository.actions import action_runs, notifications
from tests.repository.kit import add_built_ins, add_endpoint, run

CHANNELS = [
    {"type": "webhook", "url": "https://a.example/", "on": ["success", "failed"]},
    {"type": "webhook", "url": "https://b.example/", "on": ["failed", "suppressed"]},
]


def add_set(conn):
    add_built_ins(conn)
    ((id,),) = run(
        conn,
        "INSERT INTO action_sets (project, name, actor_id, source_id, settings, "
        "created_by_user_id) VALUES ('default', 'kill', 1, %s, %s, 1) RETURNING id",
        add_endpoint(conn),
        json.dumps({"notifications": CHANNELS}),
    )
    return id


def add_run(conn, set_id, state="failed", signal_id=1):
    row = {"action_set_id": set_id, "project": "default", "cause": "signal", "actor_id": 1}
    row |= {"signal_id": signal_id, "state": state, "dry_run": False}
    row["action_set"] = {"name": "kill", "actions": []}
    (inserted,) = action_runs.insert_many(conn, json.dumps([row]))
    return inserted["id"]


@pytest.fixture
def set_id(conn):
    return add_set(conn)


def test_one_for_each_channel_that_wants_to_know(conn, set_id):
    states = ("success", "failed", "suppressed", "started")
    ids = [add_run(conn, set_id, state, n) for n, state in enumerate(states)]
    assert notifications.insert_of_runs(conn, ids) == 4
    results = run(conn, "SELECT subject_id, target ->> 'url' FROM outbox ORDER BY id")
    a, b = (channel["url"] for channel in CHANNELS)
    assert sorted(results) == [(ids[0], a), (ids[1], a), (ids[1], b), (ids[2], b)]


def test_lists_are_of_one_set_newest_first(conn, set_id):
    for n in range(3):
        notifications.insert_of_runs(conn, [add_run(conn, set_id, signal_id=n)])
    rows = notifications.list_newest(conn, set_id, limit=5)
    assert [row["id"] for row in rows] == sorted((row["id"] for row in rows), reverse=True)
    assert len(rows) == 5
    assert notifications.list_newest(conn, set_id + 1, limit=5) == []
    assert notifications.find(conn, set_id + 1, rows[0]["id"]) is None


def test_the_run_of_a_notification_may_be_deleted(conn, set_id):
    id = add_run(conn, set_id)
    row = notifications.find_run(conn, id)
    assert (row["state"], json.loads(row["action_set"])["name"]) == ("failed", "kill")
    run(conn, "DELETE FROM action_runs")
    assert notifications.find_run(conn, id) is None
