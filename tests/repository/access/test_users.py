"""Users and roles: what is found under which name, who counts, and what is unique."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from sigservice.db.errors import UniqueViolation
from sigservice.errors import ConflictError
from sigservice.repository.access import sessions, users
from tests.repository.kit import (
    ADMIN_ROLE,
    EDITOR_ROLE,
    VIEWER_ROLE,
    add_service_account,
    add_user,
    attempt,
    ids,
    is_locked_out,
    run,
)

FULL = {
    "id", "account_type", "username", "email", "name", "role_id", "role", "password_hash",
    "has_built_in_password", "sign_in_count", "seen_at", "created_at",
}  # fmt: skip


def test_an_empty_table_has_no_users(conn):
    assert users.count(conn) == 0
    assert users.list_all(conn) == []
    assert users.find(conn, 1) is None
    assert users.find_by_login(conn, "ada") is None
    assert users.exists_default_password(conn) is False


def test_a_new_user_is_found_with_all_columns(conn):
    id = add_user(
        conn, "ada", email="ada@example.org", name="Ada L.", role_id=EDITOR_ROLE, password_hash="h"
    )
    row = users.find(conn, id)
    assert set(row) == FULL
    assert row | {"created_at": None} == {
        "id": id,
        "account_type": "user",
        "username": "ada",
        "email": "ada@example.org",
        "name": "Ada L.",
        "role_id": EDITOR_ROLE,
        "role": "Editor",
        "password_hash": "h",
        "has_built_in_password": False,
        "sign_in_count": 0,
        "seen_at": None,
        "created_at": None,
    }
    assert row["created_at"].utcoffset() == timedelta(0)


@pytest.mark.parametrize("id", [0, -42, 2**31, 2**62])
def test_an_unknown_id_finds_no_user(conn, id):
    add_user(conn)
    assert users.find(conn, id) is None
    assert users.delete(conn, id) is False


def test_the_list_is_in_order_of_ids_and_without_hashes(conn):
    user_ids = [add_user(conn, name, password_hash="h") for name in ("zoe", "ada", "mia")]
    rows = users.list_all(conn)
    assert ids(rows) == user_ids
    assert set(rows[0]) == FULL - {"password_hash"}


@pytest.mark.parametrize("login", ["ada", "ADA", "Ada"])
def test_a_username_is_found_in_any_case(conn, login):
    id = add_user(conn, "Ada")
    assert users.find_by_login(conn, login)["id"] == id


@pytest.mark.parametrize("login", ["ada@example.org", "ADA@EXAMPLE.ORG"])
def test_an_address_is_found_in_any_case(conn, login):
    id = add_user(conn, None, email="Ada@Example.org")
    assert users.find_by_login(conn, login)["id"] == id


def test_what_looks_like_an_address_never_finds_a_username(conn):
    add_user(conn, "eve@example.org")
    assert users.find_by_login(conn, "eve@example.org") is None
    victim = add_user(conn, "ada", email="eve@example.org")
    assert users.find_by_login(conn, "eve@example.org")["id"] == victim


@pytest.mark.parametrize("login", ["", "a", "adaa", "%", "_da", "ada ", "'", "@", "ada\\"])
def test_a_login_is_taken_literally(conn, login):
    add_user(conn, "ada", email="ada@example.org")
    assert users.find_by_login(conn, login) is None


def test_service_accounts_are_not_users(conn):
    robot = add_service_account(conn)
    assert users.count(conn) == 0
    assert users.list_all(conn) == []
    assert users.find_by_login(conn, "robot") is None
    assert users.count_other_admins(conn, 0) == 0
    assert users.find(conn, robot)["account_type"] == "service"


@pytest.mark.parametrize(
    ("values", "constraint"),
    [
        ({"username": "ADA"}, "users_username_key"),
        ({"username": "bob", "email": "ADA@example.org"}, "users_email_key"),
    ],
)
def test_names_and_addresses_are_unique_in_any_case(conn, values, constraint):
    add_user(conn, "ada", email="ada@example.org")
    bob = add_user(conn, "bobby")
    with pytest.raises(UniqueViolation) as caught, attempt(conn):
        add_user(conn, **values)
    assert caught.value.constraint == constraint
    with pytest.raises(UniqueViolation) as caught, attempt(conn):
        users.update(conn, bob, **{"email": None, "name": None, "role_id": 1} | values)
    assert caught.value.constraint == constraint
    assert users.find(conn, bob)["username"] == "bobby"


def test_several_users_may_lack_a_name_or_an_address(conn):
    add_user(conn, None, email="a@example.org")
    add_user(conn, None, email="b@example.org")
    add_user(conn, "c")
    add_user(conn, "d")
    assert users.count(conn) == 4


@pytest.mark.parametrize(
    "values",
    [
        {"username": None},
        {"username": ""},
        {"username": "x" * 201},
        {"email": "x@"},
        {"email": "x" * 320 + "@"},
        {"name": "x" * 201},
        {"role_id": 4},
    ],
    ids=str,
)
def test_what_the_table_refuses_is_a_conflict(conn, values):
    with pytest.raises(ConflictError), attempt(conn):
        add_user(conn, **values)
    assert users.count(conn) == 0


def test_the_longest_values_fit_counted_in_characters(conn):
    id = add_user(conn, "ü" * 200, email="é" * 318 + "@x", name="\U0001f600" * 200)
    row = users.find(conn, id)
    assert (len(row["username"]), len(row["email"]), len(row["name"])) == (200, 320, 200)


def test_other_admins_are_counted_without_the_given_one(conn):
    ada = add_user(conn, "ada")
    add_user(conn, "ed", role_id=EDITOR_ROLE)
    assert users.count_other_admins(conn, ada) == 0
    assert users.count_other_admins(conn, 0) == 1
    add_user(conn, "eva")
    assert users.count_other_admins(conn, ada) == 1


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


def test_the_default_password_is_flagged_until_it_is_changed(conn):
    id = add_user(conn, password_hash="old", has_default_password=True)
    add_user(conn, "bob")
    assert users.exists_default_password(conn) is True
    users.update_password(conn, id, password_hash="new")
    assert users.exists_default_password(conn) is False
    assert users.find(conn, id)["password_hash"] == "new"


def test_each_sign_in_is_counted_and_dated(conn):
    id = add_user(conn)
    other = add_user(conn, "bob")
    users.record_sign_in(conn, id)
    users.record_sign_in(conn, id)
    row = users.find(conn, id)
    assert row["sign_in_count"] == 2
    assert row["seen_at"] is not None
    assert users.find(conn, other)["seen_at"] is None


def test_a_deleted_user_is_gone_with_the_sessions(conn):
    id = add_user(conn)
    now = datetime.now(UTC)
    sessions.insert(conn, id_hash=b"s", user_id=id, now=now, expires_at=now + timedelta(1))
    assert users.delete(conn, id) is True
    assert users.delete(conn, id) is False
    assert run(conn, "SELECT count(*) FROM sessions") == [(0,)]


def test_there_are_three_roles(conn):
    rows = users.list_roles(conn)
    assert [(row["id"], row["name"]) for row in rows] == [
        (ADMIN_ROLE, "Admin"),
        (EDITOR_ROLE, "Editor"),
        (VIEWER_ROLE, "Viewer"),
    ]
    assert all(row["description"] for row in rows)


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
