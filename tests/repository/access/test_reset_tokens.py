"""Reset tokens and former passwords."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from sigservice.repository.access import reset_tokens, users
from tests.repository.kit import EDITOR_ROLE, add_user, run

NOW = datetime(2026, 1, 2, tzinfo=UTC)
END = NOW + timedelta(days=1)
FIRST, SECOND = b"1" * 32, b"2" * 32


def insert(conn, user_id, token_hash=FIRST, now=NOW):
    values = {"created_by": "ada", "now": now, "expires_at": END}
    reset_tokens.insert(conn, token_hash=token_hash, user_id=user_id, **values)


def test_a_token_is_found_until_it_expires(conn):
    id = add_user(conn, "bo", email="bo@x", name="Bo", role_id=EDITOR_ROLE)
    insert(conn, id)
    row = reset_tokens.find(conn, FIRST, END - timedelta(seconds=1))
    assert row.pop("role_description")
    assert row == {
        "user_id": id,
        "created_by": "ada",
        "used_at": None,
        "username": "bo",
        "email": "bo@x",
        "name": "Bo",
        "role_id": EDITOR_ROLE,
        "role": "Editor",
    }
    assert reset_tokens.find(conn, FIRST, END) is None
    assert reset_tokens.find(conn, SECOND, NOW) is None
    assert not reset_tokens.use(conn, FIRST, END)
    assert reset_tokens.delete_expired(conn, END - timedelta(seconds=1)) == 0
    assert reset_tokens.delete_expired(conn, END) == 1


def test_unused_ones_of_a_user_are_deleted(conn):
    bo, cy = add_user(conn, "bo"), add_user(conn, "cy")
    insert(conn, bo)
    insert(conn, bo, SECOND, NOW + timedelta(seconds=1))
    insert(conn, bo, b"3" * 32)
    insert(conn, cy, b"4" * 32)
    reset_tokens.use(conn, b"3" * 32, NOW)
    assert reset_tokens.delete_unused(conn, bo) == 2
    assert run(conn, "SELECT user_id, used_at FROM reset_tokens ORDER BY 1") == [
        (bo, NOW),
        (cy, None),
    ]
    run(conn, "DELETE FROM users")
    assert run(conn, "SELECT count(*) FROM reset_tokens") == [(0,)]


def test_the_last_passwords_are_kept(conn):
    id, other = add_user(conn, "bo"), add_user(conn, "cy", password_hash="x")
    users.add_current_password(conn, id)
    assert users.list_password_hashes(conn, id) == []
    for n in range(4):
        users.update_password(conn, id, password_hash=str(n))
        users.add_current_password(conn, id)
    users.add_current_password(conn, other)
    assert users.delete_surplus_passwords(conn, id, keep=2) == 2
    assert sorted(users.list_password_hashes(conn, id)) == ["2", "3", "3"]
    assert users.list_password_hashes(conn, other) == ["x", "x"]
