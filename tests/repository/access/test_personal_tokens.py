"""Personal tokens: each belongs to one user and is found by its hash until it expires."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from sigservice.db.errors import UniqueViolation
from sigservice.repository.access import personal_tokens, users
from tests.repository.kit import add_user, attempt, is_locked_out

NOW = datetime.now(UTC)


def add(conn, user_id, description="ci", **more):
    values = {"secret_prefix": "user:", "expires_at": NOW + timedelta(1), "limit": 10}
    row = personal_tokens.insert(
        conn,
        user_id=user_id,
        description=description,
        secret_hash=f"{user_id} {description}".encode(),
        **values | more,
    )
    return row and row["id"]


def test_the_limit_and_the_description_are_the_owners(conn):
    ada, bob = add_user(conn), add_user(conn, "bob")
    add(conn, ada, limit=1)
    assert add(conn, ada, "b", limit=1) is None
    assert add(conn, bob, "ci", limit=1)
    with pytest.raises(UniqueViolation), attempt(conn):
        add(conn, ada, "ci")


def test_last_use_only_moves_forward(conn):
    ada = add_user(conn)
    first, second = add(conn, ada), add(conn, ada, "b")
    assert personal_tokens.mark_used(conn, {first: NOW, 2**31 - 1: NOW}) == 1
    assert personal_tokens.mark_used(conn, {first: NOW - timedelta(1), second: NOW}) == 1
    assert [row["seen_at"] for row in personal_tokens.list_of_users(conn, [ada])] == [NOW, NOW]


def test_locking_an_owner_locks_no_other_user(pool):
    with pool.autocommit() as conn:
        ada, bob = add_user(conn), add_user(conn, "bob")
    with pool.transaction() as first:
        assert users.lock_user(first, ada)["id"] == ada
        assert users.lock_user(first, 0) is None
        assert is_locked_out(pool, lambda conn: users.lock_user(conn, ada))
        assert not is_locked_out(pool, lambda conn: users.lock_user(conn, bob))
