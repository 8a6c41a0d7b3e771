"""The outbox of mails: leases, limits and results."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

from sigservice.repository import outbox
from sigservice.repository.system import mails
from tests.repository.kit import add_user, is_locked_out, run

NOW = datetime(2026, 1, 2, tzinfo=UTC)
MIN_INTERVAL = timedelta(minutes=1)
LATER = NOW + timedelta(minutes=5)


def insert(conn, user_id, now=NOW, kind="reset"):
    url = "https://a.example"
    values = {"kind": kind, "user_id": user_id, "base_url": url, "now": now}
    values |= {"before": now - MIN_INTERVAL, "expires_at": now + timedelta(hours=24)}
    return mails.insert(conn, **values, max_per_hour=3)


def lease(conn, now=NOW, until=LATER):
    return outbox.lease_mail(conn, now=now, until=until)


def test_a_mail_is_a_message_to_its_user(conn):
    id = add_user(conn, "bo", email="bo@x", name="Bo")
    assert insert(conn, id)
    row = lease(conn)
    assert (row["kind"], row["user_id"]) == ("reset", id)
    assert json.loads(row["payload"]) == {"base_url": "https://a.example"}
    assert row["expires_at"] == NOW + timedelta(hours=24)


def test_a_user_gets_one_mail_within_the_interval(conn):
    bo, cy = add_user(conn, "bo"), add_user(conn, "cy")
    assert [insert(conn, bo), insert(conn, bo), insert(conn, None)] == [True, False, False]
    assert insert(conn, cy)
    rows = run(conn, "SELECT user_id, given_up_at FROM outbox ORDER BY id")
    assert rows == [(bo, None), (None, NOW), (None, NOW), (cy, None)]
    then = NOW + MIN_INTERVAL
    assert not insert(conn, bo, then + MIN_INTERVAL)  # the first mail is still waiting
    assert mails.delete_waiting(conn, bo, before=NOW - MIN_INTERVAL) == 0
    assert mails.delete_waiting(conn, bo, before=NOW) == 1
    assert insert(conn, bo, then + MIN_INTERVAL)
    assert mails.delete_waiting(conn, None) == 0
    assert mails.delete_waiting(conn, bo) == 1
    assert lease(conn)["user_id"] == cy


def test_a_second_insert_waits_for_the_first(pool):
    with pool.transaction() as conn:
        id = add_user(conn, "bo")
    with pool.transaction() as conn:
        assert insert(conn, id)
        assert is_locked_out(pool, lambda other: insert(other, id))


def test_the_last_mail_has_the_result_of_its_attempts(conn):
    bo = add_user(conn, "bo")
    insert(conn, bo)
    result = {"result": "sent", "error": None, "due_at": LATER, "now": NOW}
    outbox.settle_mail(conn, lease(conn), **result)
    assert mails.find_last(conn, bo) == {
        "kind": "reset",
        "attempts": 1,
        "sent_at": NOW,
        "given_up_at": None,
        "last_error": None,
        "created_at": NOW,
    }
    assert mails.find_last(conn, 0) is None


def test_mails_are_deleted_with_their_user(conn):
    bo = add_user(conn, "bo")
    insert(conn, bo)
    insert(conn, None)
    run(conn, "DELETE FROM users WHERE id = %s", bo)
    assert run(conn, "SELECT user_id FROM outbox") == [(None,)]
