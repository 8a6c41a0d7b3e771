"""The outbox of mails: claims, limits and results."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from sigservice.repository.system import mails
from tests.repository.kit import add_user, is_locked_out, run

NOW = datetime(2026, 1, 2, tzinfo=UTC)
MIN_INTERVAL = timedelta(minutes=1)
LATER = NOW + timedelta(minutes=5)


def insert(conn, user_id, now=NOW, kind="reset"):
    url = "https://a.example"
    values = {"kind": kind, "user_id": user_id, "base_url": url, "now": now}
    return mails.insert(conn, **values, before=now - MIN_INTERVAL, max_per_hour=3)


def claim(conn, now=NOW, until=LATER):
    return mails.claim(conn, now=now, until=until)


def settle(conn, row, result="sent", attempts=1, error=None, due_at=LATER):
    values = {"attempts": attempts, "result": result, "error": error}
    return mails.settle(conn, row["id"], **values, due_at=due_at, now=NOW)


def test_a_mail_is_claimed_with_its_user(conn):
    id = add_user(conn, "bo", email="bo@x", name="Bo")
    assert insert(conn, id)
    row = claim(conn)
    row.pop("id")
    assert row == {
        "kind": "reset",
        "user_id": id,
        "base_url": "https://a.example",
        "attempts": 1,
        "last_error": None,
        "created_at": NOW,
        "email": "bo@x",
        "name": "Bo",
    }
    assert claim(conn) is None
    assert claim(conn, now=LATER)["attempts"] == 2


def test_a_user_gets_one_mail_within_the_interval(conn):
    bo, cy = add_user(conn, "bo"), add_user(conn, "cy")
    assert [insert(conn, bo), insert(conn, bo), insert(conn, None)] == [True, False, False]
    assert insert(conn, cy)
    rows = run(conn, "SELECT user_id, given_up_at FROM mails ORDER BY id")
    assert rows == [(bo, None), (None, NOW), (None, NOW), (cy, None)]
    then = NOW + MIN_INTERVAL
    assert not insert(conn, bo, then + MIN_INTERVAL)  # the first mail is still waiting
    assert mails.delete_waiting(conn, bo, before=NOW - MIN_INTERVAL) == 0
    assert mails.delete_waiting(conn, bo, before=NOW) == 1
    assert insert(conn, bo, then + MIN_INTERVAL)
    assert mails.delete_waiting(conn, None) == 0
    assert mails.delete_waiting(conn, bo) == 1
    assert claim(conn)["user_id"] == cy


def test_a_second_insert_waits_for_the_first(pool):
    with pool.transaction() as conn:
        id = add_user(conn, "bo")
    with pool.transaction() as conn:
        assert insert(conn, id)
        assert is_locked_out(pool, lambda other: insert(other, id))


def test_results_of_attempts_are_stored(conn):
    for name in ("bo", "cy"):
        insert(conn, add_user(conn, name))
    bo, cy = claim(conn), claim(conn)
    assert settle(conn, bo, "waiting", error="away")
    assert claim(conn, now=LATER - timedelta(seconds=1)) is None
    assert settle(conn, cy, "given up", error="refused")
    assert not settle(conn, cy)
    bo = claim(conn, now=LATER)
    assert not settle(conn, bo, attempts=1)  # an earlier attempt
    assert settle(conn, bo, attempts=2)
    assert mails.find_last(conn, bo["user_id"]) == {
        "kind": "reset",
        "attempts": 2,
        "sent_at": NOW,
        "given_up_at": None,
        "last_error": None,
        "created_at": NOW,
    }
    assert mails.find_last(conn, cy["user_id"])["last_error"] == "refused"
    assert mails.find_last(conn, 0) is None


def test_old_mails_and_those_of_a_deleted_user_are_deleted(conn):
    bo, now = add_user(conn, "bo"), datetime.now(UTC)
    insert(conn, bo, now - timedelta(days=31), kind="welcome")
    insert(conn, None, now - timedelta(days=29))
    assert mails.delete_old(conn, days=30, chunk=10) == 1
    insert(conn, bo, now)
    run(conn, "DELETE FROM users WHERE id = %s", bo)
    assert run(conn, "SELECT user_id FROM mails") == [(None,)]
