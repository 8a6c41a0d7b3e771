"""API tokens: found by their hash until they expire."""

from __future__ import annotations

import pytest

from sigservice.db.errors import UniqueViolation
from sigservice.errors import ConflictError
from sigservice.repository import api_tokens
from tests.repository.kit import attempt, is_locked_out, run


def add(conn, secret_hash=b"hash", **more):
    values = {
        "secret_prefix": "*:*",
        "token_name": "admin",
        "type": "admin",
        "environment": "*",
        "projects": ["*"],
    }
    return api_tokens.insert(conn, secret_hash=secret_hash, **values | more)


def test_an_empty_table_has_no_token(conn):
    assert api_tokens.count(conn) == 0
    assert api_tokens.find(conn, b"hash") is None


@pytest.mark.parametrize("projects", [["*"], ["a", "b"], ['q"uote', "com,ma", "{}"], []])
def test_a_token_is_found_by_its_hash_with_its_scope(conn, projects):
    id = add(conn, type="client", environment="production", projects=projects, token_name="sdk")
    assert api_tokens.find(conn, b"hash") == {
        "id": id,
        "token_name": "sdk",
        "type": "client",
        "environment": "production",
        "projects": projects,
        "expires_at": None,
    }
    assert api_tokens.count(conn) == 1


@pytest.mark.parametrize("other", [b"", b"Hash", b"hash ", b"hash\x00", b"\xff"])
def test_another_hash_finds_nothing(conn, other):
    add(conn)
    assert api_tokens.find(conn, other) is None


@pytest.mark.parametrize(("expires", "found"), [("-1 second", False), ("1 minute", True)])
def test_an_expired_token_is_not_found_but_counted(conn, expires, found):
    add(conn)
    run(conn, "UPDATE api_tokens SET expires_at = now() + %s::interval", expires)
    assert (api_tokens.find(conn, b"hash") is not None) is found
    assert api_tokens.count(conn) == 1


def test_a_secret_is_stored_once(conn):
    add(conn)
    with pytest.raises(UniqueViolation) as caught, attempt(conn):
        add(conn, token_name="other")
    assert caught.value.constraint == "api_tokens_secret_hash_key"
    add(conn, b"other")
    assert api_tokens.count(conn) == 2


def test_there_are_three_types(conn):
    for type in ("admin", "client", "frontend"):
        add(conn, type.encode(), type=type)
    with pytest.raises(ConflictError), attempt(conn):
        add(conn, type="backend")


def test_a_locked_table_can_be_read_but_not_written_or_locked_again(pool):
    with pool.transaction() as first:
        api_tokens.lock(first)
        with pool.autocommit() as second:
            assert api_tokens.find(second, b"hash") is None
        assert is_locked_out(pool, api_tokens.lock)
        assert is_locked_out(pool, add)
    assert not is_locked_out(pool, add)
