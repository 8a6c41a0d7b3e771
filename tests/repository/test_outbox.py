"""Mails in the outbox: leases and results. Retention of all messages."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from sigservice.repository import outbox
from tests.repository.kit import add_user, run

NOW = datetime(2026, 1, 2, tzinfo=UTC)
LATER = NOW + timedelta(minutes=3)


def insert(conn, *names):
    statement = (
        "INSERT INTO outbox (kind, user_id, target, expires_at) VALUES ('reset', %s, '{}', %s)"
    )
    for name in names:
        run(conn, statement, add_user(conn, name), LATER)


def lease(conn, now=NOW, until=None):
    return outbox.lease_mail(conn, now=now, until=until or now + (LATER - NOW))


def settle(conn, row, result, due_at=LATER, error=None):
    return outbox.settle_mail(conn, row, result=result, error=error, due_at=due_at, now=NOW)


def find(conn):
    ((due_at, sent_at, given_up_at, error),) = run(
        conn, "SELECT due_at, sent_at, given_up_at, last_error FROM outbox"
    )
    return due_at, sent_at, given_up_at, error


def test_a_mail_is_leased_for_a_while(conn):
    insert(conn, "bo", "cy")
    long_ago = datetime(1999, 1, 1, tzinfo=UTC)  # a new one is due for the slowest clock
    first = lease(conn, long_ago, until=LATER)
    second = lease(conn)
    assert (first["kind"], first["attempts"]) == ("reset", 1)
    assert lease(conn, LATER - timedelta(milliseconds=1)) is None
    repeated = lease(conn, LATER)
    assert (repeated["id"], repeated["attempts"]) == (first["id"], 2)
    assert repeated["message_id"] == first["message_id"] != second["message_id"]


def test_deliveries_to_integrations_are_left_out(conn):
    run(conn, "INSERT INTO outbox (kind, subject_id, target) VALUES ('integration', 7, '{}')")
    assert lease(conn) is None


def test_the_last_attempt_settles(conn):
    insert(conn, "bo")
    first, repeated = lease(conn), lease(conn, LATER)
    assert not settle(conn, first, "sent")
    assert settle(conn, repeated, "waiting", NOW, error="The server replied 450.")
    assert find(conn) == (NOW, None, None, "The server replied 450.")
    once_more = lease(conn, NOW)
    assert settle(conn, once_more, "sent")
    assert not settle(conn, once_more, "given up")
    assert find(conn)[1:] == (NOW, None, None)


def test_two_senders_never_lease_the_same(pool):
    with pool.transaction() as conn:
        insert(conn, "bo", "cy")
    with pool.transaction() as one, pool.transaction() as other:
        first, second = lease(one), lease(other)
        assert first["id"] != second["id"]
        assert lease(one) is None


def test_settled_messages_are_deleted_by_age(conn):
    insert(conn, "bo", "cy", "di")
    old, young, waiting = (id for (id,) in run(conn, "SELECT id FROM outbox ORDER BY id"))
    past = "UPDATE outbox SET given_up_at = now() - %s::interval WHERE id = %s"
    run(conn, past, "31 days", old)
    run(conn, past, "29 days", young)
    run(conn, "UPDATE outbox SET created_at = now() - interval '99 days' WHERE id = %s", waiting)
    assert [outbox.delete_old(conn, days=30, chunk=9) for _ in range(2)] == [1, 0]
    assert [id for (id,) in run(conn, "SELECT id FROM outbox ORDER BY id")] == [young, waiting]
