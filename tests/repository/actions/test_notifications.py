"""The outbox: who gets which row, and when."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from sigservice.repository.actions import action_runs, notifications
from tests.repository.kit import add_built_ins, add_endpoint, run

NOW = datetime(2026, 1, 2, tzinfo=UTC)
LATER = NOW + timedelta(minutes=3)
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
    (id,) = action_runs.insert_many(conn, json.dumps([row]))
    return id


@pytest.fixture
def set_id(conn):
    return add_set(conn)


def claim(conn, now=NOW, busy=(), until=None):
    return notifications.claim(conn, now=now, until=until or now + (LATER - NOW), busy=list(busy))


def settle(conn, row, result, due_at=LATER, **more):
    values = {"attempts": row["attempts"], "error": None, "now": NOW} | more
    return notifications.settle(conn, row["id"], result=result, due_at=due_at, **values)


def url(row):
    return json.loads(row["channel"])["url"]


def test_one_for_each_channel_that_wants_to_know(conn, set_id):
    states = ("success", "failed", "suppressed", "started")
    ids = [add_run(conn, set_id, state, n) for n, state in enumerate(states)]
    assert notifications.insert_of_runs(conn, ids) == 4
    results = run(conn, "SELECT run_id, channel ->> 'url' FROM notifications ORDER BY id")
    a, b = (channel["url"] for channel in CHANNELS)
    assert sorted(results) == [(ids[0], a), (ids[1], a), (ids[1], b), (ids[2], b)]


def test_claimed_for_a_while_with_its_run(conn, set_id):
    id = add_run(conn, set_id)
    notifications.insert_of_runs(conn, [id])
    long_ago = datetime(1999, 1, 1, tzinfo=UTC)  # a new one is due for the slowest clock
    first = claim(conn, long_ago, until=LATER)
    assert (first["run_id"], first["attempts"], first["state"]) == (id, 1, "failed")
    assert json.loads(first["action_set"])["name"] == "kill"
    second = claim(conn)
    assert url(first) != url(second)
    assert claim(conn, LATER - timedelta(milliseconds=1)) is None
    repeated = claim(conn, LATER)
    assert (repeated["id"], repeated["attempts"]) == (first["id"], 2)
    assert claim(conn, LATER, [repeated["channel"], second["channel"]]) is None


def test_busy_channels_are_passed_over(conn, set_id):
    notifications.insert_of_runs(conn, [add_run(conn, set_id, signal_id=n) for n in range(2)])
    first = claim(conn)
    other = claim(conn, busy=[first["channel"]])
    assert url(other) != url(first)
    assert claim(conn, busy=[first["channel"], other["channel"]]) is None


def test_the_run_may_be_gone(conn, set_id):
    notifications.insert_of_runs(conn, [add_run(conn, set_id)])
    run(conn, "DELETE FROM action_runs")
    assert claim(conn)["run_id"] is None


def test_settled_once_by_the_last_who_tried(conn, set_id):
    id = add_run(conn, set_id)
    notifications.insert_of_runs(conn, [id])
    first = claim(conn)
    claim(conn)
    repeated = claim(conn, LATER)
    assert repeated["id"] == first["id"]
    assert not settle(conn, first, "sent")
    assert settle(conn, repeated, "waiting", NOW, error="The server responded with status 500.")
    results = notifications.find(conn, set_id, first["id"])
    assert (results["due_at"], results["sent_at"], results["last_error"]) == (
        NOW,
        None,
        "The server responded with status 500.",
    )
    once_more = claim(conn, NOW)
    assert settle(conn, once_more, "sent")
    assert not settle(conn, once_more, "given up")
    results = notifications.find(conn, set_id, first["id"])
    assert (results["sent_at"], results["given_up_at"]) == (NOW, None)
    assert results["last_error"] is None
    assert not notifications.retry(conn, first["id"])


def test_retry(conn, set_id):
    notifications.insert_of_runs(conn, [add_run(conn, set_id, "success")])
    row = claim(conn)
    assert notifications.retry(conn, row["id"])  # one that waits keeps its count
    row = claim(conn)
    assert row["attempts"] == 2
    settle(conn, row, "given up")
    assert claim(conn, LATER) is None
    assert notifications.retry(conn, row["id"])
    assert claim(conn)["attempts"] == 1
    assert not notifications.retry(conn, 999)


def test_lists_are_of_one_set_newest_first(conn, set_id):
    for n in range(3):
        notifications.insert_of_runs(conn, [add_run(conn, set_id, signal_id=n)])
    rows = notifications.list_newest(conn, set_id, limit=5)
    assert [row["id"] for row in rows] == sorted((row["id"] for row in rows), reverse=True)
    assert len(rows) == 5
    assert notifications.list_newest(conn, set_id + 1, limit=5) == []
    assert notifications.find(conn, set_id + 1, rows[0]["id"]) is None


def test_two_senders_never_get_the_same(pool):
    with pool.transaction() as conn:
        notifications.insert_of_runs(conn, [add_run(conn, add_set(conn))])
    with pool.transaction() as one, pool.transaction() as other:
        first, second = claim(one), claim(other)
        assert first["id"] != second["id"]
        assert claim(one) is None


def test_old_ones(conn, set_id):
    old, young = (add_run(conn, set_id, signal_id=n) for n in range(2))
    notifications.insert_of_runs(conn, [old, young])
    past = "UPDATE notifications SET given_up_at = now() - %s::interval WHERE run_id = %s"
    run(conn, past, "31 days", old)
    run(conn, past, "29 days", young)
    assert notifications.delete_old(conn, days=30, chunk=1) == 1
    assert notifications.delete_old(conn, days=30, chunk=9) == 1
    assert notifications.delete_old(conn, days=30, chunk=9) == 0
    remaining = notifications.list_newest(conn, set_id, limit=9)
    assert {row["run_id"] for row in remaining} == {young}
