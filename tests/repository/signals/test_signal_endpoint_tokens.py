"""Tokens of signal endpoints: each belongs to one endpoint."""

from __future__ import annotations

import threading

import pytest

from sigservice.db.errors import UniqueViolation
from sigservice.errors import ConflictError
from sigservice.repository.signals import signal_endpoint_tokens, signal_endpoints
from tests.repository.kit import (
    add_endpoint,
    add_token,
    attempt,
    ids,
    run,
    secret_values,
    token_values,
)
from tests.waiting import DEADLINE_SECONDS

COLUMNS = {
    "id", "signal_endpoint_id", "name", "type", "secret_prefix", "signature", "expires_at",
    "allowed_addresses", "previous_expires_at", "created_at", "created_by_user_id", "used_at",
    "used_from", "uses",
}  # fmt: skip
ENDPOINT_AND_NAME = "signal_endpoint_tokens_signal_endpoint_id_name_key"


def insert(conn, endpoint_id, name="ci", secret_hash=None, limit=100):
    digest = secret_hash or f"{endpoint_id}/{name}".encode()
    id = signal_endpoint_tokens.insert(
        conn,
        endpoint_id,
        token_values(name),
        secret_values(digest) | {"secret_prefix": "signal_abcd"},
        type="bearer",
        created_by_user_id=-42,
        limit=limit,
    )
    return None if id is None else signal_endpoint_tokens.find(conn, endpoint_id, id)


def rename(conn, endpoint_id, id, name):
    return signal_endpoint_tokens.update(conn, endpoint_id, id, token_values(name))


@pytest.fixture
def two(conn):
    """The IDs of the endpoints `a` and `b`."""
    return add_endpoint(conn, "a"), add_endpoint(conn, "b")


def test_new_endpoint_has_no_tokens(conn, two):
    assert signal_endpoint_tokens.list_all(conn) == []
    assert signal_endpoint_tokens.list_for_endpoint(conn, two[0]) == []
    assert signal_endpoint_tokens.list_for_endpoint(conn, 999) == []
    assert signal_endpoint_tokens.find(conn, two[0], 1) is None
    assert rename(conn, two[0], 1, "x") is False
    assert signal_endpoint_tokens.delete(conn, two[0], 1) is False


def test_new_token_is_returned_without_its_hash(conn, two):
    row = insert(conn, two[0])
    assert set(row) == COLUMNS
    assert (row["signal_endpoint_id"], row["name"]) == (two[0], "ci")
    assert (row["secret_prefix"], row["created_by_user_id"]) == ("signal_abcd", -42)
    assert signal_endpoint_tokens.find(conn, two[0], row["id"]) == row
    assert signal_endpoint_tokens.list_for_endpoint(conn, two[0]) == [row]
    assert signal_endpoint_tokens.list_all(conn) == [row]


def test_lists_are_in_order_of_ids(conn, two):
    token_ids = [add_token(conn, two[n % 2], name) for n, name in enumerate("zaybx")]
    assert ids(signal_endpoint_tokens.list_all(conn)) == token_ids
    assert ids(signal_endpoint_tokens.list_for_endpoint(conn, two[0])) == token_ids[::2]
    assert ids(signal_endpoint_tokens.list_for_endpoint(conn, two[1])) == token_ids[1::2]


def test_token_of_another_endpoint_is_not_found_renamed_or_deleted(conn, two):
    a, b = two
    id = add_token(conn, a)
    assert signal_endpoint_tokens.find(conn, b, id) is None
    assert rename(conn, b, id, "mine") is False
    assert signal_endpoint_tokens.delete(conn, b, id) is False
    assert signal_endpoint_tokens.find(conn, a, id)["name"] == "ci"


