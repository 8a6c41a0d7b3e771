"""Signals: stored for valid tokens, listed and found in their endpoint, deleted."""

from __future__ import annotations

import pytest

from sigservice.repository.signals import signal_endpoint_tokens, signal_endpoints, signals
from tests.repository.kit import (
    add_endpoint,
    add_signal,
    add_token,
    ids,
    insert_signal,
    make_signal,
    run,
    secret_of,
)

COLUMNS = {
    "id", "endpoint_id", "token_id", "token_name", "payload", "payload_bytes", "bytes",
    "created_at", "sent_by", "replay_of",
}  # fmt: skip


class World:
    """Endpoint `a` with tokens ci and other, endpoint `b` with ci; `send` returns the ID."""

    def __init__(self, conn):
        self._conn = conn
        self.a, self.b = add_endpoint(conn, "a", description="d"), add_endpoint(conn, "b")
        self.ci, self.other = add_token(conn, self.a, "ci"), add_token(conn, self.a, "other")
        self.ci_of_b = add_token(conn, self.b, "ci")

    def send(self, payload="{}", endpoint="a", token="ci"):
        endpoint_id = {"a": self.a, "b": self.b}[endpoint]
        return add_signal(self._conn, endpoint_id, payload, endpoint=endpoint, token=token)


@pytest.fixture
def world(conn):
    return World(conn)


def update_b(conn, world, *, enabled):
    values = {"description": None, "options": "{}", "template": None}
    signal_endpoints.update(conn, world.b, name="b", enabled=enabled, **values)


def of_endpoint(conn, id, **options):
    return signals.list_for_endpoint(conn, id, **{"before": None, "limit": 50} | options)


def of_token(conn, id, token_id, **options):
    return signals.list_for_endpoint(conn, id, token_id, **{"before": None, "limit": 50} | options)


def across(conn, **options):
    none = {"from_time": None, "to_time": None, "before": None, "limit": 50}
    return signals.list_all(conn, **none | options)


def count(conn, **options):
    return signals.count(conn, **{"from_time": None, "to_time": None, "limit": 100} | options)


def test_signals_of_a_group_are_stored_in_order_and_refused_singly(conn, world):
    first = insert_signal(conn, "a", secret_of(world.a))["id"]
    group = [
        make_signal(conn, "a", secret_of(world.a, "other"), "0"),
        make_signal(conn, "a", "wrong", "1"),
        make_signal(conn, "b", secret_of(world.b), "2"),
        make_signal(conn, "b", secret_of(world.a), "3"),
        make_signal(conn, "a", secret_of(world.a), "4"),
    ]
    rows = signals.insert_all(conn, group)
    assert [row and row["id"] - first for row in rows] == [1, None, 2, None, 3]
    assert [row["token_id"] for row in rows if row] == [world.other, world.ci_of_b, world.ci]
    payloads = run(conn, "SELECT id, payload::text FROM signals WHERE id > %s ORDER BY id", first)
    assert payloads == [(first + 1, "0"), (first + 2, "2"), (first + 3, "4")]


def test_only_tokens_of_the_endpoint_store_a_signal(conn, world):
    update_b(conn, world, enabled=False)
    assert insert_signal(conn, "a", "wrong") is None
    assert insert_signal(conn, "a", secret_of(world.b)) is None
    assert insert_signal(conn, "nowhere", secret_of(world.a)) is None
    assert insert_signal(conn, "A", secret_of(world.a)) is None
    assert insert_signal(conn, "b", secret_of(world.b)) is None
    assert run(conn, "SELECT count(*) FROM signals") == [(0,)]
    update_b(conn, world, enabled=True)
    assert insert_signal(conn, "b", secret_of(world.b))


def test_pages_by_key_and_by_offset_are_equal(conn, world):
    signal_ids = [world.send(str(n)) for n in range(5)][::-1]
    world.send(endpoint="b")
    token = (conn, world.a, world.ci)
    for list_ids in (
        lambda **options: ids(of_endpoint(conn, world.a, **options)),
        lambda **options: ids(of_token(*token, **options)),
    ):
        assert list_ids(limit=2) == signal_ids[:2]
        assert (
            list_ids(limit=2, before=signal_ids[1])
            == list_ids(limit=2, offset=2)
            == signal_ids[2:4]
        )
        assert list_ids(limit=2, before=signal_ids[1], offset=2) == signal_ids[4:]
        assert list_ids(before=signal_ids[-1]) == list_ids(offset=5) == list_ids(limit=0) == []


def test_signals_of_a_deleted_token_have_no_token_name(conn, world):
    id = world.send()
    signal_endpoint_tokens.delete(conn, world.a, world.ci)
    assert of_endpoint(conn, world.a)[0]["token_name"] is None
    assert of_token(conn, world.a, world.ci)[0]["token_name"] is None
    assert signals.find(conn, world.a, id)["token_name"] is None
    assert across(conn)[0]["token_name"] is None


def test_signals_of_a_deleted_endpoint_are_hidden(conn, world):
    id, other_id = world.send(), world.send(endpoint="b")
    signal_endpoints.delete(conn, world.a)
    assert ids(across(conn)) == [other_id]
    assert count(conn) == 1
    assert signals.find(conn, world.a, id) is None
    assert [row["id"] for row in signals.list_last(conn)] == [other_id]
    endpoints = {row["endpoint_id"]: row["is_deleted"] for row in signals.list_endpoint_ids(conn)}
    assert endpoints == {world.a: True, world.b: False}


