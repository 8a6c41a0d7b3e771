"""The evaluation queue: written with the signal, read oldest first and within limits."""

from __future__ import annotations

import json

from sigservice.repository.actions import alerts
from sigservice.repository.signals import signal_queue
from sigservice.repository.signals.signals import insert_all
from tests.repository.kit import (
    add_built_ins,
    add_endpoint,
    add_set,
    add_signal,
    add_token,
    make_signal,
    run,
    secret_of,
)


def waiting(conn, **more):
    options = {"limit": 10, "max_bytes": 1_000_000} | more
    return [row["signal_id"] for row in signal_queue.list_oldest(conn, **options)]


def listening(conn):
    """An endpoint that triggers a set."""
    add_built_ins(conn)
    endpoint = add_endpoint(conn)
    add_token(conn, endpoint)
    add_set(conn, endpoint_id=endpoint)
    return endpoint


def test_signal_is_queued_only_if_it_triggers_a_set(conn):
    endpoint = listening(conn)
    deaf = add_endpoint(conn, "deaf")
    add_token(conn, deaf)
    first = add_signal(conn, endpoint, '{"a": 1}', endpoint="deploys")
    add_signal(conn, deaf, endpoint="deaf")
    (row,) = signal_queue.list_oldest(conn, limit=10, max_bytes=10)
    assert (row["signal_id"], row["endpoint_id"]) == (first, endpoint)
    assert json.loads(row["payload"]) == {"a": 1}
    assert row["now"] >= row["created_at"]
    run(conn, "UPDATE action_sets SET enabled = false")
    add_signal(conn, endpoint, endpoint="deploys")
    assert waiting(conn) == [first]


def test_signals_of_a_group_are_queued_in_their_commit(conn):
    endpoint, deaf = listening(conn), add_endpoint(conn, "deaf")
    add_token(conn, deaf)
    names = [("deaf", deaf), ("deploys", endpoint), ("deploys", endpoint)]
    group = [make_signal(conn, name, secret_of(id)) for name, id in names]
    rows = insert_all(conn, group)
    assert [row["queued"] for row in rows] == [False, True, True]
    queue = run(conn, "SELECT signal_id, endpoint_id, xmin::text FROM signal_queue ORDER BY 1")
    commits = run(conn, "SELECT id, endpoint_id, xmin::text FROM signals ORDER BY 1")
    assert queue == commits[1:]


def test_oldest_signals_come_first_within_the_limits(conn):
    endpoint = listening(conn)
    text = json.dumps("x" * 98)
    signal_ids = [add_signal(conn, endpoint, text, endpoint="deploys") for _ in range(5)]
    assert waiting(conn) == signal_ids
    assert waiting(conn, limit=2) == signal_ids[:2]
    assert waiting(conn, max_bytes=1) == signal_ids[:1]  # at least one
    assert waiting(conn, max_bytes=100) == signal_ids[:1]
    assert waiting(conn, max_bytes=101) == signal_ids[:2]
    assert alerts.end_signals(conn, dict.fromkeys(signal_ids[:2])) == 2
    assert waiting(conn) == signal_ids[2:]
    run(conn, "DELETE FROM signals WHERE id = %s", signal_ids[2])
    assert signal_queue.list_oldest(conn, limit=1, max_bytes=1)[0]["payload"] is None
    assert waiting(conn) == signal_ids[2:]


def test_results_are_written_once_and_deleted_with_the_signal(conn):
    endpoint = listening(conn)
    signal = add_signal(conn, endpoint, endpoint="deploys")
    run(conn, "INSERT INTO signal_queue (signal_id, endpoint_id) VALUES (999, 1)")
    assert alerts.end_signals(conn, {signal: [{"state": "runs"}], 999: []}) == 2
    assert alerts.end_signals(conn, {signal: []}) == 0
    results = [row["results"] for row in signal_queue.list_results(conn, [signal])]
    assert [json.loads(text) for text in results if text] == [[{"state": "runs"}]]
    assert signal_queue.delete_orphaned_results(conn, 10) == 1
    assert signal_queue.list_results(conn, [999]) == []
