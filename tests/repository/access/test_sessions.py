"""Sessions: whose they are until they end, and which ones a deletion takes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from sigservice.repository.access import sessions
from tests.repository.kit import EDITOR_ROLE, add_user, run

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


def open_session(conn, user_id, id_hash=b"a", ends=NOW + HOUR):
    sessions.insert(conn, id_hash=id_hash, user_id=user_id, now=NOW, expires_at=ends)


def read_hashes(conn):
    return [bytes(row[0]) for row in run(conn, "SELECT id_hash FROM sessions ORDER BY id_hash")]


def test_a_session_finds_its_user(conn):
    add_user(conn, "bob")
    id = add_user(conn, "ada", email="a@b", name="Ada", role_id=EDITOR_ROLE, password_hash="h")
    open_session(conn, id)
    assert sessions.find_user(conn, b"a", NOW) == {
        "id": id,
        "username": "ada",
        "email": "a@b",
        "name": "Ada",
        "role_id": EDITOR_ROLE,
        "role": "Editor",
        "has_built_in_password": False,
        "default_password_works": False,
        "last_used_at": NOW,
        "issuer": None,
        "has_password": True,
        "confirmed_at": NOW,
    }


def test_a_session_ends_at_its_time_and_not_before(conn):
    open_session(conn, add_user(conn))
    assert sessions.find_user(conn, b"a", NOW + HOUR - timedelta(microseconds=1))
    assert sessions.find_user(conn, b"a", NOW + HOUR) is None
    assert sessions.find_user(conn, b"a", NOW + 2 * HOUR) is None


def test_the_callers_clock_decides_and_not_the_databases(conn):
    open_session(conn, add_user(conn), ends=datetime(1999, 1, 1, tzinfo=UTC))
    assert sessions.find_user(conn, b"a", datetime(1998, 1, 1, tzinfo=UTC))
    assert sessions.delete_expired(conn, datetime(1998, 1, 1, tzinfo=UTC)) == 0


def test_deleting_a_session_tells_whether_there_was_one(conn):
    id = add_user(conn)
    open_session(conn, id, b"a")
    open_session(conn, id, b"b")
    assert sessions.delete(conn, b"a") is True
    assert sessions.delete(conn, b"a") is False
    assert read_hashes(conn) == [b"b"]


def test_uses_are_written_and_never_set_back(conn):
    id = add_user(conn)
    for id_hash in (b"a", b"b"):
        open_session(conn, id, id_hash)
    assert sessions.mark_used(conn, {b"a": NOW + HOUR / 2, b"gone": NOW + HOUR}) == 1
    assert sessions.mark_used(conn, {b"a": NOW, b"b": NOW + HOUR / 3}) == 1
    assert sessions.find_user(conn, b"a", NOW)["last_used_at"] == NOW + HOUR / 2
    assert sessions.find_user(conn, b"b", NOW)["last_used_at"] == NOW + HOUR / 3


def list_hashes(conn, user_id, now=NOW, idle_before=None, limit=9):
    more = {"idle_before": idle_before, "limit": limit}
    rows = sessions.list_of_user(conn, user_id, current_hash=b"a2", now=now, **more)
    return [(row["ip"], row["is_current"]) for row in rows]


def test_a_users_sessions_are_listed_the_current_one_first(conn):
    ada, bob = add_user(conn, "ada"), add_user(conn, "bob")
    for n, id_hash in enumerate((b"a1", b"a2", b"a3")):
        more = {"ip": str(n), "user_agent": "x" * 200}
        times = {"now": NOW, "expires_at": NOW + HOUR * (n + 1)}
        sessions.insert(conn, id_hash=id_hash, user_id=ada, **times, **more)
    open_session(conn, bob, b"b1")
    sessions.mark_used(conn, {b"a3": NOW + HOUR / 2})
    assert list_hashes(conn, ada) == [("1", True), ("2", False), ("0", False)]
    assert list_hashes(conn, ada, limit=2) == [("1", True), ("2", False)]
    assert list_hashes(conn, ada, now=NOW + HOUR) == [("1", True), ("2", False)]
    assert list_hashes(conn, ada, idle_before=NOW) == [("1", True), ("2", False)]


def test_a_session_of_the_version_before_counts_as_used_when_it_was_opened(conn):
    id = add_user(conn)
    run(
        conn,
        "INSERT INTO sessions (id_hash, user_id, created_at, expires_at) VALUES (%s, %s, %s, %s)",
        b"a",
        id,
        NOW,
        NOW + HOUR,
    )
    assert sessions.find_user(conn, b"a", NOW)["last_used_at"] == NOW
    assert sessions.delete_expired(conn, NOW, NOW - HOUR) == 0
    assert sessions.delete_expired(conn, NOW, NOW) == 1


def test_expired_sessions_are_deleted_and_counted(conn):
    id = add_user(conn)
    open_session(conn, id, b"past", NOW - HOUR)
    open_session(conn, id, b"now", NOW)
    open_session(conn, id, b"to come", NOW + timedelta(microseconds=1))
    assert sessions.delete_expired(conn, NOW) == 2
    assert sessions.delete_expired(conn, NOW) == 0
    assert read_hashes(conn) == [b"to come"]
