"""The outbox: claims, results, retries, and what the version before stored."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

from sigservice.repository import outbox
from tests.repository.kit import run

NOW = datetime(2026, 1, 2, tzinfo=UTC)
LATER = NOW + timedelta(minutes=3)
A, B = ({"type": "webhook", "url": f"https://{name}.example/"} for name in "ab")


def insert(conn, *targets, kind="run", subject_id=7):
    item = {"kind": kind, "subject_id": subject_id, "payload": {"state": "down"}}
    outbox.insert_many(conn, [item | {"target": target} for target in targets])


def claim(conn, now=NOW, busy=(), kinds=("run",), until=None):
    until = until or now + (LATER - NOW)
    return outbox.claim(conn, kinds, now=now, until=until, busy=busy)


def settle(conn, row, result, due_at=LATER, **more):
    values = {"attempts": row["attempts"], "error": None, "now": NOW} | more
    return outbox.settle(conn, row["id"], result=result, due_at=due_at, **values)


def find(conn):
    (row,) = outbox.list_newest(conn, "run", 7, limit=2)
    return row


def test_a_message_is_claimed_for_a_while(conn):
    insert(conn, A, B)
    long_ago = datetime(1999, 1, 1, tzinfo=UTC)  # a new one is due for the slowest clock
    first = claim(conn, long_ago, until=LATER)
    assert (json.loads(first["target"]), first["attempts"]) == (A, 1)
    assert (first["kind"], first["subject_id"], first["user_id"]) == ("run", 7, None)
    second = claim(conn)
    assert json.loads(second["target"]) == B
    assert claim(conn, LATER - timedelta(milliseconds=1)) is None
    repeated = claim(conn, LATER)
    assert (repeated["id"], repeated["attempts"]) == (first["id"], 2)
    assert repeated["message_id"] == first["message_id"] != second["message_id"]


def test_messages_of_busy_targets_and_of_other_kinds_are_left_out(conn):
    insert(conn, A, A, B)
    insert(conn, B, kind="new")
    first = claim(conn)
    other = claim(conn, busy=[first["target"]])
    assert json.loads(other["target"]) == B
    assert claim(conn, busy=[first["target"], other["target"]]) is None
    assert claim(conn, kinds=["new", "newer"])["kind"] == "new"


def test_messages_about_a_subject_reach_a_target_in_their_order(conn):
    insert(conn, A, A, B)
    insert(conn, A, subject_id=8)
    first = claim(conn)
    assert settle(conn, first, "waiting", error="The server responded with status 500.")
    assert json.loads(claim(conn)["target"]) == B
    assert claim(conn)["subject_id"] == 8
    assert claim(conn) is None
    repeated = claim(conn, LATER, until=LATER + timedelta(minutes=3))
    assert repeated["id"] == first["id"]
    assert settle(conn, repeated, "given up")
    assert claim(conn)["id"] == first["id"] + 1


def test_the_last_attempt_settles(conn):
    insert(conn, A)
    first, repeated = claim(conn), claim(conn, LATER)
    assert not settle(conn, first, "sent")
    assert settle(conn, repeated, "waiting", NOW, error="The server responded with status 500.")
    row = find(conn)
    assert (row["due_at"], row["sent_at"]) == (NOW, None)
    assert row["last_error"] == "The server responded with status 500."
    once_more = claim(conn, NOW)
    assert settle(conn, once_more, "sent")
    assert not settle(conn, once_more, "given up")
    row = find(conn)
    assert (row["sent_at"], row["given_up_at"], row["last_error"]) == (NOW, None, None)
    assert not outbox.retry(conn, first["id"])


def test_a_retry_makes_a_message_due_that_is_not_sent(conn):
    insert(conn, A)
    row = claim(conn)
    assert outbox.retry(conn, row["id"])  # one that waits keeps its count
    row = claim(conn)
    assert row["attempts"] == 2
    settle(conn, row, "given up")
    assert claim(conn, LATER) is None
    assert outbox.retry(conn, row["id"])
    assert claim(conn)["attempts"] == 1
    assert not outbox.retry(conn, 999)


def test_two_senders_never_claim_the_same(pool):
    with pool.transaction() as conn:
        insert(conn, A, B)
    with pool.transaction() as one, pool.transaction() as other:
        first, second = claim(one), claim(other)
        assert first["id"] != second["id"]
        assert claim(one) is None


def test_settled_messages_are_deleted_by_age(conn):
    insert(conn, A, B, A)
    old, young, waiting = (row["id"] for row in outbox.list_newest(conn, "run", 7, limit=9))
    past = "UPDATE outbox SET given_up_at = now() - %s::interval WHERE id = %s"
    run(conn, past, "31 days", old)
    run(conn, past, "29 days", young)
    run(conn, "UPDATE outbox SET created_at = now() - interval '99 days' WHERE id = %s", waiting)
    assert [outbox.delete_old(conn, days=30, chunk=9) for _ in range(2)] == [1, 0]
    assert [row["id"] for row in outbox.list_newest(conn, "run", 7, limit=9)] == [young, waiting]
