"""API tokens: found by their hash until they expire."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from sigservice.repository.access import api_tokens
from tests.repository.kit import ids, is_locked_out


def add(conn, secret_hash=b"hash", **more):
    values = {
        "secret_prefix": "*:*",
        "token_name": "admin",
        "type": "admin",
        "environment": "*",
        "projects": ["*"],
        "created_by": "ada",
        "created_by_user_id": 1,
    }
    return api_tokens.insert(conn, secret_hash=secret_hash, **values | more)["id"]


def find(conn, secret_hash):
    return api_tokens.find(conn, secret_hash, datetime.now(UTC))


def test_a_locked_table_can_be_read_but_not_written_or_locked_again(pool):
    with pool.transaction() as first:
        api_tokens.lock(first)
        with pool.autocommit() as second:
            assert find(second, b"hash") is None
        assert is_locked_out(pool, api_tokens.lock)
        assert is_locked_out(pool, add)
    assert not is_locked_out(pool, add)


def test_tokens_are_listed_by_name_and_by_project(conn):
    token_ids = [
        add(conn, name.encode(), token_name=name, projects=projects)
        for name, projects in (("a", ["*"]), ("b", ["web"]), ("c", ["ops", "web"]))
    ]
    token_ids.append(add(conn, b"d", token_name="a"))
    assert ids(api_tokens.list_all(conn)) == token_ids
    assert ids(api_tokens.list_all(conn, token_name="a")) == [token_ids[0], token_ids[3]]
    assert ids(api_tokens.list_of_project(conn, "web")) == token_ids[1:3]
    assert api_tokens.list_all(conn, token_name="A") == []
    assert "secret_hash" not in api_tokens.list_all(conn)[0]


def test_a_token_is_looked_up_by_secret_before_id(conn):
    first, second = add(conn, b"1"), add(conn, b"2")
    assert api_tokens.find_to_change(conn, secret_hash=b"1", id=second)["id"] == first
    assert api_tokens.find_to_change(conn, secret_hash=b"x", id=second)["id"] == second
    assert api_tokens.find_to_change(conn, secret_hash=b"x", id=None) is None
    assert api_tokens.find_to_change(conn, secret_hash=b"x", id=2**62) is None


def test_removing_a_project_deletes_tokens_without_another_project(conn):
    for name, projects in (
        ("all", ["*"]),
        ("one", ["a"]),
        ("twice", ["a", "a"]),
        ("two", ["a", "b"]),
    ):
        add(conn, name.encode(), token_name=name, projects=projects)
    api_tokens.remove_project(conn, "a")
    projects = {row["token_name"]: row["projects"] for row in api_tokens.list_all(conn)}
    assert projects == {"all": ["*"], "two": ["b"]}


def test_last_use_only_moves_forward(conn):
    first, second = add(conn, b"1"), add(conn, b"2")
    now = datetime.now(UTC)
    assert api_tokens.mark_used(conn, {first: now, 2**31 - 1: now}) == 1
    assert api_tokens.mark_used(conn, {second: now, first: now - timedelta(1)}) == 1
    assert [row["seen_at"] for row in api_tokens.list_all(conn)] == [now, now]
    assert api_tokens.mark_used(conn, {}) == 0