def test_name_is_unique_in_its_endpoint_and_case_sensitive(conn, two):
    a, b = two
    insert(conn, a, "ci")
    other = insert(conn, a, "CI")
    insert(conn, b, "ci")
    with pytest.raises(UniqueViolation) as caught, attempt(conn):
        insert(conn, a, "ci", b"another secret")
    assert caught.value.constraint == ENDPOINT_AND_NAME
    with pytest.raises(UniqueViolation) as caught, attempt(conn):
        rename(conn, a, other["id"], "ci")
    assert caught.value.constraint == ENDPOINT_AND_NAME


def test_secret_belongs_to_one_token(conn, two):
    insert(conn, two[0], secret_hash=b"same")
    with pytest.raises(UniqueViolation) as caught, attempt(conn):
        insert(conn, two[1], secret_hash=b"same")
    assert caught.value.constraint == "signal_endpoint_tokens_secret_hash_key"


@pytest.mark.parametrize("name", ["", "x" * 101])
def test_table_rejects_invalid_names(conn, two, name):
    with pytest.raises(ConflictError), attempt(conn):
        insert(conn, two[0], name)
    id = add_token(conn, two[0])
    with pytest.raises(ConflictError), attempt(conn):
        rename(conn, two[0], id, name)


def test_token_without_an_endpoint_is_rejected(conn):
    with pytest.raises(ConflictError), attempt(conn):
        insert(conn, 999)


def test_statement_checks_the_limit_of_each_endpoint(conn, two):
    a, b = two
    assert insert(conn, a, "0", limit=0) is None
    assert insert(conn, a, "1", limit=2)
    assert insert(conn, a, "2", limit=2)
    assert insert(conn, a, "3", limit=2) is None
    assert insert(conn, b, "3", limit=2)
    assert len(signal_endpoint_tokens.list_for_endpoint(conn, a)) == 2


def test_deleted_token_does_not_count_for_the_limit(conn, two):
    first = insert(conn, two[0], "1", limit=1)
    assert insert(conn, two[0], "2", limit=1) is None
    assert signal_endpoint_tokens.delete(conn, two[0], first["id"]) is True
    assert signal_endpoint_tokens.delete(conn, two[0], first["id"]) is False
    assert insert(conn, two[0], "2", limit=1)


def test_rename_changes_only_the_name(conn, two):
    row = insert(conn, two[0], secret_hash=b"hash")
    other = insert(conn, two[0], "other")
    assert rename(conn, two[0], row["id"], "é" * 100)
    renamed = row | {"name": "é" * 100}
    assert signal_endpoint_tokens.find(conn, two[0], row["id"]) == renamed
    assert signal_endpoint_tokens.find(conn, two[0], other["id"]) == other


def test_concurrent_creations_do_not_exceed_the_limit(pool):
    rows, together = [], threading.Barrier(5)
    with pool.autocommit() as conn:
        id = add_endpoint(conn)

    def create(n):
        together.wait(DEADLINE_SECONDS)
        with pool.transaction() as conn:
            signal_endpoints.lock(conn, id)
            rows.append(insert(conn, id, f"t{n}", limit=3))

    threads = [threading.Thread(target=create, args=(n,)) for n in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(row is None for row in rows) == [False] * 3 + [True] * 2
    with pool.autocommit() as conn:
        assert run(conn, "SELECT count(*) FROM signal_endpoint_tokens") == [(3,)]


def test_encrypted_secrets_are_listed_in_the_order_of_their_ids(conn, two):
    """Including a token of which only the previous secret is encrypted."""
    tokens = [insert(conn, two[0], name)["id"] for name in ("a", "b", "c", "plain")]
    for column, id in (("encrypted", tokens[2]), ("previous_encrypted", tokens[1])):
        run(
            conn,
            f"UPDATE signal_endpoint_tokens SET {column}_secret = 'x' WHERE id = %s",
            id,
        )
    run(
        conn,
        "UPDATE signal_endpoint_tokens SET encrypted_secret = 'x' WHERE id = %s",
        tokens[0],
    )
    assert ids(signal_endpoint_tokens.list_encrypted(conn)) == tokens[:3]
