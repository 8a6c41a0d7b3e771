"""Users and roles: what is found under which name, who counts, and what is unique."""

from __future__ import annotations

import pytest

from sigservice.repository.access import users
from tests.repository.kit import (
    ADMIN_ROLE,
    EDITOR_ROLE,
    VIEWER_ROLE,
    add_service_account,
    add_user,
    ids,
    is_locked_out,
)

FULL = {
    "id", "account_type", "username", "email", "name", "role_id", "role", "password_hash",
    "has_built_in_password", "sign_in_count", "seen_at", "created_at",
}  # fmt: skip


@pytest.mark.parametrize("login", ["ada@example.org", "ADA@EXAMPLE.ORG"])
def test_an_address_is_found_in_any_case(conn, login):
    id = add_user(conn, None, email="Ada@Example.org")
    assert users.find_by_login(conn, login)["id"] == id


def test_what_looks_like_an_address_never_finds_a_username(conn):
    add_user(conn, "eve@example.org")
    assert users.find_by_login(conn, "eve@example.org") is None
    victim = add_user(conn, "ada", email="eve@example.org")
    assert users.find_by_login(conn, "eve@example.org")["id"] == victim


def test_an_update_replaces_the_profile_and_nothing_else(conn):
    id = add_user(conn, "ada", password_hash="h", has_default_password=True)
    other = add_user(conn, "bob")
    users.update(conn, id, username=None, email="a@b", name="A", role_id=VIEWER_ROLE)
    row = users.find(conn, id)
    assert (row["username"], row["email"], row["name"], row["role"]) == (
        None, "a@b", "A", "Viewer",
    )  # fmt: skip
    assert (row["password_hash"], row["has_built_in_password"]) == ("h", True)
    assert users.find(conn, other)["username"] == "bob"
    users.update(conn, 2**31 - 1, username="x", email=None, name=None, role_id=1)
    assert users.count(conn) == 2


def test_each_sign_in_is_counted_and_dated(conn):
    id = add_user(conn)
    other = add_user(conn, "bob")
    users.record_sign_in(conn, id)
    users.record_sign_in(conn, id)
    row = users.find(conn, id)
    assert row["sign_in_count"] == 2
    assert row["seen_at"] is not None
    assert users.find(conn, other)["seen_at"] is None


def test_a_locked_table_can_be_read_but_not_written_or_locked_again(pool):
    with pool.transaction() as first:
        users.lock(first)
        with pool.autocommit() as second:
            assert users.count(second) == 0
        assert is_locked_out(pool, users.lock)
        assert is_locked_out(pool, add_user)
    assert not is_locked_out(pool, users.lock)


def test_a_search_takes_text_literally_in_names_and_addresses(conn):
    ada = add_user(conn, "ada", email="x@example.org", name="Countess 100%")
    bob = add_user(conn, None, email="bob@example.org")
    add_service_account(conn, "ada-robot")
    for text, expected in (
        ("ADA", [ada]), ("example", [ada, bob]), ("countess", [ada]), ("%", [ada]), ("_", []),
        ("dax", []),
    ):  # fmt: skip
        assert ids(users.search(conn, text, limit=10)) == expected
    assert ids(users.search(conn, "example", limit=1)) == [ada]
    (row,) = users.search(conn, "ada", limit=1)
    assert set(row) == {"id", "username", "email", "name", "role_id"}


def test_admins_are_counted_by_authentication(conn):
    add_user(conn, "ada", password_hash="h")
    add_user(conn, "bob")
    add_user(conn, "ed", role_id=EDITOR_ROLE, password_hash="h")
    add_service_account(conn)
    assert users.count_admins(conn) == {"password": 1, "no_password": 1, "service": 1}


def test_a_hash_is_replaced_while_it_is_the_same(conn):
    id = add_user(conn, password_hash="old", has_default_password=True)
    assert users.replace_hash(conn, id, old_hash="other", new_hash="new") is False
    assert users.replace_hash(conn, id, old_hash="old", new_hash="new") is True
    row = users.find(conn, id)
    assert (row["password_hash"], row["has_built_in_password"]) == ("new", True)


def test_the_oldest_admin_is_not_a_service_account(conn):
    assert users.find_oldest_admin(conn) is None
    add_service_account(conn, "robot")
    add_user(conn, "vera", role_id=VIEWER_ROLE)
    assert users.find_oldest_admin(conn) is None
    first = add_user(conn, "ada", role_id=ADMIN_ROLE)
    add_user(conn, "bob", role_id=ADMIN_ROLE)
    row = users.find_oldest_admin(conn)
    assert (row["id"], set(row)) == (first, FULL)