def test_list_of_all_endpoints_has_the_endpoint_of_each_signal(conn, world):
    signal_ids = [world.send(), world.send(endpoint="b"), world.send(token="other")]
    rows = across(conn)
    assert ids(rows) == signal_ids[::-1]
    assert set(rows[0]) == COLUMNS | {"endpoint_name", "endpoint_description"}
    assert [row["endpoint_name"] for row in rows] == ["a", "b", "a"]
    assert [row["endpoint_description"] for row in rows] == ["d", None, "d"]
    assert ids(across(conn, before=signal_ids[2], limit=1)) == [signal_ids[1]]
    assert ids(across(conn, limit=1, offset=2)) == [signal_ids[0]]


def test_end_of_a_time_span_is_exclusive(conn, world):
    signal_ids = [world.send() for _ in range(3)]
    times = ["2026-03-01T00:00Z", "2026-03-02T00:00Z", "2026-03-03T00:00Z"]
    for id, time in zip(signal_ids, times, strict=True):
        run(conn, "UPDATE signals SET created_at = %s WHERE id = %s", time, id)
    for start, end, expected in (
        (None, None, signal_ids),
        (times[1], None, signal_ids[1:]),
        (None, times[1], signal_ids[:1]),
        (times[0], times[2], signal_ids[:2]),
        (times[1], times[1], []),
        (times[2], times[0], []),
    ):
        assert ids(across(conn, from_time=start, to_time=end)) == expected[::-1]
        assert count(conn, from_time=start, to_time=end) == len(expected)


def test_counts_stop_at_their_maximum(conn, world):
    for _ in range(5):
        world.send()
    world.send(endpoint="b")
    assert [count(conn, limit=most) for most in (0, 1, 5, 6, 100)] == [0, 1, 5, 6, 6]
    counted = [signals.count_for_endpoint(conn, world.a, limit=most) for most in (0, 3, 5, 100)]
    assert counted == [0, 3, 5, 5]


def test_last_received_has_each_token(conn, world):
    for n, token in enumerate(("other", "ci", "ci")):
        id = world.send(token=token)
        run(conn, "UPDATE signals SET created_at = %s WHERE id = %s", f"2026-03-0{n + 1}Z", id)
    days = {key: time.day for key, time in signals.find_last_received(conn).items()}
    assert days == {world.ci: 3, world.other: 1}
    signal_endpoint_tokens.delete(conn, world.a, world.ci)
    days = {key: time.day for key, time in signals.find_last_received(conn).items()}
    assert days == {world.other: 1}


def test_hours_are_counted_back_from_the_current_hour(conn, world):
    for endpoint, age in (
        ("a", "0"), ("a", "0"), ("b", "0"),
        ("a", "1 microsecond"), ("a", "1 hour"),
        ("a", "1 hour 1 microsecond"),
        ("a", "23 hours"),
        ("a", "23 hours 1 microsecond"), ("a", "3 days"),
    ):  # fmt: skip
        id = world.send(endpoint=endpoint)
        statement = (
            "UPDATE signals SET created_at = date_trunc('hour', now()) - %s::interval WHERE id = %s"
        )
        run(conn, statement, age, id)
    counts = {
        (row["endpoint_id"], row["hours_ago"]): row["signals"]
        for row in signals.count_by_hour(conn)
    }
    assert counts == {
        (world.a, 0): 2, (world.b, 0): 1, (world.a, 1): 2, (world.a, 2): 1, (world.a, 23): 1,
    }  # fmt: skip


def test_old_signals_are_deleted_in_chunks_up_to_the_first_recent_one(conn, world):
    signal_ids = [world.send() for _ in range(6)]
    run(
        conn,
        "UPDATE signals SET created_at = now() - interval '9 days' WHERE id < %s",
        signal_ids[4],
    )
    assert signals.lock_old(conn, days=10, chunk=100) == []
    assert signals.lock_old(conn, days=8, chunk=3) == signal_ids[:3]
    assert signals.delete_by_ids(conn, signal_ids[:3]) == 3
    assert signals.lock_old(conn, days=8, chunk=3) == [signal_ids[3]]
    assert signals.delete_by_ids(conn, [signal_ids[3]]) == 1
    assert signals.lock_old(conn, days=8, chunk=3) == []
    assert ids(of_endpoint(conn, world.a)) == [signal_ids[5], signal_ids[4]]


def test_surplus_of_one_endpoint_is_deleted_oldest_first(conn, world):
    signal_ids = [world.send() for _ in range(6)]
    of_b = world.send(endpoint="b")
    assert signals.lock_surplus(conn, world.a, keep=6, chunk=100) == []
    assert signals.lock_surplus(conn, world.a, keep=2, chunk=3) == signal_ids[:3]
    assert signals.delete_by_ids(conn, signal_ids[:3]) == 3
    assert ids(of_endpoint(conn, world.a)) == signal_ids[3:][::-1]
    assert signals.lock_surplus(conn, world.a, keep=2, chunk=3) == [signal_ids[3]]
    assert signals.lock_surplus(conn, world.a, keep=0, chunk=100) == signal_ids[3:]
    signals.delete_by_ids(conn, signal_ids[3:])
    assert ids(across(conn)) == [of_b]
    assert signals.lock_surplus(conn, 999, keep=0, chunk=100) == []
